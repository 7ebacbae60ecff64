// Sequences and optionals: lists of values, and values or nothing, at trace time.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/movement.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

namespace {

Value sequence_of(Type type, Values elements) {
  Value sequence;
  sequence.kind = Value::Kind::Sequence;
  sequence.type = type;
  sequence.elements = std::move(elements);
  return sequence;
}

// The sequence of input 0, to be changed.
Result<Value> sequence(const Call& call) {
  const Value& value = call.operand(0);
  if (value.kind == Value::Kind::Sequence) return value;
  return call.reject("input 0 is no sequence");
}

// An index from 0 to `limit`, the value of input i.
Result<size_t> index_of(Call& call, size_t i, size_t count, size_t limit) {
  LATHE_ASSIGN_OR_RETURN(const int64_t value, call.integer(i));
  const auto size = static_cast<int64_t>(count);
  const int64_t at = value < 0 ? value + size : value;
  if (at >= 0 && at <= static_cast<int64_t>(limit)) return static_cast<size_t>(at);
  return call.reject(concat("index ", value, " is outside a sequence of ", count));
}

}  // namespace

Result<Values> sequence_empty(Call& call) {
  const int64_t number = call.int_of("dtype", static_cast<int64_t>(Type::Float32));
  if (const auto type = type_of(number)) return Values{sequence_of(*type, {})};
  return call.reject(concat("dtype ", number, " is no type"));
}

Result<Values> sequence_construct(Call& call) {
  Values elements;
  for (size_t k = 0; k < call.operands(); ++k) {
    if (!call.operand(k).is_tensor()) return call.reject(concat("input ", k, " is no tensor"));
    elements.push_back(call.operand(k));
  }
  return Values{sequence_of(call.type(0), std::move(elements))};
}

Result<Values> sequence_insert(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Value all, sequence(call));
  size_t at = all.elements.size();
  if (call.has(2)) {
    LATHE_ASSIGN_OR_RETURN(at, index_of(call, 2, at, at));
  }
  if (!call.operand(1).is_tensor()) return call.reject("input 1 is no tensor");
  all.type = call.type(1);
  all.elements.insert(all.elements.begin() + static_cast<std::ptrdiff_t>(at), call.operand(1));
  return Values{std::move(all)};
}

Result<Values> sequence_erase(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Value all, sequence(call));
  const size_t count = all.elements.size();
  if (count == 0) return call.reject("the sequence has no elements");
  size_t at = count - 1;
  if (call.has(1)) {
    LATHE_ASSIGN_OR_RETURN(at, index_of(call, 1, count, count - 1));
  }
  all.elements.erase(all.elements.begin() + static_cast<std::ptrdiff_t>(at));
  return Values{std::move(all)};
}

Result<Values> sequence_at(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Value all, sequence(call));
  const size_t count = all.elements.size();
  if (count == 0) return call.reject("the sequence has no elements");
  LATHE_ASSIGN_OR_RETURN(const size_t at, index_of(call, 1, count, count - 1));
  return Values{all.elements[at]};
}

Result<Values> sequence_length(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Value all, sequence(call));
  return Values{integers_content(Type::Int64, {}, {static_cast<int64_t>(all.elements.size())})};
}

namespace {

constexpr int64_t kMaxParts = int64_t{1} << 20;

Result<Values> parts_of(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), call.rank(0)));
  const auto at = static_cast<size_t>(axis);
  const int64_t size = call.shape(0)[at];
  std::vector<int64_t> sizes;
  if (call.has(1)) {
    LATHE_ASSIGN_OR_RETURN(sizes, call.integers(1));
    if (call.rank(1) == 0) {
      const int64_t part = sizes[0];
      if (part <= 0 || size / part > kMaxParts) {
        return call.reject(concat("parts of ", part, " elements of ", size, " are too many"));
      }
      sizes.assign((size + part - 1) / part, part);
      if (size % part != 0) sizes.back() = size % part;
    }
  }
  if (!call.has(1)) {
    if (size > kMaxParts) return call.reject(concat(size, " parts are too many"));
    sizes.assign(size, 1);
  }
  const Tensor x = call.tensor(0);
  Shape begin(x.shape().size(), 0), extent = x.shape();
  Values parts;
  for (const int64_t each : sizes) {
    extent[at] = each;
    Tensor part = ops::slice(x, begin, extent);
    if (!call.has(1) && call.int_of("keepdims", 1) == 0) part = ops::squeeze(part, {{axis}});
    parts.emplace_back(part, call.type(0));
    begin[at] += each;
  }
  if (begin[at] == size) return parts;
  return call.reject(concat("parts of ", bracketed(sizes), " do not make ", size));
}

Result<Values> concatenated(Call& call) {
  std::vector<Tensor> tensors;
  for (size_t k = 0; k < call.operands(); ++k) tensors.push_back(call.tensor(k));
  const bool is_new = call.int_of("new_axis", 0) != 0;
  const int rank = call.rank(0) + (is_new ? 1 : 0);
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), rank));
  return like_operand(call, is_new ? ops::stack(tensors, axis) : ops::concatenate(tensors, axis));
}

}  // namespace

Result<Values> split_to_sequence(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Values parts, with_strings(call, parts_of));
  return Values{sequence_of(call.type(0), std::move(parts))};
}

Result<Values> concat_from_sequence(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Value all, sequence(call));
  if (all.elements.empty()) return call.reject("the sequence has no elements");
  Call elements = call.with_operands(std::move(all.elements));
  return with_strings(elements, concatenated);
}

// A present value is represented by itself.
Result<Values> optional(Call& call) { return Values{call.operand(0)}; }

Result<Values> optional_get_element(Call& call) {
  if (!call.has(0)) return call.reject("the optional has no element");
  return Values{call.operand(0)};
}

Result<Values> optional_has_element(Call& call) {
  return Values{integers_content(Type::Bool, {}, {call.has(0) ? 1 : 0})};
}

}  // namespace lathe::onnx::rows
