// Products with 2- to 8-bit quantized weights, and dequantization. Semantics and the order of bits
// are those of ONNX (DequantizeLinear 21, MatMulInteger, DynamicQuantizeLinear) and of ONNX
// Runtime's contrib operators (MatMulNBits, GatherBlockQuantized). Negative axes count from the
// end. A tensor that is absent has no node: Tensor{}.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Weights of 2, 4 or 8 bits in blocks along the reduced axis, which share a scale.
struct NBits {
  int64_t columns = 0;
  int bits = 4;
  int64_t block_size = 32;
};

// x [..., k] · w [columns, k] transposed -> [..., columns], of the type of x, with
// w = (number - zero point) * scale, computed in F32.
// packed: U8 [columns, blocks, block_size * bits / 8], blocks = ceil(k / block_size), the first
// number in the lowest bits. scales: floats [columns, blocks]. zero_points: absent (2^(bits - 1)),
// floats [columns, blocks], or U8 [columns, ceil(blocks * bits / 8)], packed like the numbers. The
// last three may also be flattened into one axis.
Tensor mat_mul_nbits(Tensor x, Tensor packed, Tensor scales, Tensor zero_points,
                     const NBits& format);

// The numbers of 2 or 4 bits in bytes, the first in the lowest bits: [..., bytes] of U8 ->
// [..., bytes * 8 / bits] of I8 or U8.
Tensor unpack_bits(Tensor packed, int bits, bool is_signed);

// (q - zero_point) * scale, of the type of the scale, computed in F32. scale is a scalar, or has
// one element for each index along the axis of q, or, with block_size > 0, the rank of q with
// ceil(size / block_size) elements along the axis. zero_point: absent (0), or as scale.
Tensor dequantize(Tensor q, Tensor scale, Tensor zero_point, int axis, int64_t block_size = 0);

// Gathers `data`, dequantized in blocks along quantize_axis, at these indices along gather_axis,
// another one. bits 2 or 4: numbers and zero points are U8, packed along the last axis, which is
// quantize_axis, and an absent zero point is 2^(bits - 1); bits 8: they are I8 (absent: 0) or U8
// (128).
struct BlockGather {
  int bits = 4;
  int64_t block_size = 128;
  int gather_axis = 0, quantize_axis = -1;
};
Tensor gather_block_quantized(Tensor data, Tensor indices, Tensor scales, Tensor zero_points,
                              const BlockGather& format);

// (a - a_zero) · (b - b_zero) -> I32, of I8 or U8. a_zero: absent, a scalar or one for each row;
// b_zero: absent, a scalar or one for each column.
Tensor mat_mul_integer(Tensor a, Tensor b, Tensor a_zero, Tensor b_zero);

// x as U8: the range of x, widened to include 0, in 255 steps of `scale` from zero_point.
struct DynamicallyQuantized {
  Tensor y, scale, zero_point;
};
DynamicallyQuantized dynamic_quantize(Tensor x);

}  // namespace lathe::ops
