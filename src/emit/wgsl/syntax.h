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
std::string expression_of(scalar::Op op, scalar::DType dtype,
                          std::span<const std::string> operands);
// Add, Max or Min over the values of the threads of a subgroup.
std::string reduction_of(scalar::Op op, scalar::DType dtype, std::string_view value);
// The declarations of the functions that the code calls: those of integers that WGSL leaves open,
// and those of floats where compilers may assume that none is NaN, which look at bits.
std::string functions_of(std::string_view code);

// Whether shaders support this type.
bool has_type(scalar::DType dtype);
// The type of a value, and its type in a storage buffer: bool is stored as u32, and so are several
// short integers, which as values are i32 in their range.
std::string_view value_type(scalar::DType dtype);
std::string_view storage_type(scalar::DType dtype);
// Whether an element is a part of a word of a storage buffer, one of u32 or `of_words`.
bool is_part_of_word(scalar::DType dtype, bool of_words);

// A function of a shader.
struct Function {
  std::string name, text;
};
// Of such parts in the binding b`binding`: NAME(i) loads element i; NAME(i, value) stores one, and
// no other bits, as other threads may store those at once, so the words are atomic.
Function part_loader(int32_t binding, bool is_atomic, scalar::DType dtype);
Function part_storer(int32_t binding, scalar::DType dtype);

// A value cast as scalar::cast does.
std::string cast_of(std::string_view value, scalar::DType from, scalar::DType to);

// WGSL has no literal for infinities and NaN, and rejects constant expressions that evaluate to
// one; compilers lose the sign of -0.
bool has_literal(const scalar::Number& number);
std::string literal(const scalar::Number& number);
// The value whose bits this u32 has.
std::string of_bits(std::string_view bits, scalar::DType dtype);

// The name with invalid characters replaced, after a prefix that makes it unique:
// "b3_run_x".
std::string identifier(char kind, int32_t id, std::string_view name);

}  // namespace lathe::emit_wgsl
