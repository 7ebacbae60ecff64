// Nodes that move elements: reshapes and concatenations. Reshapes preserve the axis order in which
// the operand is stored, if possible.
#include <algorithm>
#include <numeric>
#include <utility>

#include "lathe/base/sort.h"
#include "lathe/export/onnx/emitter.h"
#include "lathe/export/onnx/maps.h"
#include "lathe/graph/graph.h"

namespace lathe::onnx_export {

namespace {

// Axes [in, in_end) of one shape have the elements of axes [out, out_end) of another.
struct Group {
  size_t in, in_end, out, out_end;
};

std::vector<Group> groups_of(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Group group{i, i + 1, j, j + 1};
    int64_t in = from[i++], out = to[j++];
    while (in != out) {
      if (in < out) {
        in *= from[i++];
      } else {
        out *= to[j++];
      }
    }
    group.in_end = i;
    group.out_end = j;
    groups.push_back(group);
  }
  // The remaining axes have one element each.
  if (groups.empty()) groups.push_back({0, 0, 0, 0});
  groups.back().in_end = from.size();
  groups.back().out_end = to.size();
  return groups;
}

// The groups in the order in which x is stored; nothing if the axes of one are not adjacent.
std::optional<std::vector<Group>> stored_groups(const PermutedTensor& x,
                                                std::vector<Group> groups) {
  std::vector<int> stored_axes,
      firsts;  // of axes of more than one element, in logical order by group
  for (const Group& group : groups) {
    int first = static_cast<int>(x.order.size());
    for (size_t axis = group.in; axis < group.in_end; ++axis) {
      const int stored_axis = x.order[axis];
      if (x.stored.shape[stored_axis] == 1) continue;
      if (first == static_cast<int>(x.order.size())) first = stored_axis;
      stored_axes.push_back(stored_axis);
    }
    firsts.push_back(first);
  }
  const auto by_offset =
      sorted_indices(groups.size(), [&](int a, int b) { return firsts[a] < firsts[b]; });
  std::vector<Group> sorted;
  int last = -1;
  for (const size_t each : by_offset) {
    sorted.push_back(groups[each]);
    for (size_t axis = groups[each].in; axis < groups[each].in_end; ++axis) {
      const int stored_axis = x.order[axis];
      if (x.stored.shape[stored_axis] == 1) continue;
      if (stored_axis < last) return std::nullopt;
      last = stored_axis;
    }
  }
  return sorted;
}

}  // namespace

PermutedTensor emit_reshape(Emitter& e, const graph::Node& node) {
  const Value from = node.operands[0];
  const PermutedTensor& x = e.tensor_of(from);
  if (x.stored.rank() == 0 && element_count(node.shape) > 0) return x;
  const Shape& shape = e[from].shape;
  const bool is_full = x.stored.rank() == static_cast<int>(shape.size()) &&
                       element_count(x.stored.shape) == element_count(shape);
  if (is_full && element_count(shape) > 0) {
    if (const auto groups = stored_groups(x, groups_of(shape, node.shape))) {
      Shape stored;
      std::vector<int> axes;
      for (const Group& group : *groups) {
        for (size_t axis = group.out; axis < group.out_end; ++axis) {
          stored.push_back(node.shape[axis]);
          axes.push_back(static_cast<int>(axis));
        }
      }
      return PermutedTensor::of(e.writer.reshape(x.stored, std::move(stored)), axes);
    }
  }
  return PermutedTensor::plain(e.writer.reshape(e.plain(from), node.shape));
}

