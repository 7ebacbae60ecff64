// Operators that move elements.
#include "lathe/import/onnx/operators/movement.h"

#include <algorithm>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::DType;

Values like_operand(const Call& call, Tensor x, size_t i) { return {Value(x, call.type(i))}; }

Values reshaped(Call& call, Shape shape) {
  const Value& x = call.operand(0);
  if (x.constant && !x.tensor.valid()) {
    Content content = *x.constant;
    content.shape = std::move(shape);
    return {Value(std::move(content))};
  }
  return like_operand(call, call.builder().reshape(call.tensor(0), std::move(shape)));
}

Result<Values> with_strings(Call& call, Result<Values> (*function)(Call& call)) {
  std::vector<std::string> texts = {std::string{}};  // index 0 is padding
  Values operands;
  bool has_strings = false;
  for (size_t k = 0; k < call.operands(); ++k) {
    const Value& x = call.operand(k);
    if (!x.is_tensor() || x.type != Type::String) {
      operands.push_back(x);
      continue;
    }
    has_strings = true;
    std::vector<int64_t> numbers(x.constant->strings.size());
    std::iota(numbers.begin(), numbers.end(), static_cast<int64_t>(texts.size()));
    texts.insert(texts.end(), x.constant->strings.begin(), x.constant->strings.end());
    operands.emplace_back(integers_content(Type::Int32, x.shape(), numbers));
  }
  if (!has_strings) return function(call);
  Call numbered = call.with_operands(std::move(operands));
  LATHE_ASSIGN_OR_RETURN(Values results, function(numbered));
  for (Value& each : results) {
    if (!each.is_tensor() || each.type != Type::Int32) continue;
    LATHE_ASSIGN_OR_RETURN(const Content indices, call.tracer().content(each));
    std::vector<std::string> moved;
    int64_t bytes = 0;
    for (int64_t k = 0; k < indices.count(); ++k) {
      const auto index = static_cast<size_t>(indices.integer(k));
      if (index < texts.size()) bytes += static_cast<int64_t>(texts[index].size());
    }
    LATHE_TRY(call.tracer().claim(indices.count(), bytes));
    for (int64_t k = 0; k < indices.count(); ++k) {
      const auto index = static_cast<size_t>(indices.integer(k));
      if (index >= texts.size()) return call.reject("strings are no numbers");
      moved.push_back(texts[index]);
    }
    each = Value(strings_content(indices.shape, std::move(moved)));
  }
  return results;
}

Result<Tensor> write_rows(Call& call, Tensor x, const LinearIntegers& sizes, size_t first) {
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows == nullptr) return x;
  std::vector<int> axes;
  for (size_t k = 0; k < sizes.values.size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(const bool is_all, rows->is_total_length(sizes, k));
    if (is_all) axes.push_back(static_cast<int>(first + k));
  }
  return rows->with_padded_axes(x, axes);
}

Result<std::vector<int>> axes_of(const Call& call, const std::vector<int64_t>& axes_input,
                                 int rank) {
  std::vector<int> axes;
  for (const int64_t each : axes_input) {
    LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(each, rank));
    if (std::ranges::count(axes, axis) > 0) {
      return call.reject(concat("axes ", bracketed(axes_input), " name one axis twice"));
    }
    axes.push_back(axis);
  }
  return axes;
}

Result<Values> identity(Call& call) { return Values{call.operand(0)}; }

namespace {

// If unpadded sizes happen to equal the capacity, the shape operand determines which axes are
// padded.
Status check_reshaped(Call& call, Tensor y, const LinearIntegers& axes_input) {
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows == nullptr) return {};
  LATHE_TRY(rows->propagate());
  const Tensor x = call.operand(0).tensor;
  const bool copies_sizes = call.int_of("allowzero", 0) == 0;
  for (size_t k = 0; k < axes_input.values.size(); ++k) {
    const auto axis = static_cast<int>(k);
    LATHE_ASSIGN_OR_RETURN(const bool is_all, rows->is_total_length(axes_input, k));
    if (axes_input.steps[k] == 0 && axes_input.values[k] == -1) continue;
    const bool copies = axes_input.steps[k] == 0 && axes_input.values[k] == 0 && copies_sizes;
    const bool is_row = is_all || (copies && rows->is_padded(x, axis));
    if (rows->is_padded(y, axis) != is_row) return call.reject_length();
  }
  return {};
}

}  // namespace

