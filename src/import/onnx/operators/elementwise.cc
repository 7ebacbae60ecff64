// Elementwise operators of ONNX, of one tensor or of several that broadcast, that are not a single
// scalar operation.
#include <cmath>
#include <limits>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"

namespace lathe::onnx::rows {

namespace {

Tensor is(Op op, Tensor x, double value) { return map(op, x, number_like(x, value)); }
Tensor or_else(Tensor condition, Tensor x, double otherwise) {
  return select(condition, x, number_like(x, otherwise));
}

// Every operand folded in, all of one type.
Tensor folded(Call& call, Op op) {
  Tensor all = call.tensor(0);
  for (size_t i = 1; i < call.operands(); ++i) all = map(op, all, call.tensor(i));
  return all;
}

// As in C: the result has the sign of x.
Tensor remainder(Tensor x, Tensor y) {
  if (!scalar::is_float(x.dtype())) return x - map(Op::Div, x, y) * y;
  const Tensor size = absolute(x), step = absolute(y);
  const bool wide = x.dtype() == DType::F64;
  const Tensor rest = wide ? remainder64(size, step) : map(Op::Mod, size, step);
  return select(map(Op::Lt, x, zero(x)), -rest, rest);
}

// The power of an integer: of a negative one nothing is left but of 1 and -1.
Tensor integer_power(Tensor x, Tensor exponent) {
  Builder& builder = *x.builder;
  const auto one = [&](int64_t value) {
    return builder.full({}, scalar::Number::integer(exponent.dtype(), value));
  };
  // Beyond 63 every power but those of -1, 0 and 1 has wrapped: its parity is all that counts.
  const Tensor odd = map(Op::BitAnd, exponent, one(1));
  Tensor rest = select(exponent > one(63), one(62) + odd, exponent);
  Tensor result = number_like(x, 1), square = x;
  for (int bit = 0; bit < 6; ++bit) {
    const Tensor is_set = map(Op::Ne, map(Op::BitAnd, rest, one(int64_t{1} << bit)), one(0));
    result = select(is_set, result * square, result);
    if (bit < 5) square = square * square;
  }
  const Tensor of_unit = select(map(Op::Ne, odd, one(0)), x, x * x);
  const Tensor below = select(is(Op::Eq, absolute(x), 1), of_unit, number_like(x, 0));
  return select(exponent < one(0), below, result);
}

Result<Values> compared(Call& call, Op op) {
  Tensor x = call.tensor(0), y = call.tensor(1);
  if (x.dtype() == DType::Bool) {
    x = cast_to(x, DType::I32);
    y = cast_to(y, DType::I32);
  }
  return Values{map(op, x, y)};
}

// Index of an element of `from` for one of a shape that it broadcasts to.
int64_t broadcast_index(const Shape& from, const Shape& to, int64_t index) {
  int64_t offset = 0, step = 1;
  for (size_t k = 0; k < to.size(); ++k) {
    const int64_t size = to[to.size() - 1 - k];
    const int64_t at = index % size;
    index /= size;
    if (k >= from.size()) continue;
    const int64_t extent = from[from.size() - 1 - k];
    offset += (extent == 1 ? 0 : at) * step;
    step *= extent;
  }
  return offset;
}

// Broadcasting can make far more of them than the file has.
constexpr int64_t kMaxStrings = int64_t{1} << 24;

Result<Shape> common_shape(const Call& call, std::initializer_list<const Content*> contents) {
  Shape common;
  for (const Content* content : contents) {
    const Shape& shape = content->shape;
    if (shape.size() > common.size()) {
      common.insert(common.begin(), shape.size() - common.size(), 1);
    }
    for (size_t k = 0; k < shape.size(); ++k) {
      int64_t& size = common[common.size() - shape.size() + k];
      if (size == 1) size = shape[k];
      if (shape[k] != 1 && shape[k] != size) {
        return call.reject(concat("shapes do not broadcast: ", size, " against ", shape[k]));
      }
    }
  }
  int64_t count = 1;
  for (const int64_t size : common) {
    if (size > 0 && count > kMaxStrings / size) {
      return call.reject(concat(bracketed(common), " are more than ", kMaxStrings, " strings"));
    }
    count *= std::max<int64_t>(size, 1);
  }
  return common;
}

// y with trailing axes of one element, so that its first axis is `axis` of `rank`.
Tensor aligned_to_axis(Tensor y, int64_t axis, int rank) {
  Shape shape = y.shape();
  const auto rank_of_y = static_cast<int64_t>(shape.size());
  for (int64_t k = axis + rank_of_y; k < rank; ++k) shape.push_back(1);
  return y.builder->reshape(y, shape);
}

// Error: one of both has strings, and not the other.
Result<bool> have_strings(const Call& call, size_t i, size_t j) {
  const bool has = call.type(i) == Type::String;
  if (has == (call.type(j) == Type::String)) return has;
  return call.reject(
      concat("inputs of one type, not ", text(call.type(i)), " and ", text(call.type(j))));
}

Tensor elu_of(Tensor x, float alpha) {
  return select(x > zero(x), x, alpha * function(Op::Expm1, minimum(x, zero(x))));
}

// At 0 the maximum must have slope 1, as the absolute value has: x goes first.
Tensor softplus_of(Tensor x) {
  return maximum(x, zero(x)) + function(Op::Log1p, exp_of(-absolute(x)));
}

// 0.5 x (1 + erf(x / sqrt 2)), or approximate as x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)).
Tensor gelu_of(Tensor x, bool approximate) {
  const auto by = [&x](double value) { return number_like(x, value); };
  if (!approximate) {
    return by(0.5) * x * (by(1) + function(Op::Erf, by(0.70710678118654752) * x));
  }
  return x * sigmoid_of((by(0.071354816272600248) * (x * x) + by(1.5957691216057308)) * x);
}

// In f32 where x is a half, which would lose digits in between.
template <class Of>
Result<Values> wide(Call& call, Of of) {
  const Tensor x = call.tensor(0);
  return Values{cast_like(of(in_floats(x)), x)};
}

}  // namespace

Result<Values> function_of(Call& call) {
  struct Named {
    std::string_view name;
    Op op;
  };
  static constexpr Named kFunctions[] = {
      {"Exp", Op::Exp},     {"Log", Op::Log},     {"Sin", Op::Sin},   {"Cos", Op::Cos},
      {"Tan", Op::Tan},     {"Asin", Op::Asin},   {"Acos", Op::Acos}, {"Atan", Op::Atan},
      {"Sinh", Op::Sinh},   {"Cosh", Op::Cosh},   {"Tanh", Op::Tanh}, {"Asinh", Op::Asinh},
      {"Acosh", Op::Acosh}, {"Atanh", Op::Atanh}, {"Erf", Op::Erf},   {"Sigmoid", Op::Sigmoid},
  };
  for (const Named& each : kFunctions) {
    if (each.name == call.op()) return Values{function(each.op, call.tensor(0))};
  }
  return call.reject("is no function of one number");
}

Result<Values> reciprocal(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{number_like(x, 1) / x};
}

Result<Values> relu(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{maximum(zero(x), x)};
}

Result<Values> leaky_relu(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{select(x < zero(x), call.float_of("alpha", 0.01f) * x, x)};
}

// Before version 7 the slopes are those of the channels [n, c, …].
Result<Values> prelu(Call& call) {
  const Tensor x = call.tensor(0);
  Tensor slope = call.tensor(1);
  if (call.version() < 7 && slope.rank() == 1) slope = aligned_to_axis(slope, 1, x.rank());
  return Values{select(x < zero(x), slope * x, x)};
}

Result<Values> thresholded_relu(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{or_else(is(Op::Gt, x, call.float_of("alpha", 1)), x, 0)};
}

Result<Values> elu(Call& call) {
  return wide(call, [&](Tensor x) { return elu_of(x, call.float_of("alpha", 1)); });
}

Result<Values> celu(Call& call) {
  return wide(call, [&](Tensor x) {
    const float alpha = call.float_of("alpha", 1);
    const Tensor low = minimum(x, zero(x));
    return maximum(zero(x), x) + alpha * function(Op::Expm1, low / alpha);
  });
}

Result<Values> selu(Call& call) {
  return wide(call, [&](Tensor x) {
    return call.float_of("gamma", 1.05070102f) * elu_of(x, call.float_of("alpha", 1.67326319f));
  });
}

Result<Values> hard_sigmoid(Call& call) {
  return wide(call, [&](Tensor x) {
    const Tensor y = call.float_of("alpha", 0.2f) * x + call.float_of("beta", 0.5f);
    return maximum(zero(y), minimum(number_like(y, 1), y));
  });
}

Result<Values> hard_swish(Call& call) {
  return wide(call, [](Tensor x) {
    const Tensor y = x * number_like(x, 1.0 / 6) + 0.5f;
    return x * maximum(zero(y), minimum(number_like(y, 1), y));
  });
}

Result<Values> softplus(Call& call) { return wide(call, softplus_of); }

Result<Values> softsign(Call& call) {
  return wide(call, [](Tensor x) { return x / (1.0f + absolute(x)); });
}

Result<Values> mish(Call& call) {
  return wide(call, [](Tensor x) { return x * tanh_of(softplus_of(x)); });
}

Result<Values> gelu(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto approximate, call.choice_of("approximate", {"none", "tanh"}));
  return wide(call, [&](Tensor x) { return gelu_of(x, approximate == "tanh"); });
}

