// Weights as numbers of fewer bits. Knows no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::onnx {

// IEEE halves of the numbers. None may be finite and beyond them: fits_halves.
std::vector<std::byte> halves_of(std::span<const float> values);
bool fits_halves(std::span<const float> values);

// Of w[…, C, …], round(w / scale) from -127 to 127, where the scale of each place along the axis is
// the largest magnitude there / 127. Numbers must be finite.
struct Bytes {
  std::vector<std::byte> values;  // int8, as w
  std::vector<float> scales;      // [C]
};
Bytes bytes_of(std::span<const float> values, const graph::Shape& shape, size_t axis);

// Of w[K, N] what com.microsoft.MatMulNBits multiplies by: for each of the N columns blocks of
// `kBlock` numbers along K, the last one padded by zeros, each round(w / scale) + 8 from 0 to 15,
// two a byte, the first in the low bits. The number of the largest magnitude is -8 scales.
constexpr int64_t kBlock = 32;
struct Nibbles {
  std::vector<std::byte> values;  // [N, blocks, kBlock / 2]
  std::vector<float> scales;      // [N, blocks]
};
Nibbles nibbles_of(std::span<const float> values, int64_t rows, int64_t columns);

}  // namespace lathe::onnx
