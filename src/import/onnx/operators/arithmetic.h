// Helpers of the operators' functions: constants of a tensor's type, casts, and functions of
// floats.
#pragma once

#include <span>

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx {

using graph::Builder;
using graph::Op;

// A scalar constant of the type of x.
inline Tensor number_like(Tensor x, double value) {
  if (!x.valid()) return x;
  return x.builder->full({}, scalar::Number::from(x.dtype(), value));
}

inline Tensor map(Op op, Tensor x) { return x.builder->map(op, {{x}}); }
inline Tensor map(Op op, Tensor x, Tensor y) { return x.builder->map(op, {{x, y}}); }

// Casts operands or results without rounding float16.
inline Tensor cast_to(Tensor x, DType dtype) {
  return x.valid() ? x.builder->convert(x, dtype) : x;
}
inline Tensor cast_like(Tensor x, Tensor like) { return cast_to(x, like.dtype()); }

// x in the float type to compute in: float16 and integers in f32.
inline Tensor in_floats(Tensor x) {
  return cast_to(x, x.dtype() == DType::F64 ? DType::F64 : DType::F32);
}

// A constant of any numeric type from doubles.
Tensor numbers(Builder& builder, DType dtype, Shape shape, std::span<const double> values);
Tensor int32_constant(Builder& builder, Shape shape, std::span<const int64_t> values);

// Functions of floats of all widths. Those of f64 are expanded into f64 arithmetic, since targets
// have none: the relative error is about 1e-14, see doubles.cc.
Tensor function(Op op, Tensor x);
Tensor power(Tensor x, Tensor y);
// x by y in 64-bit floats >= 0, as fmod in C.
Tensor remainder64(Tensor x, Tensor y);
inline Tensor exp_of(Tensor x) { return function(Op::Exp, x); }
inline Tensor log_of(Tensor x) { return function(Op::Log, x); }
inline Tensor sigmoid_of(Tensor x) { return function(Op::Sigmoid, x); }
inline Tensor tanh_of(Tensor x) { return function(Op::Tanh, x); }

}  // namespace lathe::onnx
