// Numbers as short integers with a scale and a zero point.
#pragma once

#include "lathe/import/onnx/call.h"

namespace lathe::onnx {

// A scale or zero point beside x: one number, or one for each element along the axis, or, with a
// block size, one for that many of them. Errors: another shape.
Result<Tensor> beside(Call& call, Tensor x, Tensor parameter, int64_t axis, int64_t block_size);

// x - zero point in integers that hold it, as i16 where x has 8 bits. An invalid or constant zero
// point of 0 leaves x as it is.
Tensor centred(Tensor x, Tensor zero_point);

// x / scale to the nearest integer, plus the zero point, as far as the type reaches.
Tensor quantised(Tensor x, Tensor scale, Tensor zero_point, Type type);

// Numbers that integers stand for, in f32.
Tensor dequantised(Tensor x, Tensor scale, Tensor zero_point);

// As DynamicQuantizeLinear: u8 from the least to the greatest element and 0.
struct Dynamic {
  Tensor values, scale, zero_point;
};
Dynamic dynamically(Call& call, Tensor x);

}  // namespace lathe::onnx
