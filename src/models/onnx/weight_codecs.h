// Weights as float16, int8 and int4. Independent of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::onnx {

// The values rounded to IEEE float16. No finite value may overflow: fits_float16.
std::vector<std::byte> to_float16(std::span<const float> values);
bool fits_float16(std::span<const float> values);

// Of w[…, C, …], round(w / scale) from -127 to 127, where the scale of each index along the axis is
// the largest magnitude of its channel / 127. Values must be finite.
struct Int8Weights {
  std::vector<std::byte> values;  // int8, as w
  std::vector<float> scales;      // [C]
};
Int8Weights quantize_int8(std::span<const float> values, const graph::Shape& shape, size_t axis);

// w[K, N] in the layout of com.microsoft.MatMulNBits: for each of the N columns blocks of
// `kBlock` values along K, the last one padded with zeros, each round(w / scale) + 8 from 0 to 15,
// two a byte, the first in the low bits. The value of the largest magnitude is -8 scales.
constexpr int64_t kBlock = 32;
struct Int4Weights {
  std::vector<std::byte> values;  // [N, blocks, kBlock / 2]
  std::vector<float> scales;      // [N, blocks]
};
Int4Weights quantize_int4(std::span<const float> values, int64_t rows, int64_t columns);

}  // namespace lathe::onnx