Result<Values> reshape(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto axes_input, call.moved_linear("shape"));
  if (!axes_input) return call.reject("has no shape");
  const Shape from = call.shape(0);
  Shape shape = axes_input->values;
  const bool copies_sizes = call.int_of("allowzero", 0) == 0;
  int64_t rest = graph::element_count(from), open = -1, others = 1;
  bool is_huge = false;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0 && copies_sizes && k < from.size()) shape[k] = from[k];
    if (shape[k] == -1 && open < 0) {
      open = static_cast<int64_t>(k);
    } else if (shape[k] < 0) {
      return call.reject(concat("shape ", bracketed(axes_input->values), " has negative sizes"));
    } else {
      is_huge = is_huge || __builtin_mul_overflow(others, shape[k], &others);
    }
  }
  if (is_huge) return call.reject(concat("shape ", bracketed(axes_input->values), " is too large"));
  if (open >= 0) {
    if (others == 0 || rest % others != 0) {
      return call.reject(concat("shape ", bracketed(axes_input->values),
                                " does not divide the elements of ", bracketed(from)));
    }
    shape[open] = rest / others;
  }
  if (graph::element_count(shape) != rest) {
    return call.reject(concat("input ", bracketed(from), " has ", rest, " elements, shape ",
                              bracketed(axes_input->values), " has others"));
  }
  Values results = reshaped(call, std::move(shape));
  LATHE_TRY(check_reshaped(call, results[0].tensor, *axes_input));
  return results;
}

Result<Values> flatten(Call& call) {
  const Shape from = call.shape(0);
  const int rank = call.rank(0);
  const int64_t axes_input = call.int_of("axis", 1);
  if (axes_input < -rank || axes_input > rank) {
    return call.reject(concat("axis ", axes_input, " is outside a tensor of ", rank, " axes"));
  }
  const auto end = from.begin() + (axes_input < 0 ? axes_input + rank : axes_input);
  return reshaped(
      call, {graph::element_count({from.begin(), end}), graph::element_count({end, from.end()})});
}

Result<Values> squeeze(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto axes_input, call.moved("axes"));
  const Shape from = call.shape(0);
  std::vector<bool> drops(from.size());
  if (axes_input) {
    LATHE_ASSIGN_OR_RETURN(const auto axes, axes_of(call, *axes_input, call.rank(0)));
    for (const int axis : axes) drops[axis] = true;
  }
  Shape shape;
  for (size_t k = 0; k < from.size(); ++k) {
    if (drops[k] && from[k] != 1) {
      return call.reject(
          concat("axis ", k, " of shape ", bracketed(from), " does not have size 1"));
    }
    if (axes_input ? !drops[k] : from[k] != 1) shape.push_back(from[k]);
  }
  return reshaped(call, std::move(shape));
}

Result<Values> unsqueeze(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto axes_input, call.moved("axes"));
  if (!axes_input) return call.reject("has no axes");
  const int rank = call.rank(0) + static_cast<int>(axes_input->size());
  LATHE_ASSIGN_OR_RETURN(const auto axes, axes_of(call, *axes_input, rank));
  Shape shape;
  for (int k = 0, from = 0; k < rank; ++k) {
    const bool is_new = std::ranges::count(axes, k) > 0;
    shape.push_back(is_new ? 1 : call.shape(0)[from++]);
  }
  return reshaped(call, std::move(shape));
}

