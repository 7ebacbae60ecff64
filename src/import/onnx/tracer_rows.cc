// Rows that are kept or have room: what states are at first and what they become, what follows from
// how many rows there are, and who may be given them.
#include <algorithm>
#include <array>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/tracer.h"
#include "lathe/ops/indexing.h"
#include "lathe/ops/movement.h"

namespace lathe::onnx {

using graph::Op;

// An input for rows that are kept: a state.
Value Tracer::cached(const Port& given, size_t number) {
  const Tensor state = graph_.state(concat("cache", number), dtype_of(given.type), given.shape);
  if (rows_ && cache_[number].result) rows_->add_state(state);
  return {state, given.type};
}

bool Tracer::is_kept(size_t result) const {
  return std::ranges::find(cache_, std::optional(result), &CachePair::result) != cache_.end();
}

Status Tracer::follow_rows() { return rows() == nullptr ? Status{} : rows_->follow(); }

bool Tracer::has_rooms(const Call& call) const {
  for (size_t k = 0; rows_ && k < call.operands(); ++k) {
    if (rows_->has_rows(call.operand(k).tensor)) return true;
  }
  return false;
}

// What an operator makes of rows, but not of their elements, may be as long as there is room; what
// has no elements may be so many times as long.
Status Tracer::check_rows(const Call& call, const Values& results) {
  LATHE_TRY(rows_->follow());
  if (!call.has(0) || !rows_->has_rows(call.operand(0).tensor)) return {};
  for (const Value& each : results) {
    if (!each.tensor.valid() || goes_by_rows(each)) continue;
    const Shape shape = each.shape();
    const int64_t room = rows_->said() + rows_->fresh();
    if (std::ranges::count(shape, room) > 0 || graph::element_count(shape) == 0) {
      return call.refuse_rows();
    }
  }
  return {};
}

Result<Counted> Tracer::counted(const Value& value) {
  const bool is_counted = value.is_tensor() && rows_ && rows_->is_counted(value.tensor);
  const auto integers = [&](const Content& content) {
    std::vector<int64_t> values(static_cast<size_t>(content.count()));
    for (size_t k = 0; k < values.size(); ++k) values[k] = content.integer(static_cast<int64_t>(k));
    return values;
  };
  if (!is_counted) {
    LATHE_ASSIGN_OR_RETURN(const Content held, content(value));
    if (held.type == Type::String) return fail("strings are no integers");
    std::vector<int64_t> values = integers(held);
    std::vector<int64_t> steps(values.size(), 0);
    return Counted{std::move(values), std::move(steps)};
  }
  const auto held = [&]() -> Result<std::vector<int64_t>> {
    auto array = evaluated(*value.tensor.builder, value.tensor.value);
    if (!array) return fail("goes by how many rows there are, and by more");
    return integers({.type = value.type, .shape = value.shape(), .data = std::move(array->data)});
  };
  if (is_inside_body()) return fail("goes by how many rows there are");
  if (!rows_->is_even(value.tensor)) {
    return fail("does not grow evenly with how many rows there are");
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> values, held());
  std::swap(arrays_, arrays_of_more_);
  auto more = held();
  std::swap(arrays_, arrays_of_more_);
  if (!more) return std::unexpected(std::move(more.error()));
  for (size_t k = 0; k < values.size(); ++k) (*more)[k] -= values[k];
  return Counted{std::move(values), std::move(*more)};
}

// The states with the new rows behind those that they hold.
Status Tracer::keep_rows(const Values& results) {
  if (cache_.empty()) return {};
  for (size_t k = 0; k < cache_.size(); ++k) {
    const CachePair& pair = cache_[k];
    if (!pair.result) continue;
    const Port& port = trace_.inputs[pair.input];
    const Tensor state = graph_.state(concat("cache", k), dtype_of(port.type), port.shape);
    const Value& result = results[*pair.result];
    const int64_t rows = port.shape[kCacheAxis];
    const int64_t fresh = result.rank() == 4 ? result.shape()[kCacheAxis] - rows : -1;
    if (fresh < 0 || result.type != port.type) {
      return fail("cache: the outputs of kept rows do not have the types of their inputs");
    }
    Tensor next = tensor(result);
    if (fresh > 0) {
      trace_.is_joined = true;
      const Tensor places = graph_.iota({rows, 1}, 0) - earlier_rows_;
      const Tensor picked = ops::gather(ops::slice(next, {0, 0, rows}, std::nullopt),
                                        graph_.reshape(places, {rows}), kCacheAxis);
      const Tensor is_new = graph_.map(
          Op::And,
          std::array{
              places >= zero(places),
              places < graph_.full({rows, 1}, scalar::Number::of(static_cast<int32_t>(fresh)))});
      next = select(is_new, picked, state);
    }
    graph_.update(state, next);
  }
  return {};
}

// What results follow from. Room counts in sizes, so these and the mask may lead to nothing but
// what GroupQueryAttention asks for: how many rows count, from the mask's elements, and their
// total.
uint8_t Tracer::followed(const NodeProto& node, const Values& operands) {
  const bool attends = node.op_type == "GroupQueryAttention";
  const bool measures = node.op_type == "Shape" || node.op_type == "Size";
  uint8_t all = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const uint8_t given = operands[k].follows;
    const uint8_t wanted = k == 6 ? kRoomSizes : k == 5 ? kMaskElements : k >= 3 ? kKeptRows : 0;
    all |= attends ? given & ~wanted : measures && given != 0 ? kRoomSizes : given;
  }
  const bool branches = std::ranges::any_of(
      node.attributes, [](const AttributeProto& each) { return !each.graphs.empty(); });
  if (branches || (attends && all != 0)) trace_.is_sure = false;
  return attends ? kKeptRows : all;
}

}  // namespace lathe::onnx