// com.microsoft: with a bias [c] before it, which FastGelu may leave out.
Result<Values> biased_gelu(Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor biased = call.has(1) ? x + call.tensor(1) : x;
  return Values{cast_like(gelu_of(in_floats(biased), call.op() == "FastGelu"), x)};
}

Result<Values> swish(Call& call) {
  return wide(call, [&](Tensor x) { return x * sigmoid_of(call.float_of("alpha", 1) * x); });
}

Result<Values> quick_gelu(Call& call) {
  return wide(call, [&](Tensor x) { return x * sigmoid_of(call.float_of("alpha", 1.702f) * x); });
}

Result<Values> swiglu(Call& call) {
  const Tensor y = call.tensor(1);
  return wide(call, [&](Tensor x) {
    return x * sigmoid_of(call.float_of("alpha", 1) * x) * cast_like(y, x);
  });
}

Result<Values> shrink(Call& call) {
  const Tensor x = call.tensor(0);
  const double limit = call.float_of("lambd", 0.5f), bias = call.float_of("bias", 0);
  const Tensor wide = in_floats(x);
  const Tensor low = is(Op::Lt, wide, -limit), high = is(Op::Gt, wide, limit);
  const Tensor inner = select(high, wide - number_like(wide, bias), number_like(wide, 0));
  return Values{cast_like(select(low, wide + number_like(wide, bias), inner), x)};
}

