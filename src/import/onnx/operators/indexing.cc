// Operators that pick, put and order elements by indices.
#include "lathe/ops/movement/indexing.h"

#include <algorithm>
#include <array>

#include "lathe/base/sort.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/movement.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/images/detection.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/movement/scattering.h"
#include "lathe/ops/sets.h"

namespace lathe::onnx::rows {

using graph::Builder;

namespace {

Tensor as_int64(Tensor x) { return x.builder->cast(x, DType::I64); }

// The only element of a tensor that is not a constant: how many of something there are.
Result<int64_t> count_in(Call& call, Tensor count) {
  LATHE_ASSIGN_OR_RETURN(const Content content, call.tracer().content(Value(count)));
  return content.integer(0);
}

// Non-negative indices; constant ones are converted here. Error: one of these is outside.
Result<Tensor> index_of(Call& call, size_t i, int64_t size) {
  const Value& operand = call.operand(i);
  if (!operand.constant) return ops::wrap_negative_indices(call.tensor(i), size);
  std::vector<int32_t> indices;
  for (int64_t k = 0; k < operand.constant->count(); ++k) {
    const int64_t at = operand.constant->integer(k);
    if (at < -size || at >= size) {
      return call.reject(
          concat("index ", at, " at ", k, " is outside an axis of ", size, " elements"));
    }
    indices.push_back(static_cast<int32_t>(at < 0 ? at + size : at));
  }
  if (indices.size() > 4096) return ops::wrap_negative_indices(call.tensor(i), size);
  const auto* bytes = reinterpret_cast<const std::byte*>(indices.data());
  return call.builder().constant(DType::I32, operand.shape(),
                                 {bytes, bytes + indices.size() * sizeof(int32_t)});
}

// The row at a constant index that is valid for every length, without its axis.
Result<Tensor> one_row(Call& call, PaddedAxes& rows, int axis) {
  const auto operand = call.tracer().peek(call.operand(1));
  if (!operand || operand->count() != 1) return call.reject_length();
  const int64_t at = operand->integer(0), least = rows.min_length();
  if (at < -least || at >= least) return call.reject_length();
  Builder& builder = call.builder();
  const Tensor x = call.tensor(0);
  const Tensor position = builder.full({1}, scalar::Number::of(static_cast<int32_t>(at)));
  const Tensor part = ops::gather(x, at < 0 ? position + rows.total_length() : position, axis);
  rows.accept_reduced(part, x, {axis});
  Shape shape = x.shape();
  const auto begin = shape.begin() + axis;
  const Shape index = operand->shape;
  shape.insert(shape.erase(begin), index.begin(), index.end());
  return builder.reshape(part, shape);
}

Result<Values> gather_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), call.rank(0)));
  const int64_t size = call.shape(0)[axis];
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows != nullptr && rows->is_padded(call.tensor(0), axis)) {
    LATHE_ASSIGN_OR_RETURN(const Tensor row, one_row(call, *rows, axis));
    return like_operand(call, row);
  }
  LATHE_ASSIGN_OR_RETURN(const Tensor index, index_of(call, 1, size));
  const Tensor picked = ops::gather(call.tensor(0), index, axis);
  if (rows != nullptr) rows->accept_gathered(picked, call.tensor(0), call.operand(1).tensor, axis);
  return like_operand(call, picked);
}

// Only the part of x that the indices see: they may be fewer along the other axes.
Tensor seen_by(Tensor x, const Shape& indices, size_t axis) {
  if (indices.size() != x.shape().size()) return x;
  Shape size = indices;
  size[axis] = x.shape()[axis];
  return ops::slice(x, Shape(size.size(), 0), size);
}

Result<Values> gather_elements_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), call.rank(0)));
  const int64_t size = call.shape(0)[axis];
  const Tensor x = seen_by(call.tensor(0), call.shape(1), static_cast<size_t>(axis));
  LATHE_ASSIGN_OR_RETURN(const Tensor index, index_of(call, 1, size));
  return like_operand(call, ops::take_along_axis(x, index, axis));
}

// An unused Gather records the valid range of indices (compile/index_ranges.h).
void state_range(Tensor index, int64_t size) {
  const Tensor rows = index.builder->full({size}, scalar::Number::of(int32_t{0}));
  ops::gather(rows, index, 0);
}

