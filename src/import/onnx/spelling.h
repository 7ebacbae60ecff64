// Small spellings that the functions of operators share: numbers of a tensor's type, arithmetic in
// the types it is done in.
#pragma once

#include <span>

#include "lathe/import/onnx/call.h"

namespace lathe::onnx {

using graph::Builder;
using graph::Op;

// A number without axes of the type of x.
inline Tensor number_like(Tensor x, double value) {
  if (!x.valid()) return x;
  return x.builder->full({}, scalar::Number::from(x.dtype(), value));
}

inline Tensor map(Op op, Tensor x) { return x.builder->map(op, {{x}}); }
inline Tensor map(Op op, Tensor x, Tensor y) { return x.builder->map(op, {{x, y}}); }

// What operators make of their operands and results: float16 need not be rounded.
inline Tensor cast_to(Tensor x, DType dtype) {
  return x.valid() ? x.builder->convert(x, dtype) : x;
}
inline Tensor cast_like(Tensor x, Tensor like) { return cast_to(x, like.dtype()); }

// x in floats wide enough to compute with: halves and integers in f32.
inline Tensor in_floats(Tensor x) {
  return cast_to(x, x.dtype() == DType::F64 ? DType::F64 : DType::F32);
}

// A constant whose elements are spelled in doubles.
Tensor numbers(Builder& builder, DType dtype, Shape shape, std::span<const double> values);
Tensor places(Builder& builder, Shape shape, std::span<const int64_t> values);  // I32

// Functions of floats of every length. Those of 64 bits are spelled in 64-bit arithmetic, which
// targets have no functions for: right to about 1e-14 of the value, see doubles.cc.
Tensor function(Op op, Tensor x);
Tensor power(Tensor x, Tensor y);
// x by y in 64-bit floats >= 0, as fmod in C.
Tensor remainder64(Tensor x, Tensor y);
inline Tensor exp_of(Tensor x) { return function(Op::Exp, x); }
inline Tensor log_of(Tensor x) { return function(Op::Log, x); }
inline Tensor sigmoid_of(Tensor x) { return function(Op::Sigmoid, x); }
inline Tensor tanh_of(Tensor x) { return function(Op::Tanh, x); }

}  // namespace lathe::onnx