namespace {

bool is_only(const graph::Affine& affine, size_t dimension) {
  for (size_t d = 0; d < affine.coefficients.size(); ++d) {
    if (affine.coefficients[d] != (d == dimension ? 1 : 0)) return false;
  }
  return true;
}

// The pieces as a concatenation along an axis, or nothing.
std::optional<PermutedTensor> concatenated(Emitter& e, const graph::Node& node) {
  const size_t rank = node.shape.size();
  int along = -1;
  struct Piece {
    int64_t begin, end;
    Value value;
  };
  std::vector<Piece> pieces;
  for (size_t k = 0; k < node.operands.size(); ++k) {
    const Shape& shape = e[node.operands[k]].shape;
    if (shape.size() != rank) return std::nullopt;
    for (size_t axis = 0; axis < rank; ++axis) {
      const graph::Affine& affine = node.maps[k].axes[axis];
      if (!is_only(affine, axis)) return std::nullopt;
      if (shape[axis] == node.shape[axis]) continue;
      if (along >= 0 && along != static_cast<int>(axis)) return std::nullopt;
      along = static_cast<int>(axis);
    }
  }
  if (along < 0) return std::nullopt;
  for (size_t k = 0; k < node.operands.size(); ++k) {
    const int64_t begin = node.maps[k].axes[along].offset;
    pieces.push_back({begin, begin + e[node.operands[k]].shape[along], node.operands[k]});
  }
  sort_by(pieces, [](const Piece& a, const Piece& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t end = 0;
  for (const Piece& piece : pieces) {
    if (piece.begin != end) return std::nullopt;
    end = piece.end;
  }
  if (end != node.shape[along]) return std::nullopt;
  const PermutedTensor& first = e.tensor_of(pieces[0].value);
  const std::vector<int> axes = first.stored.rank() == static_cast<int>(rank)
                                    ? inverse_order(first.order)
                                    : identity_order(static_cast<int>(rank));
  std::vector<Tensor> parts;
  for (const Piece& piece : pieces) parts.push_back(e.ordered(piece.value, axes));
  const auto stored_axis = std::ranges::find(axes, along) - axes.begin();
  return PermutedTensor::of(e.writer.concatenate(parts, static_cast<int>(stored_axis)), axes);
}

// x with step - 1 zeros after each element along the axis except the last.
Tensor spread(Writer& w, const Tensor& x, int axis, int64_t step) {
  if (step <= 1 || x.shape[axis] <= 1) return x;
  const int64_t size = x.shape[axis];
  Shape split = x.shape;
  split.insert(split.begin() + axis + 1, 1);
  std::vector<int64_t> before(split.size(), 0), after(split.size(), 0);
  after[axis + 1] = step - 1;
  const auto zero = scalar::Number::from(x.dtype, 0);
  Shape merged = x.shape;
  merged[axis] = size * step;
  const Tensor wide = w.reshape(w.pad(w.reshape(x, split), before, after, zero), merged);
  merged[axis] = (size - 1) * step + 1;
  const std::vector<int64_t> none(merged.size(), 0), ones(merged.size(), 1);
  return w.slice(wide, none, ones, merged);
}

// A piece at its offsets in the result, zero elsewhere.
Tensor padded_piece(Emitter& e, Value piece, const graph::AffineMap& map, const Shape& shape,
                    DType dtype) {
  const Shape& size = e[piece].shape;
  std::vector<int> axes;
  Shape spaced;
  std::vector<int64_t> steps, before, after;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t extent = 1, step = 1;
    for (size_t d = 0; d < size.size(); ++d) {
      if (map.axes[axis].coefficients[d] == 0 || size[d] == 1) continue;
      axes.push_back(static_cast<int>(d));
      extent = size[d];
      step = map.axes[axis].coefficients[d];
    }
    spaced.push_back(extent);
    steps.push_back(step);
    before.push_back(map.axes[axis].offset);
    after.push_back(shape[axis] - map.axes[axis].offset - (extent - 1) * step - 1);
  }
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] == 1) axes.push_back(static_cast<int>(d));
  }
  Tensor x = e.writer.cast(e.ordered(piece, axes), dtype);
  x = e.writer.reshape(x, std::move(spaced));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    x = spread(e.writer, x, static_cast<int>(axis), steps[axis]);
  }
  return e.writer.pad(x, before, after, scalar::Number::from(dtype, 0));
}

}  // namespace

PermutedTensor emit_join(Emitter& e, const graph::Node& node) {
  if (element_count(node.shape) == 0) {
    return PermutedTensor::plain(e.writer.constant(node.dtype, node.shape, SharedBytes()));
  }
  if (auto permuted = concatenated(e, node)) return *std::move(permuted);
  const bool is_unsigned = node.dtype == DType::U32 || node.dtype == DType::U64;
  const DType dtype = node.dtype == DType::Bool ? DType::I32
                      : is_unsigned             ? DType::I64
                                                : scalar::computed(node.dtype);
  std::optional<Tensor> sum;
  for (size_t k = 0; k < node.operands.size(); ++k) {
    if (element_count(e[node.operands[k]].shape) == 0) continue;
    const Tensor part = padded_piece(e, node.operands[k], node.maps[k], node.shape, dtype);
    sum = sum ? e.writer.map("Add", {*sum, part}) : part;
  }
  if (!sum) sum = e.writer.full(scalar::Number::from(dtype, 0), node.shape);
  return PermutedTensor::plain(e.writer.cast(*sum, node.dtype));
}

}  // namespace lathe::onnx_export
