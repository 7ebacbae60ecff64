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

}  // namespace lathe::onnx
