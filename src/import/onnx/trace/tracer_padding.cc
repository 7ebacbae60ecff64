// Tracing of caches and padded axes: states and their updates, values that depend on the valid
// length, operators that support padding.
#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/nn/attention.h"

namespace lathe::onnx {

int64_t capacity_of(std::span<const Port> inputs, std::span<const CachePair> cache) {
  for (const CachePair& each : cache) {
    if (each.axis) return inputs[each.input].shape[*each.axis];
  }
  return 0;
}

Status check_caches(const ModelProto& model, std::span<const Port> inputs,
                    const TraceOptions& options) {
  for (const CachePair& each : options.cache) {
    const bool is_tensor = each.input < inputs.size() &&
                           inputs[each.input].kind == Value::Kind::Tensor &&
                           inputs[each.input].type != Type::String;
    if (!is_tensor || (each.result && *each.result >= model.graph.outputs.size()) ||
        (each.axis &&
         (!each.result || *each.axis < 0 || *each.axis >= std::ssize(inputs[each.input].shape)))) {
      return fail("cache: requires numeric inputs, outputs of the model and axes of both");
    }
  }
  if (options.new_rows > 0 && !options.cache.empty()) {
    const int64_t capacity = capacity_of(inputs, options.cache);
    const bool is_equal = std::ranges::all_of(options.cache, [&](const CachePair& each) {
      return !each.axis || inputs[each.input].shape[*each.axis] == capacity;
    });
    if (!is_equal || options.new_rows >= capacity) {
      return fail(concat("cache: ", options.new_rows, " new rows exceed the capacity ", capacity));
    }
  }
  return {};
}

// A cached input becomes a state.
Value Tracer::cache_state(const Port& port, size_t index) {
  const Tensor state = graph_.state(concat("cache", index), dtype_of(port.type), port.shape);
  const auto& axis = cache_[index].axis;
  if (padded_axes_ && axis) padded_axes_->add_state(state, *axis);
  return {state, port.type};
}

const CachePair* Tracer::cache_of_output(size_t result) const {
  const auto found = std::ranges::find(cache_, std::optional(result), &CachePair::result);
  return found == cache_.end() ? nullptr : &*found;
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
    std::vector<int64_t> values(content.count());
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

// Updates the states: appends the new rows to the valid ones, or replaces the content.
Status Tracer::update_caches(const Values& results) {
  for (size_t k = 0; k < cache_.size(); ++k) {
    const CachePair& pair = cache_[k];
    if (!pair.result) continue;
    const Port& port = trace_.inputs[pair.input];
    const Tensor state = graph_.state(concat("cache", k), dtype_of(port.type), port.shape);
    const Value& result = results[*pair.result];
    const auto at = static_cast<size_t>(pair.axis.value_or(0));
    const bool has_axis = pair.axis && result.rank() == std::ssize(port.shape);
    const int64_t rows = has_axis ? port.shape[at] : 0;
    const int64_t new_rows = has_axis ? result.shape()[at] - rows : 0;
    Shape expected = port.shape;
    if (has_axis) expected[at] += new_rows;
    if (new_rows < 0 || result.type != port.type || result.shape() != expected) {
      return fail("cache: an output does not have the type of its input");
    }
    Tensor next = tensor(result);
    if (new_rows > 0) {
      trace_.concatenates_cache = true;
      Shape begin(expected.size(), 0);
      begin[at] = rows;
      next = ops::write_rows(state, ops::slice(next, begin, std::nullopt), past_length_, true,
                             *pair.axis);
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
  const bool reads_rows =
      !attends && !measures && node.op_type != "Identity" && (all & kCachedRows) != 0;
  if (branches || reads_rows || (attends && all != 0)) trace_.is_capacity_independent = false;
  return attends ? kCachedRows : all;
}

}  // namespace lathe::onnx
