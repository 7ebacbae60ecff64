// Operators that make tensors of sizes and numbers: constants, ranges, masks.
#include <algorithm>
#include <array>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/movement.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/indexing.h"

namespace lathe::onnx::rows {

using graph::Builder;

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 32;

// The result type of attribute `name`, or the default.
Result<Type> type_named(const Call& call, std::string_view name, Type otherwise) {
  const int64_t number = call.int_of(name, static_cast<int64_t>(otherwise));
  if (const auto type = type_of(number); type && *type != Type::String) return *type;
  return call.reject(concat(name, ' ', number, " is no type of numbers"));
}

}  // namespace

Result<Values> shape(Call& call) {
  const Shape sizes = call.shape(0);
  const int64_t rank = call.rank(0);
  const auto inside = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = inside(call.int_of("start", 0)), end = inside(call.int_of("end", rank));
  if (PaddedAxes* rows = call.tracer().padded_axes()) {
    if (const auto padded = rows->sizes_of(call.operand(0).tensor, start, end)) {
      call.tracer().assume(padded->sizes, padded->nominal);
      return Values{padded->sizes};
    }
  } else if (call.tracer().depends_on_length(call.operand(0))) {
    return call.reject_length();
  }
  Shape part;
  if (start < end) part.assign(sizes.begin() + start, sizes.begin() + end);
  return Values{integers_content(Type::Int64, {static_cast<int64_t>(part.size())}, part)};
}

Result<Values> size(Call& call) {
  if (call.tracer().depends_on_length(call.operand(0))) {
    return call.reject_length();
  }
  return Values{integers_content(Type::Int64, {}, {graph::element_count(call.shape(0))})};
}

Result<Values> constant(Call& call) {
  using Kind = AttributeProto::Kind;
  for (const AttributeProto& node : call.node().attributes) {
    const AttributeProto* each = call.attribute(node.name);
    if (each == nullptr) continue;
    switch (each->kind) {
      case Kind::Tensor:
        if (each->tensors.size() == 1 && !each->tensors[0].external) {
          return Values{each->tensors[0].content};
        }
        return call.reject("its value is in another file");
      case Kind::Int:
        return Values{integers_content(Type::Int64, {}, {each->integer})};
      case Kind::Ints:
        return Values{integers_content(Type::Int64, {static_cast<int64_t>(each->integers.size())},
                                       each->integers)};
      case Kind::Float:
        return Values{numbers_content(Type::Float32, {}, {each->number})};
      case Kind::Floats:
        return Values{numbers_content(Type::Float32, {static_cast<int64_t>(each->numbers.size())},
                                      {each->numbers.begin(), each->numbers.end()})};
      case Kind::String:
        return Values{strings_content({}, {each->string})};
      case Kind::Strings:
        return Values{strings_content({static_cast<int64_t>(each->strings.size())}, each->strings)};
      default:
        return call.reject(concat("attribute '", node.name, "' is of an unknown kind"));
    }
  }
  return call.reject("has no value");
}

Result<Values> constant_of_shape(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const LinearIntegers sizes, call.linear_integers(0));
  const AttributeProto* value = call.attribute("value");
  Content content = numbers_content(Type::Float32, {1}, {0});
  if (value != nullptr && !value->tensors.empty()) content = value->tensors[0].content;
  if (content.count() != 1 || content.type == Type::String) {
    return call.reject("its value must be one number");
  }
  const Tensor same = call.builder().constant(dtype_of(content.type), sizes.values, content.data);
  LATHE_ASSIGN_OR_RETURN(const Tensor filled, write_rows(call, same, sizes));
  return Values{Value(filled, content.type)};
}

