// How WGSL spells scalar operations (the WGSL column of scalar/ops.def), constants, types and
// names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lathe/scalar/op.h"

namespace lathe::emit::wgsl {

// Whether WGSL has no text for it, so that it must be spelled in others before.
bool lacks(scalar::Op op);
// Integers are divided by a function of the kernel's, divide_i32.
bool is_integer_division(scalar::Op op, scalar::DType dtype);
std::string spell(scalar::Op op, scalar::DType dtype, std::span<const std::string> operands);

// Whether shaders have values of this type; the others are of those alone.
bool has_type(scalar::DType dtype);
// A value's type, and the type that holds it in a storage buffer: bool lies there as u32.
std::string_view value_type(scalar::DType dtype);
std::string_view storage_type(scalar::DType dtype);

// WGSL has no literal for infinities and NaN, and refuses constant expressions that give one;
// compilers lose the sign of -0.
bool has_literal(const scalar::Number& number);
std::string literal(const scalar::Number& number);

// The name with what identifiers must not hold replaced, behind a prefix that makes it unique:
// "b3_run_x".
std::string identifier(char kind, int32_t id, std::string_view name);

}  // namespace lathe::emit::wgsl