namespace {

Result<Values> transpose_numbers(Call& call) {
  std::vector<int64_t> axes_input = call.ints_of("perm");
  if (!call.has_attribute("perm")) {
    axes_input.resize(call.rank(0));
    std::iota(axes_input.rbegin(), axes_input.rend(), 0);
  }
  if (axes_input.size() != call.shape(0).size()) {
    return call.reject(
        concat("perm ", bracketed(axes_input), " does not fit shape ", bracketed(call.shape(0))));
  }
  LATHE_ASSIGN_OR_RETURN(const auto order, axes_of(call, axes_input, call.rank(0)));
  return like_operand(call, call.builder().permute(call.tensor(0), order));
}

Result<Values> expand_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const LinearIntegers sizes, call.linear_integers(1));
  Shape shape = sizes.values;
  const Shape from = call.shape(0);
  if (shape.size() < from.size()) shape.insert(shape.begin(), from.size() - shape.size(), 1);
  const size_t first = shape.size() - from.size(), axes_input = shape.size() - sizes.values.size();
  const PaddedAxes* rows = call.tracer().padded_axes();
  for (size_t k = 0; k < from.size(); ++k) {
    const bool is_fixed = first + k < axes_input || sizes.steps[first + k - axes_input] == 0;
    const bool has_rows =
        rows != nullptr && rows->is_padded(call.operand(0).tensor, static_cast<int>(k));
    if (has_rows && is_fixed && shape[first + k] != 1) return call.reject_length();
    if (shape[first + k] == 1) shape[first + k] = from[k];
  }
  LATHE_ASSIGN_OR_RETURN(const Tensor x, write_rows(call, ops::broadcast_to(call.tensor(0), shape),
                                                    sizes, axes_input));
  return like_operand(call, x);
}

Result<Values> tile_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Shape repeats, call.integers(1));
  const Tensor x = call.tensor(0);
  if (repeats.size() != x.shape().size() || std::ranges::find(repeats, 0) == repeats.end()) {
    return like_operand(call, ops::tile(x, repeats));
  }
  Shape shape = x.shape();
  for (size_t k = 0; k < shape.size(); ++k) shape[k] *= repeats[k];
  return like_operand(call, call.builder().full(shape, scalar::Number::from(x.dtype(), 0)));
}

Result<Values> concat_numbers(Call& call) {
  if (call.operands() == 0) return call.reject("has no inputs");
  std::vector<Tensor> tensors;
  for (size_t k = 0; k < call.operands(); ++k) tensors.push_back(call.tensor(k));
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 1), call.rank(0)));
  if (tensors.size() == 1) return Values{call.operand(0)};
  if (PaddedAxes* rows = call.tracer().padded_axes();
      rows != nullptr && rows->is_past(tensors[0], axis) && tensors.size() == 2) {
    return like_operand(call, rows->append_rows(tensors[0], tensors[1]));
  }
  return like_operand(call, ops::concatenate(tensors, axis));
}

Result<std::vector<int64_t>> sizes_of_parts(Call& call, int64_t size) {
  LATHE_ASSIGN_OR_RETURN(const auto axes_input, call.moved("split"));
  if (axes_input) {
    int64_t left = axes_input->size() == call.results() ? size : -1;
    for (const int64_t each : *axes_input) left = each < 0 || each > left ? -1 : left - each;
    if (left == 0) return *axes_input;
    return call.reject(concat("parts of ", bracketed(*axes_input), " do not make ", size, " in ",
                              call.results(), " outputs"));
  }
  const auto count = call.int_of("num_outputs", static_cast<int64_t>(call.results()));
  if (count < 1 || count != static_cast<int64_t>(call.results())) {
    return call.reject(
        concat("cannot split into ", count, " parts for ", call.results(), " outputs"));
  }
  const int64_t part = (size + count - 1) / count;
  std::vector<int64_t> sizes(count, part);
  for (int64_t k = 0; k < count; ++k) {
    sizes[k] = std::clamp<int64_t>(size - k * part, 0, part);
  }
  return sizes;
}

Result<Values> split_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), call.rank(0)));
  const auto at = static_cast<size_t>(axis);
  LATHE_ASSIGN_OR_RETURN(const auto sizes, sizes_of_parts(call, call.shape(0)[at]));
  const Tensor x = call.tensor(0);
  Shape begin(x.shape().size(), 0), size = x.shape();
  Values parts;
  for (const int64_t each : sizes) {
    size[at] = each;
    parts.emplace_back(ops::slice(x, begin, size), call.type(0));
    begin[at] += each;
  }
  return parts;
}