Result<Values> range(Call& call) {
  const DType dtype = dtype_of(call.type(0));
  Builder& builder = call.builder();
  if (!scalar::is_float(dtype)) {
    std::array<LinearIntegers, 3> operands{{{}, {}, {{1}, {0}}}};
    for (size_t k = 0; k < operands.size() && (k < 2 || call.has(2)); ++k) {
      LATHE_ASSIGN_OR_RETURN(operands[k], call.linear_integers(k));
      if (operands[k].values.size() != 1)
        return call.reject(concat("input ", k, " must be one number"));
    }
    const int64_t start = operands[0].values[0], limit = operands[1].values[0];
    const int64_t delta = operands[2].values[0], later = operands[0].steps[0];
    if (delta == 0) return call.reject("its step is 0");
    const double span = static_cast<double>(limit) - static_cast<double>(start);
    if (std::abs(span) > static_cast<double>(kMaxElements)) {
      return call.reject(concat("from ", start, " to ", limit, " is too long"));
    }
    const int64_t count = std::max<int64_t>(
        (limit - start) / delta + ((limit - start) % delta != 0 && (limit > start) == (delta > 0)),
        0);
    const Tensor index = builder.convert(builder.iota({count}, 0), dtype);
    const Tensor step = builder.full({}, scalar::Number::integer(dtype, delta));
    const Tensor first = later != 0 ? builder.reshape(call.tensor(0), {})
                                    : builder.full({}, scalar::Number::integer(dtype, start));
    Tensor values = first + index * step;
    const bool has_rows = later != operands[1].steps[0];
    if (operands[2].steps[0] != 0 || (has_rows && (later != 0 || start != 0 || delta != 1))) {
      return call.reject_length();
    }
    if (has_rows) {
      LATHE_ASSIGN_OR_RETURN(values, write_rows(call, values, {{limit}, operands[1].steps}));
    }
    return like_operand(call, values);
  }
  LATHE_ASSIGN_OR_RETURN(const double start, call.number(0));
  LATHE_ASSIGN_OR_RETURN(const double limit, call.number(1));
  double delta = 1;  // which com.microsoft may leave out
  if (call.has(2)) {
    LATHE_ASSIGN_OR_RETURN(delta, call.number(2));
  }
  const double count = std::max(std::ceil((limit - start) / delta), 0.0);
  if (!(count <= static_cast<double>(kMaxElements))) {
    return call.reject(concat("from ", start, " to ", limit, " by ", delta, " does not end"));
  }
  const Tensor index = builder.convert(builder.iota({static_cast<int64_t>(count)}, 0), dtype);
  const Tensor first = builder.reshape(call.tensor(0), {}),
               step = builder.full({}, scalar::Number::from(dtype, delta));
  return like_operand(call, first + index * step);
}

Result<Values> eye_like(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, type_named(call, "dtype", call.type(0)));
  const Shape shape = call.shape(0);
  if (call.tracer().depends_on_length(call.operand(0))) return call.reject_length();
  if (shape.size() != 2) return call.reject(concat("input ", bracketed(shape), " is no matrix"));
  Builder& builder = call.builder();
  const auto shift =
      static_cast<int32_t>(std::clamp<int64_t>(call.int_of("k", 0), -1 << 30, 1 << 30));
  const Tensor diagonal =
      builder.iota({shape[0], 1}, 0) + builder.full({}, scalar::Number::of(shift));
  const Tensor ones = builder.iota({1, shape[1]}, 1) == diagonal;
  return Values{Value(builder.convert(ones, dtype_of(type)), type)};
}

Result<Values> trilu(Call& call) {
  int64_t shift = 0;
  if (call.has(1)) {
    LATHE_ASSIGN_OR_RETURN(shift, call.integer(1));
  }
  const Tensor x = call.tensor(0);
  const int rank = x.rank();
  if (rank < 2) return call.reject(concat("input ", bracketed(x.shape()), " is no matrix"));
  Builder& builder = call.builder();
  Shape rows(x.shape().size(), 1), columns = rows;
  rows[rows.size() - 2] = x.shape()[rows.size() - 2];
  columns.back() = x.shape().back();
  const auto by = static_cast<int32_t>(std::clamp<int64_t>(shift, -1 << 30, 1 << 30));
  const Tensor diagonal = builder.iota(rows, rank - 2) + builder.full({}, scalar::Number::of(by));
  const Tensor column = builder.iota(columns, rank - 1);
  const Tensor is_inside = call.int_of("upper", 1) != 0 ? column >= diagonal : column <= diagonal;
  return like_operand(call, select(is_inside, x, zero(x)));
}

namespace {

Result<Values> one_hot_numbers(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const double depth, call.number(1));
  if (!(depth >= 0 && depth <= static_cast<double>(kMaxElements))) {
    return call.reject(concat("depth ", depth, " is no size"));
  }
  if (call.shape(2) != Shape{2}) return call.reject("its values must be two");
  const int rank = call.rank(0) + 1;
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -1), rank));
  Builder& builder = call.builder();
  const Tensor values = call.tensor(2);
  const auto value = [&](int64_t at) {
    return builder.reshape(
        ops::gather(values, builder.full({}, scalar::Number::of(static_cast<int32_t>(at))), 0), {});
  };
  const Tensor off = value(0), on = value(1);
  const Tensor hot = ops::one_hot_along(call.tensor(0), static_cast<int64_t>(depth), axis, on, off);
  return like_operand(call, hot, 2);
}

}  // namespace

Result<Values> one_hot(Call& call) { return with_strings(call, one_hot_numbers); }

}  // namespace lathe::onnx::rows