// Attributes until version 10, inputs from 11 on.
Result<Values> clip(Call& call) {
  Tensor x = call.tensor(0);
  if (call.version() < 11) {
    constexpr float kMaxFloat = std::numeric_limits<float>::max();
    const float low = call.float_of("min", -kMaxFloat), high = call.float_of("max", kMaxFloat);
    if (call.has_attribute("min")) x = maximum(x, number_like(x, low));
    if (call.has_attribute("max")) x = minimum(x, number_like(x, high));
    return Values{x};
  }
  for (size_t i : {1, 2}) {
    if (call.has(i) && graph::element_count(call.shape(i)) != 1) {
      return call.reject(
          concat(i == 1 ? "min" : "max", " must be one number, is ", bracketed(call.shape(i))));
    }
  }
  const auto bound = [&](size_t i) { return x.builder->reshape(call.tensor(i), {}); };
  if (call.has(1)) x = call.builder().exclusive(maximum(x, bound(1)));
  if (call.has(2)) x = call.builder().exclusive(minimum(x, bound(2)));
  return Values{x};
}

// As in C: fractional powers are computed in floats and truncated.
Result<Values> pow(Call& call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  const bool is_integer_x = scalar::is_integer(x.dtype());
  if (is_integer_x && scalar::is_integer(y.dtype())) return Values{integer_power(x, y)};
  const bool wide = x.dtype() == DType::F64 || y.dtype() == DType::F64 || is_integer_x;
  const DType dtype = wide ? DType::F64 : DType::F32;
  Tensor result = power(cast_to(x, dtype), cast_to(y, dtype));
  // The power of an integer is an integer, or far from one.
  if (is_integer_x) {
    const Tensor nearest = map(Op::Nearest, result);
    const Tensor error = absolute(result - nearest) - number_like(result, 1e-11) * absolute(result);
    result = select(error <= zero(error), nearest, result);
  }
  return Values{cast_like(result, x)};
}