// Checks index tuples along the last axis, into the axes of x from `first` on. Error: one is
// outside.
Status check_tuples(Call& call, size_t first) {
  const Shape &from = call.shape(0), &indices = call.shape(1);
  const Value& operand = call.operand(1);
  const auto width = static_cast<size_t>(indices.back());
  if (first + width > from.size()) return {};
  for (size_t k = 0; k < width; ++k) {
    const int64_t size = from[first + k];
    if (!operand.constant) {
      Shape begin(indices.size(), 0), one = indices;
      begin.back() = static_cast<int64_t>(k);
      one.back() = 1;
      state_range(ops::wrap_negative_indices(ops::slice(call.tensor(1), begin, one), size), size);
      continue;
    }
    for (int64_t at = static_cast<int64_t>(k); at < operand.constant->count();
         at += indices.back()) {
      const int64_t index = operand.constant->integer(at);
      if (index >= -size && index < size) continue;
      return call.reject(concat("index ", index, " at ", at, " is outside axis ", first + k, " of ",
                                bracketed(from)));
    }
  }
  return {};
}

Result<Values> gather_nd_numbers(Call& call) {
  const int64_t batch = call.int_of("batch_dims", 0);
  if (batch < 0 || batch >= call.rank(1)) {
    return call.reject(
        concat("batch_dims ", batch, " is outside indices ", bracketed(call.shape(1))));
  }
  LATHE_TRY(check_tuples(call, static_cast<size_t>(batch)));
  return like_operand(call,
                      ops::gather_nd(call.tensor(0), call.tensor(1), static_cast<int>(batch)));
}

Result<ops::Merge> merge_of(const Call& call) {
  const std::string name = call.string_of("reduction", "none");
  const bool is_bool = call.type(0) == Type::Bool;
  if (name == "none") return ops::Merge::Replace;
  if (name == "max" || (is_bool && name == "add")) return ops::Merge::Max;
  if (name == "min" || (is_bool && name == "mul")) return ops::Merge::Min;
  if (name == "add") return ops::Merge::Add;
  if (name == "mul") return ops::Merge::Mul;
  return call.reject(concat("knows no reduction '", name, '\''));
}

// Booleans are merged as bytes.
template <class Scatter>
Result<Values> scattered(Call& call, const Scatter& scatter) {
  LATHE_ASSIGN_OR_RETURN(const ops::Merge merge, merge_of(call));
  const DType dtype = call.tensor(0).dtype();
  const bool as_bytes = dtype == DType::Bool && merge != ops::Merge::Replace;
  const auto operand = [&](size_t i) {
    return as_bytes ? call.builder().cast(call.tensor(i), DType::U8) : call.tensor(i);
  };
  const Tensor result = scatter(operand(0), operand(2), merge);
  return like_operand(call, as_bytes ? call.builder().convert(result, dtype) : result);
}

Result<Values> scatter_elements_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), call.rank(0)));
  const int64_t size = call.shape(0)[axis];
  LATHE_ASSIGN_OR_RETURN(const Tensor index, index_of(call, 1, size));
  if (!call.operand(1).constant) state_range(index, size);
  return scattered(call, [&](Tensor x, Tensor update, ops::Merge merge) {
    return ops::scatter_along(x, index, update, axis, merge);
  });
}

Result<Values> scatter_nd_numbers(Call& call) {
  if (call.rank(1) > 0) LATHE_TRY(check_tuples(call, 0));
  return scattered(call, [&](Tensor x, Tensor update, ops::Merge merge) {
    return ops::scatter_nd(x, call.tensor(1), update, merge);
  });
}

// Texts, which with_strings numbers, are merged in no way.
Result<Values> scatter_values(Call& call, Result<Values> (*scatter)(Call&)) {
  if (call.type(0) == Type::String && call.string_of("reduction", "none") != "none") {
    return call.reject("strings are no numbers");
  }
  return with_strings(call, scatter);
}

}  // namespace

Result<Values> gather(Call& call) { return with_strings(call, gather_numbers); }
Result<Values> gather_elements(Call& call) { return with_strings(call, gather_elements_numbers); }
Result<Values> gather_nd(Call& call) { return with_strings(call, gather_nd_numbers); }
Result<Values> scatter_elements(Call& call) {
  return scatter_values(call, scatter_elements_numbers);
}
Result<Values> scatter_nd(Call& call) { return scatter_values(call, scatter_nd_numbers); }

