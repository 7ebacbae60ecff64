// Floats of 8 and 4 bits: tensors that hold their bits (types.def), as floats and back.
#pragma once

#include "lathe/import/onnx/call.h"

namespace lathe::onnx {

struct Narrowing {
  bool saturate = true;           // what is too large becomes the largest, not infinite or NaN
  std::string_view round = "up";  // to powers of two: "up", "down" or "nearest"
};

// Whether tensors of this type hold bits, not numbers.
bool holds_bits(Type type);

// The numbers that the bits stand for, as F32.
Tensor widened(Tensor bits, Type type);
// F32 as the nearest number of the type, ties to even; its bits.
Tensor narrowed(Tensor x, Type type, const Narrowing& how = {});

// A tensor of a type of ONNX as the tensor of another.
Tensor converted(Tensor x, Type from, Type to, const Narrowing& how = {});

}  // namespace lathe::onnx