Result<Values> mod(Call& call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  if (call.int_of("fmod", 0) != 0) return Values{remainder(x, y)};
  if (x.dtype() != DType::F64) return Values{map(Op::Mod, x, y)};
  const Tensor rest = remainder(x, y);
  const Tensor none = zero(rest);
  const Tensor turns = select(y<none, rest> none, rest < none);
  return Values{select(turns, rest + y, rest)};
}

Result<Values> bit_shift(Call& call) {
  const std::string direction = call.string_of("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return call.reject(concat("direction must be LEFT or RIGHT, not '", direction, '\''));
  }
  const Tensor x = call.tensor(0), y = call.tensor(1);
  const Tensor shifted = map(direction == "LEFT" ? Op::ShiftLeft : Op::ShiftRight, x, y);
  return Values{or_else(is(Op::Lt, y, 8 * scalar::size_of(x.dtype())), shifted, 0)};
}

Result<Values> bitwise_not(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{map(Op::BitXor, x, x.builder->full({}, scalar::Number::integer(x.dtype(), -1)))};
}

// As they were before version 7.
Result<Values> along_axis(Call& call) {
  struct Named {
    std::string_view name;
    Op op;
  };
  static constexpr Named kOperations[] = {
      {"Add", Op::Add}, {"Sub", Op::Sub},    {"Mul", Op::Mul}, {"Div", Op::Div},
      {"Less", Op::Lt}, {"Greater", Op::Gt}, {"And", Op::And}, {"Or", Op::Or},
  };
  Tensor x = call.tensor(0), y = call.tensor(1);
  if (call.has_attribute("axis")) {
    LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), x.rank()));
    y = aligned_to_axis(y, axis, x.rank());
  }
  if (call.op() == "Pow") return Values{power(x, y)};
  for (const Named& each : kOperations) {
    if (each.name == call.op()) return Values{map(each.op, x, y)};
  }
  if (x.dtype() == DType::Bool) {
    x = cast_to(x, DType::I32);
    y = cast_to(y, DType::I32);
  }
  return Values{map(call.op() == "Xor" ? Op::Ne : Op::Eq, x, y)};
}

Result<Values> sum(Call& call) { return Values{folded(call, Op::Add)}; }
Result<Values> maximum_of(Call& call) { return Values{folded(call, Op::Max)}; }
Result<Values> minimum_of(Call& call) { return Values{folded(call, Op::Min)}; }
Result<Values> mean_of(Call& call) {
  const Tensor all = folded(call, Op::Add);
  return Values{all / static_cast<float>(call.operands())};
}

Result<Values> exclusive_or(Call& call) {
  const Tensor x = cast_to(call.tensor(0), DType::I32), y = cast_to(call.tensor(1), DType::I32);
  return Values{map(Op::Ne, x, y)};
}

