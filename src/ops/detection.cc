#include "lathe/ops/detection.h"

#include <array>

#include "lathe/base/text.h"
#include "lathe/ops/movement.h"
#include "lathe/ops/reductions.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Op;
using graph::Shape;

namespace {

Tensor either(Tensor x, Tensor y) { return x.builder->map(Op::Or, std::array{x, y}); }
Tensor both(Tensor x, Tensor y) { return x.builder->map(Op::And, std::array{x, y}); }

// [b, 1, n]: coordinate number k.
Tensor coordinate(Tensor boxes, int64_t k) {
  const int64_t batch = boxes.shape()[0], count = boxes.shape()[1];
  return boxes.builder->reshape(slice(boxes, {0, 0, k}, Shape{batch, count, 1}), {batch, 1, count});
}

// Where the box at `best` overlaps the others by more than the threshold: [b, c, n].
Tensor overlaps(const std::array<Tensor, 4>& corners, Tensor is_best, Tensor threshold) {
  std::array<Tensor, 4> kept;
  for (size_t k = 0; k < 4; ++k) {
    kept[k] = sum(select(is_best, corners[k], zero(corners[k])), {2}, true);
  }
  const auto extent = [](Tensor low, Tensor high) { return maximum(high - low, zero(high - low)); };
  const Tensor height = extent(maximum(corners[0], kept[0]), minimum(corners[2], kept[2]));
  const Tensor width = extent(maximum(corners[1], kept[1]), minimum(corners[3], kept[3]));
  const Tensor common = height * width;
  const auto area = [](const std::array<Tensor, 4>& of) {
    return (of[2] - of[0]) * (of[3] - of[1]);
  };
  const Tensor all = area(corners) + area(kept) - common;
  return both(all > zero(all), common > threshold * all);
}

}  // namespace

KeptBoxes suppress_overlaps(Tensor boxes, Tensor scores, int64_t most, Tensor overlap,
                            Tensor least_score) {
  Builder& builder = *boxes.builder;
  if (!scores.valid() || !boxes.valid()) return {boxes, boxes};
  const Shape shape = scores.shape();
  const std::array ends = {coordinate(boxes, 0), coordinate(boxes, 1), coordinate(boxes, 2),
                           coordinate(boxes, 3)};
  const std::array corners = {minimum(ends[0], ends[2]), minimum(ends[1], ends[3]),
                              maximum(ends[0], ends[2]), maximum(ends[1], ends[3])};
  Tensor gone = builder.full(shape, scalar::Number::of(false));
  if (least_score.valid()) gone = scores <= least_score;
  const Tensor runs = builder.map(Op::Not, std::array{reduce_all(gone, {}, false)});
  const std::array operands = {runs,       gone,       scores,     corners[0],
                               corners[1], corners[2], corners[3], overlap};
  Builder inner("body");
  std::vector<Tensor> in;
  for (const Tensor& each : operands) {
    const std::string name = concat("in", in.size());
    in.push_back(inner.input(name, each.dtype(), each.shape()));
  }
  const Tensor lowest = inner.full({}, scalar::Number::lowest(DType::F32));
  const Tensor best = argmax(select(in[1], lowest, in[2]), 2);
  const Tensor is_valid = inner.map(Op::Not, std::array{reduce_all(in[1], std::vector{2}, false)});
  const Tensor place = inner.iota({1, 1, shape[2]}, 2);
  const Tensor is_best = expand_dims(best, 2) == place;
  const std::array<Tensor, 4> coordinates = {
      inner.broadcast_to(in[3], shape), inner.broadcast_to(in[4], shape),
      inner.broadcast_to(in[5], shape), inner.broadcast_to(in[6], shape)};
  const Tensor overlapped = overlaps(coordinates, is_best, in[7]);
  const Tensor left = either(in[1], either(is_best, overlapped));
  inner.output("runs", inner.map(Op::Not, std::array{reduce_all(left, {}, false)}));
  inner.output("gone", left);
  inner.output("best", best);
  inner.output("valid", is_valid);
  auto body = std::move(inner).finish();
  if (!body) {
    const Tensor none = builder.error(std::move(body.error().message));
    return {none, none};
  }
  const graph::Repetition repetition{.steps = most, .carried = 2, .sliced = 0, .condition = 0};
  const auto results = builder.loop(operands, repetition, false, std::move(*body));
  return {builder.permute(results[2], {1, 2, 0}), builder.permute(results[3], {1, 2, 0})};
}

}  // namespace lathe::ops