// The update overwrites the cache from each sample's index on.
Result<Values> tensor_scatter(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -2), call.rank(0)));
  const Tensor cache = call.tensor(0), update = call.tensor(1);
  if (!cache.valid() || !update.valid()) return Values{};
  const auto at = static_cast<size_t>(axis);
  if (axis == 0 || update.rank() != cache.rank()) {
    return call.reject(concat("update ", bracketed(update.shape()), " does not fit the cache ",
                              bracketed(cache.shape()), " along axis ", axis));
  }
  Builder& builder = call.builder();
  Shape line(cache.shape().size(), 1), batch = line;
  line[at] = update.shape()[at];
  batch[0] = cache.shape()[0];
  Tensor position = builder.iota(line, axis);
  if (call.has(2)) {
    position = position + builder.reshape(builder.cast(call.tensor(2), DType::I32), batch);
  }
  LATHE_ASSIGN_OR_RETURN(const auto mode, call.choice_of("mode", {"linear", "circular"}));
  if (mode == "circular") {
    const auto size = static_cast<int32_t>(cache.shape()[at]);
    position = builder.map(graph::Op::Mod,
                           std::array{position, builder.full({}, scalar::Number::of(size))});
  }
  const Tensor index = builder.broadcast_to(position, update.shape(), "TensorScatter");
  return like_operand(call, ops::scatter_along(cache, index, update, axis, ops::Merge::Replace));
}

namespace {

Result<Values> reverse_sequence_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int batch, call.axis(call.int_of("batch_axis", 1), call.rank(0)));
  LATHE_ASSIGN_OR_RETURN(const int time, call.axis(call.int_of("time_axis", 0), call.rank(0)));
  return like_operand(call, ops::reverse_sequence(call.tensor(0), call.tensor(1), batch, time));
}

Result<Values> compress_numbers(Call& call) {
  Tensor x = call.tensor(0);
  int axis = 0;
  if (call.has_attribute("axis")) {
    LATHE_ASSIGN_OR_RETURN(axis, call.axis(call.int_of("axis", 0), x.rank()));
  } else {
    x = ops::flatten(x);
  }
  Builder& builder = call.builder();
  Tensor condition = ops::flatten(call.tensor(1));
  if (!builder.ok()) return call.reject(builder.message());
  const int64_t size = x.shape()[axis];
  if (condition.shape()[0] > size) condition = ops::slice(condition, {0}, Shape{size});
  const Tensor total = builder.reduce(graph::Op::Add, builder.cast(condition, DType::I32), {0});
  LATHE_ASSIGN_OR_RETURN(const int64_t count, count_in(call, total));
  const Tensor indices =
      builder.reshape(ops::non_zero(condition, static_cast<int>(count)), {count});
  return like_operand(call, ops::gather(x, indices, axis));
}

}  // namespace

Result<Values> reverse_sequence(Call& call) { return with_strings(call, reverse_sequence_numbers); }
Result<Values> compress(Call& call) { return with_strings(call, compress_numbers); }

Result<Values> non_zero(Call& call) {
  Builder& builder = call.builder();
  Tensor x = call.tensor(0);
  if (x.rank() == 0) x = builder.reshape(x, {1});
  if (x.dtype() != DType::Bool) x = builder.map(graph::Op::Ne, std::array{x, zero(x)});
  const Tensor ones = builder.cast(ops::flatten(x), DType::I32);
  const Tensor total = builder.reduce(graph::Op::Add, ones, {0});
  LATHE_ASSIGN_OR_RETURN(const int64_t count, count_in(call, total));
  const Tensor indices = ops::non_zero(x, static_cast<int>(count));
  return Values{as_int64(builder.permute(indices, {1, 0}))};
}

Result<Values> top_k(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto k, call.moved("k"));
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -1), call.rank(0)));
  const Tensor x = call.tensor(0);
  const int64_t size = x.shape()[axis];
  if (!k || k->size() != 1 || (*k)[0] < 0 || (*k)[0] > size) {
    return call.reject(concat("k ", k ? bracketed(*k) : "[]", " is not one number up to the ", size,
                              " elements along axis ", axis));
  }
  const bool largest = call.int_of("largest", 1) != 0;
  const Tensor indices = call.builder().sort(x, axis, largest, (*k)[0]);
  const Tensor values = call.builder().gather(x, indices, axis);
  return Values{Value(values, call.type(0)), as_int64(indices)};
}

