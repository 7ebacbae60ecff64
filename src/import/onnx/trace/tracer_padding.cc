// Tracing of caches and padded axes: states and their updates, values that depend on the valid
// length, operators that support padding.
#include <algorithm>
#include <array>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx {

using graph::Op;

// A cached input becomes a state.
Value Tracer::cache_state(const Port& port, size_t index) {
  const Tensor state = graph_.state(concat("cache", index), dtype_of(port.type), port.shape);
  if (padded_axes_ && cache_[index].result) padded_axes_->add_state(state);
  return {state, port.type};
}

bool Tracer::is_cache_output(size_t result) const {
  return std::ranges::find(cache_, std::optional(result), &CachePair::result) != cache_.end();
}

Status Tracer::propagate_padding() {
  return padded_axes() == nullptr ? Status{} : padded_axes_->propagate();
}

bool Tracer::has_padded_operand(const Call& call) const {
  for (size_t k = 0; padded_axes_ && k < call.operands(); ++k) {
    if (padded_axes_->is_padded(call.operand(k).tensor)) return true;
  }
  return false;
}

// A result computed from the sizes of a padded operand, but not from its elements, may have an
// unpadded axis of the full capacity, or an empty one of a multiple of it.
Status Tracer::check_padding(const Call& call, const Values& results) {
  LATHE_TRY(padded_axes_->propagate());
  if (!call.has(0) || !padded_axes_->is_padded(call.operand(0).tensor)) return {};
  for (const Value& each : results) {
    if (!each.tensor.valid() || depends_on_length(each)) continue;
    const Shape shape = each.shape();
    const int64_t capacity = padded_axes_->nominal_past_length() + padded_axes_->new_length();
    if (std::ranges::count(shape, capacity) > 0 || graph::element_count(shape) == 0) {
      return call.reject_length();
    }
  }
  return {};
}

Result<LinearIntegers> Tracer::linear_integers(const Value& value) {
  const bool is_length_dependent =
      value.is_tensor() && padded_axes_ && padded_axes_->is_length_dependent(value.tensor);
  const auto integers = [&](const Content& content) {
    std::vector<int64_t> values(static_cast<size_t>(content.count()));
    for (size_t k = 0; k < values.size(); ++k) values[k] = content.integer(static_cast<int64_t>(k));
    return values;
  };
  if (!is_length_dependent) {
    LATHE_ASSIGN_OR_RETURN(const Content constant, content(value));
    if (constant.type == Type::String) return fail("strings are no integers");
    std::vector<int64_t> values = integers(constant);
    std::vector<int64_t> steps(values.size(), 0);
    return LinearIntegers{std::move(values), std::move(steps)};
  }
  const auto evaluate = [&]() -> Result<std::vector<int64_t>> {
    auto array = evaluated(*value.tensor.builder, value.tensor.value);
    if (!array) return fail("depends on the valid length of a padded axis and on run-time data");
    return integers({.type = value.type, .shape = value.shape(), .data = std::move(array->data)});
  };
  if (is_inside_body()) return fail("depends on the valid length of a padded axis");
  if (!padded_axes_->is_linear(value.tensor)) {
    return fail("is not linear in the valid length of a padded axis");
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> values, evaluate());
  std::swap(arrays_, arrays_of_next_length_);
  auto more = evaluate();
  std::swap(arrays_, arrays_of_next_length_);
  if (!more) return std::unexpected(std::move(more.error()));
  for (size_t k = 0; k < values.size(); ++k) (*more)[k] -= values[k];
  return LinearIntegers{std::move(values), std::move(*more)};
}

// Updates the states: appends the new rows to the valid ones.
Status Tracer::update_caches(const Values& results) {
  if (cache_.empty()) return {};
  for (size_t k = 0; k < cache_.size(); ++k) {
    const CachePair& pair = cache_[k];
    if (!pair.result) continue;
    const Port& port = trace_.inputs[pair.input];
    const Tensor state = graph_.state(concat("cache", k), dtype_of(port.type), port.shape);
    const Value& result = results[*pair.result];
    const int64_t rows = port.shape[kCacheAxis];
    const int64_t new_rows = result.rank() == 4 ? result.shape()[kCacheAxis] - rows : -1;
    if (new_rows < 0 || result.type != port.type) {
      return fail("cache: an output does not have the type of its input");
    }
    Tensor next = tensor(result);
    if (new_rows > 0) {
      trace_.concatenates_cache = true;
      const Tensor indices = graph_.iota({rows, 1}, 0) - past_length_;
      const Tensor picked = ops::gather(ops::slice(next, {0, 0, rows}, std::nullopt),
                                        graph_.reshape(indices, {rows}), kCacheAxis);
      const Tensor is_new = graph_.map(
          Op::And,
          std::array{indices >= zero(indices),
                     indices < graph_.full({rows, 1},
                                           scalar::Number::of(static_cast<int32_t>(new_rows)))});
      next = select(is_new, picked, state);
    }
    graph_.update(state, next);
  }
  return {};
}

// The cache dependence of a node's results. Sizes include the capacity, so they and the mask may
// only be used for the operands of GroupQueryAttention: seqlens_k from the mask's elements, and
// total_sequence_length.
uint8_t Tracer::cache_dependence_of(const NodeProto& node, const Values& operands) {
  const bool attends = node.op_type == "GroupQueryAttention";
  const bool measures = node.op_type == "Shape" || node.op_type == "Size";
  uint8_t all = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const uint8_t dependence = operands[k].cache_dependence;
    const uint8_t allowed = k == 6   ? kCapacitySizes
                            : k == 5 ? kMaskElements
                            : k >= 3 ? kCachedRows
                                     : 0;
    all |= attends                       ? dependence & ~allowed
           : measures && dependence != 0 ? kCapacitySizes
                                         : dependence;
  }
  const bool branches = std::ranges::any_of(
      node.attributes, [](const AttributeProto& each) { return !each.graphs.empty(); });
  if (branches || (attends && all != 0)) trace_.is_capacity_independent = false;
  return attends ? kCachedRows : all;
}

}  // namespace lathe::onnx