// Whether sizes that follow from how many rows there are equal others, where that goes for all
// numbers of rows.
std::optional<Content> equal_sizes(Call& call) {
  Tracer& tracer = call.tracer();
  const PaddedAxes* rows = tracer.padded_axes();
  const auto goes = [&](size_t i) { return tracer.depends_on_length(call.operand(i)); };
  if (rows == nullptr || goes(0) == goes(1)) return std::nullopt;
  const size_t dependent = goes(0) ? 0 : 1;
  const auto sizes = tracer.linear_integers(call.operand(dependent));
  const auto others = tracer.peek(call.operand(1 - dependent));
  const Shape of = call.shape(dependent);
  if (!sizes || !others || others->type == Type::String) return std::nullopt;
  const bool is_one = others->count() == 1 && others->shape.size() <= of.size();
  if (!is_one && others->shape != of) return std::nullopt;
  std::vector<int64_t> equal(sizes->values.size());
  for (size_t k = 0; k < equal.size(); ++k) {
    const int64_t other = others->integer(others->count() == 1 ? 0 : static_cast<int64_t>(k));
    const int64_t high = sizes->values[k] - other;
    const int64_t low = rows->min_size(high, sizes->steps[k]);
    const bool is_never = (low < 0 && high < 0) || (low > 0 && high > 0);
    equal[k] = low == 0 && high == 0;
    if (!is_never && equal[k] == 0) return std::nullopt;
  }
  return integers_content(Type::Bool, of, equal);
}

Result<Values> equal(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const bool has_strings, have_strings(call, 0, 1));
  if (const auto decided = equal_sizes(call)) return Values{*decided};
  if (!has_strings) return compared(call, Op::Eq);
  LATHE_ASSIGN_OR_RETURN(const Content x, call.content(0));
  LATHE_ASSIGN_OR_RETURN(const Content y, call.content(1));
  LATHE_ASSIGN_OR_RETURN(const Shape shape, common_shape(call, {&x, &y}));
  std::vector<int64_t> equal(graph::element_count(shape));
  for (size_t i = 0; i < equal.size(); ++i) {
    const auto of = [&](const Content& content) {
      const int64_t offset = broadcast_index(content.shape, shape, static_cast<int64_t>(i));
      return std::string_view(content.strings[offset]);
    };
    equal[i] = of(x) == of(y);
  }
  return Values{integers_content(Type::Bool, shape, equal)};
}

Result<Values> where(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const bool has_strings, have_strings(call, 1, 2));
  if (!has_strings) {
    const Tensor condition = call.tensor(0), x = call.tensor(1), y = call.tensor(2);
    return Values{Value(select(condition, x, y), call.type(1))};
  }
  LATHE_ASSIGN_OR_RETURN(const Content condition, call.content(0));
  LATHE_ASSIGN_OR_RETURN(const Content x, call.content(1));
  LATHE_ASSIGN_OR_RETURN(const Content y, call.content(2));
  LATHE_ASSIGN_OR_RETURN(const Shape shape, common_shape(call, {&condition, &x, &y}));
  std::vector<std::string> chosen;
  for (int64_t i = 0; i < graph::element_count(shape); ++i) {
    const bool first = condition.integer(broadcast_index(condition.shape, shape, i)) != 0;
    const Content& from = first ? x : y;
    chosen.push_back(from.strings[broadcast_index(from.shape, shape, i)]);
  }
  return Values{strings_content(shape, std::move(chosen))};
}

Result<Values> is_nan(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{map(Op::Ne, x, x)};
}

Result<Values> is_inf(Call& call) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor x = call.tensor(0);
  const bool up = call.int_of("detect_positive", 1) != 0;
  const bool down = call.int_of("detect_negative", 1) != 0;
  if (up && down) return Values{is(Op::Eq, absolute(x), kInfinity)};
  if (up || down) return Values{is(Op::Eq, x, up ? kInfinity : -kInfinity)};
  return Values{x.builder->full(Shape(x.shape()), scalar::Number::of(false))};
}

}  // namespace lathe::onnx::rows