// Elements starts[k] to ends[k] of an axis, if these depend on the valid length; otherwise nothing.
Result<std::optional<Tensor>> padded_slice(Call& call, Tensor x, int axis, size_t k,
                                           const LinearIntegers& starts,
                                           const LinearIntegers& ends) {
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows == nullptr) return std::nullopt;
  const int64_t start = starts.values[k], end = ends.values[k];
  const int64_t full = x.shape()[axis];
  const bool has_rows = rows->is_padded(x, axis);
  const bool is_fixed = starts.steps[k] == 0 && ends.steps[k] == 0;
  const bool is_there = start >= 0 && start < end && end <= rows->min_length();
  if (rows->is_past(x) || (is_fixed && (!has_rows || (start >= 0 && !is_there)))) {
    return std::nullopt;
  }
  Builder& builder = call.builder();
  if (is_fixed && is_there) {
    Shape first(x.shape().size(), 0), size = x.shape();
    first[axis] = start;
    size[axis] = end - start;
    const Tensor part = ops::slice(x, first, size);
    rows->accept_reduced(part, x, {axis});
    return part;
  }
  if (starts.steps[k] == 0 && start == 0) {
    LATHE_ASSIGN_OR_RETURN(const bool is_all, rows->is_total_length(ends, k));
    if (!is_all || end > full) return call.reject_length();
    Shape size = x.shape();
    size[axis] = end;
    return rows->with_padded_axes(ops::slice(x, {}, size), {axis});
  }
  Tensor first;
  int64_t count = full - start;
  if (is_fixed && end >= full) {
    count = -start;
    first =
        rows->total_length() + builder.full({}, scalar::Number::of(static_cast<int32_t>(start)));
  } else if (starts.steps[k] != 0) {
    const bool is_rest = has_rows && starts.steps[k] == 1 && ends.steps[k] == 0 && end >= full;
    if (ends.steps[k] == starts.steps[k] && end <= full)
      count = end - start;
    else if (!is_rest)
      return call.reject_length();
    const Tensor element =
        ops::slice(call.tensor(*call.input_index("starts")), {static_cast<int64_t>(k)}, Shape{1});
    first = builder.reshape(builder.cast(element, DType::I32), {});
  }
  const int64_t least =
      is_fixed ? rows->min_length() + start : rows->min_size(start, starts.steps[k]);
  if (!first.valid() || count < 0 || least < 0 || starts.steps[k] < 0) {
    return call.reject_length();
  }
  const Tensor part = ops::gather(x, builder.iota({count}, 0) + first, axis);
  rows->accept_reduced(part, x, {axis});
  return part;
}

Result<Values> slice_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto starts, call.moved_linear("starts"));
  LATHE_ASSIGN_OR_RETURN(const auto ends, call.moved_linear("ends"));
  LATHE_ASSIGN_OR_RETURN(auto axes_input, call.moved("axes"));
  LATHE_ASSIGN_OR_RETURN(const auto steps, call.moved("steps"));
  if (!starts || !ends) return call.reject("has no starts or ends");
  if (!axes_input) {
    axes_input.emplace(starts->values.size());
    std::iota(axes_input->begin(), axes_input->end(), 0);
  }
  if (starts->values.size() != ends->values.size() || starts->values.size() != axes_input->size() ||
      (steps && steps->size() != starts->values.size())) {
    return call.reject(concat("starts ", bracketed(starts->values), ", ends ",
                              bracketed(ends->values), " and axes ", bracketed(*axes_input),
                              " have not one length"));
  }
  LATHE_ASSIGN_OR_RETURN(const auto axes, axes_of(call, *axes_input, call.rank(0)));
  Tensor x = call.tensor(0);
  Shape size = call.shape(0), begin(size.size(), 0), step(size.size(), 1);
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto at = static_cast<size_t>(axes[k]);
    LATHE_ASSIGN_OR_RETURN(const auto part, padded_slice(call, x, axes[k], k, *starts, *ends));
    if (part) {
      if (steps && (*steps)[k] != 1)
        return call.reject("has a step other than 1 along a padded axis");
      x = *part;
      size[at] = x.shape()[at];
      continue;
    }
    const int64_t full = size[at], by = steps ? (*steps)[k] : 1;
    if (by == 0) return call.reject("a step is 0");
    const int64_t low = by < 0 ? -1 : 0, high = by < 0 ? full - 1 : full;
    const auto inside = [&](int64_t index) {
      return std::clamp(index < 0 ? std::max(index, -full - 1) + full : index, low, high);
    };
    // With a negative step only the end may be before the first element.
    const int64_t first = std::max(inside(starts->values[k]), std::min<int64_t>(high, 0));
    const int64_t last = inside(ends->values[k]);
    const int64_t span = by > 0 ? last - first : first - last;
    const uint64_t stride = by > 0 ? static_cast<uint64_t>(by) : -static_cast<uint64_t>(by);
    begin[at] = std::max<int64_t>(first, 0);
    size[at] = span <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / stride) + 1;
    step[at] = by;
  }
  return like_operand(call, ops::strided_slice(x, begin, step, size));
}