namespace {

Result<Values> unique_in(Call& call, bool is_sorted) {
  Builder& builder = call.builder();
  std::vector<int64_t> numbers;  // strings as indices in sorted order
  Value x = call.operand(0);
  if (!x.is_tensor()) return call.reject("input 0 is no tensor");
  if (x.type == Type::String) {
    std::vector<std::string> texts = x.constant->strings;
    sort_ascending(texts);
    for (const std::string& each : x.constant->strings) {
      numbers.push_back(std::ranges::lower_bound(texts, each) - texts.begin());
    }
    x = Value(integers_content(Type::Int32, x.shape(), numbers));
  }
  Tensor all = call.tracer().tensor(x);
  int axis = 0;
  if (call.has_attribute("axis")) {
    LATHE_ASSIGN_OR_RETURN(axis, call.axis(call.int_of("axis", 0), all.rank()));
  } else {
    all = ops::flatten(all);
  }
  if (!builder.ok()) return call.reject(builder.message());
  std::vector<int> order = {axis};
  for (int k = 0; k < all.rank(); ++k) {
    if (k != axis) order.push_back(k);
  }
  const int64_t rows = all.shape()[axis];
  const int64_t columns = rows == 0 ? 0 : graph::element_count(all.shape()) / rows;
  const Tensor table = builder.reshape(builder.permute(all, order), {rows, columns});
  const ops::UniqueRows found = ops::unique_rows(table, is_sorted);
  LATHE_ASSIGN_OR_RETURN(const int64_t count, count_in(call, found.count));
  const Tensor first = ops::slice(found.first, {0}, Shape{count});
  Call picks = call.with_operands({call.operand(0), Value(first)});
  LATHE_ASSIGN_OR_RETURN(
      Values results, with_strings(picks, [](Call& each) -> Result<Values> {
        const bool has_axis = each.has_attribute("axis");
        const Tensor from = has_axis ? each.tensor(0) : ops::flatten(each.tensor(0));
        LATHE_ASSIGN_OR_RETURN(const int along, each.axis(each.int_of("axis", 0), from.rank()));
        return like_operand(each, ops::gather(from, each.tensor(1), along));
      }));
  results.emplace_back(as_int64(first));
  results.emplace_back(as_int64(found.inverse));
  results.emplace_back(as_int64(ops::slice(found.counts, {0}, Shape{count})));
  return results;
}

}  // namespace

Result<Values> unique(Call& call) { return unique_in(call, call.int_of("sorted", 1) != 0); }

// Has no output for where each value comes first.
Result<Values> contrib_unique(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Values results, unique_in(call, false));
  results.erase(results.begin() + 1);
  return results;
}

Result<Values> non_max_suppression(Call& call) {
  Builder& builder = call.builder();
  Tensor boxes = call.tensor(0);
  const Tensor scores = call.tensor(1);
  const Shape shape = scores.shape();
  if (boxes.rank() != 3 || shape.size() != 3 || boxes.shape() != Shape{shape[0], shape[2], 4}) {
    return call.reject(concat("boxes ", bracketed(boxes.shape()), " and scores ", bracketed(shape),
                              " are not [batch, boxes, 4] and [batch, classes, boxes]"));
  }
  int64_t max_boxes = 0;
  if (call.has(2)) {
    LATHE_ASSIGN_OR_RETURN(max_boxes, call.integer(2));
  }
  max_boxes = std::clamp<int64_t>(max_boxes, 0, shape[2]);
  if (max_boxes == 0 || shape[0] == 0 || shape[1] == 0)
    return Values{integers_content(Type::Int64, {0, 3}, {})};
  if (call.int_of("center_point_box", 0) != 0) {
    const Shape half = {shape[0], shape[2], 2};
    const Tensor centre = ops::slice(boxes, {0, 0, 0}, half);
    const Tensor sides = ops::slice(boxes, {0, 0, 2}, half);
    const Tensor reach = maximum(sides, zero(sides)) * 0.5f;  // negative sizes are empty boxes
    boxes = ops::concatenate({centre - reach, centre + reach}, 2);
  }
  const auto threshold = [&](size_t i) { return builder.reshape(call.tensor(i), {}); };
  const Tensor overlap = call.has(3) ? threshold(3) : builder.scalar(0);
  const Tensor least = call.has(4) ? threshold(4) : Tensor{};
  const ops::SelectedBoxes selected =
      ops::non_max_suppression(boxes, scores, max_boxes, overlap, least);
  const Tensor ones = builder.cast(ops::flatten(selected.valid), DType::I32);
  LATHE_ASSIGN_OR_RETURN(const int64_t count,
                         count_in(call, builder.reduce(graph::Op::Add, ones, {0})));
  const Tensor indices = ops::non_zero(selected.valid, static_cast<int>(count));  // [count, 3]
  const Tensor of_box = ops::gather_nd(selected.box, indices);
  const Tensor classes = ops::slice(indices, {0, 0}, Shape{count, 2});
  return Values{as_int64(ops::concatenate({classes, ops::expand_dims(of_box, 1)}, 1))};
}

}  // namespace lathe::onnx::rows
