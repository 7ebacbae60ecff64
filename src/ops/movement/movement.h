// Operations that only move elements. Negative axes count from the end.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Shape;
using graph::Tensor;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Tensor reshape(Tensor x, Shape shape);  // one size may be -1
Tensor flatten(Tensor x);
Tensor expand_dims(Tensor x, int axis);
// Drops the axes, which must have size 1; all of size 1 if empty.
Tensor squeeze(Tensor x, const std::optional<std::vector<int>>& axes);
// Out axis k is x's axis perm[k]; reverses the axes if empty.
Tensor transpose(Tensor x, const std::optional<std::vector<int>>& perm);
Tensor broadcast_to(Tensor x, Shape shape);
Tensor tile(Tensor x, const Shape& reps);  // repeats axis k reps[k] times
// The box of `size` from `begin`; axes left out, and sizes of -1, go to the end.
Tensor slice(Tensor x, const Shape& begin, const std::optional<Shape>& size);
// Elements begin[k] + i step[k], i < size[k], of each axis k; all must be inside. Steps may be
// negative.
Tensor strided_slice(Tensor x, const Shape& begin, const Shape& step, Shape size);
Tensor reverse(Tensor x, const std::optional<std::vector<int>>& axes);
// {before, after} per axis; negative ones crop.
Tensor pad(Tensor x, const Pairs& paddings, float value);
// The same with a value that is a tensor without axes.
Tensor pad_with(Tensor x, const Pairs& paddings, Tensor value);
// What is before and after an axis: the elements mirrored without and with the last one, the last
// one, or the entire sequence.
enum class PadMode : uint8_t { Reflect, Symmetric, Edge, Wrap };
Tensor pad_by(PadMode mode, Tensor x, const Pairs& paddings);
// One after the other along the axis; the other sizes are equal.
Tensor concatenate(const std::vector<Tensor>& tensors, int axis);
Tensor stack(const std::vector<Tensor>& tensors, int axis);  // along a new axis

}  // namespace lathe::ops