Result<Values> pad_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto pads, call.moved("pads"));
  LATHE_ASSIGN_OR_RETURN(const auto axes_input, call.moved("axes"));
  if (!pads) return call.reject("has no pads");
  std::vector<int> axes(call.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  if (axes_input) {
    LATHE_ASSIGN_OR_RETURN(axes, axes_of(call, *axes_input, call.rank(0)));
  }
  if (pads->size() != 2 * axes.size()) {
    return call.reject(
        concat("pads ", bracketed(*pads), " are not two for each of ", axes.size(), " axes"));
  }
  ops::Pairs paddings(call.shape(0).size());
  for (size_t k = 0; k < axes.size(); ++k) {
    paddings[axes[k]] = {(*pads)[k], (*pads)[k + axes.size()]};
  }
  const Tensor x = call.tensor(0);
  const std::string mode = call.string_of("mode", "constant");
  if (mode == "reflect") return like_operand(call, ops::pad_by(ops::PadMode::Reflect, x, paddings));
  if (mode == "edge") return like_operand(call, ops::pad_by(ops::PadMode::Edge, x, paddings));
  if (mode == "wrap") return like_operand(call, ops::pad_by(ops::PadMode::Wrap, x, paddings));
  if (mode != "constant") return call.reject(concat("knows no mode '", mode, '\''));
  if (call.input_index("pads") && call.has(2)) {
    const Tensor value = call.builder().reshape(call.tensor(2), {});
    return like_operand(call, ops::pad_with(x, paddings, value));
  }
  return like_operand(call, ops::pad(x, paddings, call.float_of("value", 0)));
}

Result<Values> center_crop_pad_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto sizes, call.integers(1));
  std::vector<int64_t> axes_input = call.ints_of("axes");
  if (!call.has_attribute("axes")) {
    axes_input.resize(call.rank(0));
    std::iota(axes_input.begin(), axes_input.end(), 0);
  }
  LATHE_ASSIGN_OR_RETURN(const auto axes, axes_of(call, axes_input, call.rank(0)));
  if (axes.size() != sizes.size()) {
    return call.reject(
        concat("shape ", bracketed(sizes), " is not one size for each of ", axes.size(), " axes"));
  }
  ops::Pairs paddings(call.shape(0).size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto at = static_cast<size_t>(axes[k]);
    if (sizes[k] < 0) return call.reject(concat("there is no size ", sizes[k]));
    if (const PaddedAxes* rows = call.tracer().padded_axes();
        rows != nullptr && rows->is_padded(call.operand(0).tensor, axes[k])) {
      return call.reject_length();
    }
    const int64_t more = sizes[k] - call.shape(0)[at];
    const int64_t before = more < 0 ? -(-more / 2) : more / 2;
    paddings[at] = {before, more - before};
  }
  return like_operand(call, ops::pad(call.tensor(0), paddings, 0));
}

}  // namespace

Result<Values> transpose(Call& call) { return with_strings(call, transpose_numbers); }
Result<Values> expand(Call& call) { return with_strings(call, expand_numbers); }
Result<Values> tile(Call& call) { return with_strings(call, tile_numbers); }
Result<Values> concat_(Call& call) { return with_strings(call, concat_numbers); }
Result<Values> split(Call& call) { return with_strings(call, split_numbers); }
Result<Values> slice(Call& call) { return with_strings(call, slice_numbers); }
Result<Values> pad(Call& call) { return with_strings(call, pad_numbers); }
Result<Values> center_crop_pad(Call& call) { return with_strings(call, center_crop_pad_numbers); }

}  // namespace lathe::onnx::rows
