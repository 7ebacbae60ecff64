// Quantization: numbers as integers with a scale and a zero point.
#pragma once

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx {

// A scale or zero point as broadcastable to x: one number, or one for each element along the axis,
// or, with a block size, one for that many of them. Errors: another shape.
Result<Tensor> broadcast_parameter(Call& call, Tensor x, Tensor parameter, int64_t axis,
                                   int64_t block_size);

// x - zero point in a wider integer type, i16 if x has 8 bits. An invalid or constant zero
// point of 0 returns x.
Tensor minus_zero_point(Tensor x, Tensor zero_point);

// x / scale to the nearest integer, plus the zero point, as far as the type reaches.
Tensor quantize(Tensor x, Tensor scale, Tensor zero_point, Type type);

// The real numbers of quantized integers, in f32.
Tensor dequantize(Tensor x, Tensor scale, Tensor zero_point);

// As DynamicQuantizeLinear: u8 of the range of x and 0.
struct DynamicallyQuantized {
  Tensor values, scale, zero_point;
};
DynamicallyQuantized dynamic_quantize(Call& call, Tensor x);

}  // namespace lathe::onnx
