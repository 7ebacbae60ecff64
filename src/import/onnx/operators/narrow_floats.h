// Floats of 8 and 4 bits: conversion of tensors of their bits (types.def) to floats and back.
#pragma once

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx {

struct NarrowingOptions {
  bool saturate = true;           // too large numbers become the largest, not infinite or NaN
  std::string_view round = "up";  // to powers of two: "up", "down" or "nearest"
};

// Whether tensors of this type are stored as bits, not as numbers.
bool is_stored_as_bits(Type type);

// The values of the bits, as F32.
Tensor widened(Tensor bits, Type type);
// F32 as the nearest number of the type, ties to even; its bits.
Tensor narrowed(Tensor x, Type type, const NarrowingOptions& how = {});

// A tensor of a type of ONNX as the tensor of another.
Tensor converted(Tensor x, Type from, Type to, const NarrowingOptions& how = {});

}  // namespace lathe::onnx
