#include "lathe/ops/images/detection.h"

#include <array>

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Op;
using graph::Shape;

namespace {

Tensor either(Tensor x, Tensor y) { return x.builder->map(Op::Or, std::array{x, y}); }

// [b, n]: coordinate number k.
Tensor coordinate(Tensor boxes, int64_t k) {
  const int64_t batch = boxes.shape()[0], count = boxes.shape()[1];
  return boxes.builder->reshape(slice(boxes, {0, 0, k}, Shape{batch, count, 1}), {batch, count});
}

// Where the box at `best`, [b, c], overlaps those with corners at `ends`, [b, n], by more than the
// threshold: [b, c, n].
Tensor overlaps(const std::array<Tensor, 4>& ends, Tensor best, Tensor threshold) {
  std::array<Tensor, 4> corners, selected;
  for (size_t k = 0; k < 4; ++k) {
    corners[k] = expand_dims(ends[k], 1);
    selected[k] = expand_dims(best.builder->gather(ends[k], best, 1), 2);
  }
  const auto extent = [](Tensor low, Tensor high) { return maximum(high - low, zero(high - low)); };
  const Tensor height = extent(maximum(corners[0], selected[0]), minimum(corners[2], selected[2]));
  const Tensor width = extent(maximum(corners[1], selected[1]), minimum(corners[3], selected[3]));
  const Tensor common = height * width;
  const auto area = [](const std::array<Tensor, 4>& of) {
    return (of[2] - of[0]) * (of[3] - of[1]);
  };
  const Tensor all = area(corners) + area(selected) - common;
  return both(all > zero(all), common > threshold * all);
}

}  // namespace

SelectedBoxes non_max_suppression(Tensor boxes, Tensor scores, int64_t max_boxes, Tensor overlap,
                                  Tensor least_score) {
  Builder& builder = *boxes.builder;
  if (!scores.valid() || !boxes.valid()) return {boxes, boxes};
  const Shape shape = scores.shape();
  const std::array ends = {coordinate(boxes, 0), coordinate(boxes, 1), coordinate(boxes, 2),
                           coordinate(boxes, 3)};
  const std::array corners = {minimum(ends[0], ends[2]), minimum(ends[1], ends[3]),
                              maximum(ends[0], ends[2]), maximum(ends[1], ends[3])};
  // Scores of the boxes that are left, the lowest number for others; NaN is no score.
  const auto lowest = scalar::Number::lowest(DType::F32);
  const Tensor none = builder.full({}, lowest);
  const Tensor all = select(scores > (least_score.valid() ? least_score : none), scores, none);
  // As long as the last step has found a box.
  const Tensor runs = builder.full({}, scalar::Number::of(true));
  const std::array operands = {runs, all, corners[0], corners[1], corners[2], corners[3], overlap};
  Builder inner("body");
  std::vector<Tensor> in;
  for (const Tensor& each : operands) {
    const std::string name = concat("in", in.size());
    in.push_back(inner.input(name, each.dtype(), each.shape()));
  }
  const Tensor suppressed = inner.full({}, lowest);
  const Tensor best = argmax(in[1], 2);
  const Tensor at = expand_dims(best, 2);
  const Tensor is_valid = squeeze(inner.gather(in[1], at, 2), std::vector{2}) > suppressed;
  const Tensor is_best = at == inner.iota({1, 1, shape[2]}, 2);
  const Tensor overlapped = overlaps({in[2], in[3], in[4], in[5]}, best, in[6]);
  inner.output("runs", reduce_any(is_valid, {}, false));
  inner.output("left", select(either(is_best, overlapped), suppressed, in[1]));
  inner.output("best", best);
  inner.output("valid", is_valid);
  auto body = std::move(inner).finish();
  if (!body) {
    const Tensor failed = builder.error(std::move(body.error().message));
    return {failed, failed};
  }
  const graph::Repetition repetition{.steps = max_boxes, .carried = 2, .sliced = 0, .condition = 0};
  const auto results = builder.loop(operands, repetition, false, std::move(*body));
  return {builder.permute(results[2], {1, 2, 0}), builder.permute(results[3], {1, 2, 0})};
}

}  // namespace lathe::ops
