#include "lathe/models/onnx/weight_codecs.h"

#include <algorithm>
#include <cmath>

#include "lathe/graph/elements.h"

namespace lathe::onnx {
namespace {

constexpr float kMaxFloat16 = 65504;

}  // namespace

bool fits_float16(std::span<const float> values) {
  return std::ranges::none_of(
      values, [](float each) { return std::isfinite(each) && std::abs(each) > kMaxFloat16; });
}

std::vector<std::byte> to_float16(std::span<const float> values) {
  std::vector<std::byte> result(2 * values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const auto half = scalar::cast(scalar::Number::of(values[k]), scalar::DType::F16);
    graph::store(result, static_cast<int64_t>(k), half);
  }
  return result;
}

Int8Weights quantize_int8(std::span<const float> values, const graph::Shape& shape, size_t axis) {
  const auto channels = static_cast<size_t>(shape[axis]);
  size_t inner = 1;
  for (size_t k = axis + 1; k < shape.size(); ++k) inner *= static_cast<size_t>(shape[k]);
  const auto channel_of = [&](size_t at) { return at / inner % channels; };
  Int8Weights result{std::vector<std::byte>(values.size()), std::vector<float>(channels)};
  for (size_t k = 0; k < values.size(); ++k) {
    float& magnitude = result.scales[channel_of(k)];
    magnitude = std::max(magnitude, std::abs(values[k]));
  }
  for (float& each : result.scales) each = each > 0 ? each / 127 : 1;
  for (size_t k = 0; k < values.size(); ++k) {
    const float rounded = std::nearbyint(values[k] / result.scales[channel_of(k)]);
    const auto byte = static_cast<int8_t>(std::clamp(rounded, -127.0F, 127.0F));
    result.values[k] = static_cast<std::byte>(byte);
  }
  return result;
}

Int4Weights quantize_int4(std::span<const float> values, int64_t rows, int64_t columns) {
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  Int4Weights result;
  result.scales.reserve(columns * blocks);
  result.values.resize(columns * blocks * kBlock / 2);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t first = 0; first < rows; first += kBlock) {
      const int64_t last = std::min(rows, first + kBlock);
      const auto at = [&](int64_t row) { return values[row * columns + column]; };
      float extreme = 0;
      for (int64_t row = first; row < last; ++row) {
        if (std::abs(at(row)) > std::abs(extreme)) extreme = at(row);
      }
      const float scale = extreme == 0 ? 1 : extreme / -8;
      const size_t block = result.scales.size() * static_cast<size_t>(kBlock / 2);
      result.scales.push_back(scale);
      for (int64_t k = 0; k < kBlock; ++k) {
        const float value = first + k < last ? at(first + k) / scale : 0;
        const auto nibble = static_cast<int>(std::clamp(std::nearbyint(value) + 8, 0.0F, 15.0F));
        std::byte& byte = result.values[block + static_cast<size_t>(k / 2)];
        byte |= static_cast<std::byte>(nibble << (k % 2 * 4));
      }
    }
  }
  return result;
}

}  // namespace lathe::onnx
