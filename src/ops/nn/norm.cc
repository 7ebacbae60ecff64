#include "lathe/ops/nn/norm.h"

#include <array>

#include "lathe/base/text.h"

namespace lathe::ops {

using graph::Op;

namespace {

bool fits(std::string_view what, Tensor x, std::span<const Tensor> vectors) {
  if (!x.valid()) return false;
  if (x.rank() < 1) x.builder->error(concat(what, ": x must have an axis"));
  for (const Tensor& vector : vectors) {
    if (!x.builder->ok()) break;
    if (!vector.valid() || (vector.rank() == 1 && vector.shape()[0] == x.shape().back())) continue;
    x.builder->error(concat(what, ": x ", bracketed(x.shape()), " needs statistics, scale and ",
                            "offset of shape [", x.shape().back(), "], not ",
                            bracketed(vector.shape())));
  }
  return x.builder->ok();
}

}  // namespace

Moments moments(Tensor x, const std::vector<int>& axes, bool keepdims) {
  const Tensor center = mean(x, axes, true);
  const Tensor deviation = x - center;
  return {keepdims ? center : mean(x, axes), mean(deviation * deviation, axes, keepdims)};
}

Tensor batch_norm(Tensor x, Moments statistics, Tensor scale, Tensor offset, float epsilon) {
  const auto& [mean, variance] = statistics;
  if (!fits("batch_norm", x, std::array{mean, variance, scale, offset})) return {x.builder, {}};
  Tensor factor = 1.0f / sqrt(variance + epsilon);
  if (scale.valid()) factor = factor * scale;
  Tensor addend = -(mean * factor);
  if (offset.valid()) addend = offset + addend;
  return x.builder->map(Op::MulAdd, std::array{x, factor, addend}, "batch_norm");
}

Tensor layer_norm(Tensor x, Tensor scale, Tensor offset, float epsilon) {
  if (!fits("layer_norm", x, std::array{scale, offset})) return {x.builder, {}};
  const auto [mean, variance] = moments(x, {-1}, true);
  Tensor y = (x - mean) * (1.0f / sqrt(variance + epsilon));
  if (scale.valid()) y = y * scale;
  return offset.valid() ? y + offset : y;
}

}  // namespace lathe::ops
