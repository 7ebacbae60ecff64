// WGSL syntax of scalar operations (the WGSL column of scalar/ops.def), constants, types and
// names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lathe/scalar/op.h"

namespace lathe::emit_wgsl {

// Whether WGSL has no text for it, so that it must be expanded into other operations before.
bool needs_expansion(scalar::Op op);
// Integers are divided by a function of the shader, divide_i32 or divide_u32.
bool is_integer_division(scalar::Op op, scalar::DType dtype);
std::string expression_of(scalar::Op op, scalar::DType dtype,
                          std::span<const std::string> operands);

// Whether shaders support this type.
bool has_type(scalar::DType dtype);
// The type of a value, and its type in a storage buffer: bool is stored as u32. Values of short
// integers are i32 in their range.
std::string_view value_type(scalar::DType dtype);
std::string_view storage_type(scalar::DType dtype);

// A value cast as scalar::cast does. Floats become integers by functions of the shader, to_i32 and
// to_u32.
std::string cast_of(std::string_view value, scalar::DType from, scalar::DType to);
bool is_saturating(scalar::DType from, scalar::DType to);

// WGSL has no literal for infinities and NaN, and rejects constant expressions that evaluate to
// one; compilers lose the sign of -0.
bool has_literal(const scalar::Number& number);
std::string literal(const scalar::Number& number);

// The name with invalid characters replaced, after a prefix that makes it unique:
// "b3_run_x".
std::string identifier(char kind, int32_t id, std::string_view name);

}  // namespace lathe::emit_wgsl
