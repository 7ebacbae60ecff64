#include "bounded.h"

#include <algorithm>
#include <optional>

#include "bounded_functions.h"
#include "lathe/base/check.h"

namespace lathe::random_tests {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Error of expanded functions, in ULP.
constexpr double kExpandedUnits = 8;

// The number `value` of f32 whose true one is within `error`; NaN is nothing that tests rely on.
Bounded bounded(double value, double error) {
  if (std::isnan(value) || std::isnan(error)) return unknown();
  return {value, error};
}

// A value that is not below `low` and not above `high`.
Bounded between(double value, double low, double high) {
  if (low == high) return {value, 0};
  return bounded(value, std::max(high - value, value - low));
}

// -1, 0, 1 as x is below, equal to or above y; nothing where that is not sure.
std::optional<int> order(Bounded x, Bounded y) {
  if (std::isnan(x.value) || std::isnan(y.value)) return std::nullopt;
  if (x.error + y.error > 0 && !(std::fabs(x.value - y.value) > x.error + y.error)) {
    return std::nullopt;
  }
  return x.value < y.value ? -1 : x.value > y.value ? 1 : 0;
}

// f(x) for a function that never decreases.
template <class Function>
Bounded never_falling(Bounded x, Function f) {
  if (!x.is_finite()) return unknown();  // it may be NaN
  const double value = f(x.value);
  if (x.is_sure()) return bounded(value, 0);
  return between(value, f(x.value - x.error), f(x.value + x.error));
}

// The same for steps: sure only where nothing near is on another step.
template <class Function>
Bounded stepped(Bounded x, Function f) {
  const double value = f(x.value);
  if (f(x.value + x.error) != value || f(x.value - x.error) != value) {
    return bounded(value, x.error + 1);
  }
  return bounded(value, 0);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Bounded product(Bounded x, Bounded y) {
  return bounded(x.value * y.value,
                 std::fabs(x.value) * y.error + std::fabs(y.value) * x.error + x.error * y.error);
}

Bounded quotient(Bounded x, Bounded y) {
  if (std::fabs(y.value) <= y.error || y.value == 0) return unknown();
  const double value = x.value / y.value;
  return bounded(value, (x.error + std::fabs(value) * y.error) / (std::fabs(y.value) - y.error));
}

// The result of a row of signature Number or Float, before it is rounded, and how many units it
// rounds.
struct Exact {
  Bounded number;
  double units = 1;
};

Exact arithmetic(Op op, std::span<const Bounded> in) {
  const Bounded x = in[0], y = in.size() > 1 ? in[1] : Bounded{};
  switch (op) {
    case Op::Add:
      return {bounded(x.value + y.value, x.error + y.error)};
    case Op::Sub:
      return {bounded(x.value - y.value, x.error + y.error)};
    case Op::Mul:
      return {product(x, y)};
    case Op::Div:
      return {quotient(x, y), 2};
    case Op::Max:
      return {between(std::fmax(x.value, y.value), std::fmax(x.value - x.error, y.value - y.error),
                      std::fmax(x.value + x.error, y.value + y.error)),
              0};
    case Op::Min:
      return {between(std::fmin(x.value, y.value), std::fmin(x.value - x.error, y.value - y.error),
                      std::fmin(x.value + x.error, y.value + y.error)),
              0};
    case Op::Neg:
      return {{-x.value, x.error}, 0};
    case Op::Abs:
      return {{std::fabs(x.value), x.error}, 0};
    case Op::Detach:
      return {x, 0};
    case Op::Sqrt:
      if (x.value - x.error < 0) return {unknown()};
      return {never_falling(x, [](double v) { return std::sqrt(v); })};
    case Op::Floor:
      return {stepped(x, [](double v) { return std::floor(v); }), 0};
    case Op::Nearest:
      return {stepped(x, [](double v) { return std::nearbyint(v); }), 0};
    case Op::Exp:
      return {never_falling(x, [](double v) { return std::exp(v); }), kExpandedUnits};
    case Op::Log:
      if (x.value - x.error <= 0) return {unknown()};
      return {never_falling(x, [](double v) { return std::log(v); }), kExpandedUnits};
    case Op::Tanh:
      return {never_falling(x, [](double v) { return std::tanh(v); }), kExpandedUnits};
    case Op::Sigmoid:
      return {never_falling(x, sigmoid), kExpandedUnits};
    case Op::Ceil:
      return {stepped(x, [](double v) { return std::ceil(v); }), 0};
    case Op::Trunc:
      return {stepped(x, [](double v) { return std::trunc(v); }), 0};
    case Op::Sign:
      return {stepped(x, [](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; }), 0};
    case Op::Mod:
    case Op::FloorDiv:
    case Op::Pow:
    case Op::Expm1:
    case Op::Log1p:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Atan2:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erf:
      return {function_of(op, x, y), kExpandedUnits};
    case Op::IsNan:
    case Op::IsFinite:
    case Op::IsInf:
    case Op::MulAdd:
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
    case Op::And:
    case Op::Or:
    case Op::Not:
    case Op::Select:
    case Op::ShiftLeft:
    case Op::ShiftRight:
    case Op::BitAnd:
    case Op::BitOr:
    case Op::BitXor:
    case Op::ToBits:
    case Op::FromBits:
      break;
  }
  LATHE_CHECK(!"arithmetic: an operation of another signature");
  return {};
}

// The row itself over numbers that are exact.
Bounded evaluated(Op op, std::span<const Bounded> in, std::span<const DType> dtypes) {
  scalar::Number numbers[scalar::kMaxArity];
  for (size_t k = 0; k < in.size(); ++k) {
    if (!in[k].is_sure()) return unknown();
    numbers[k] = scalar::Number::from(dtypes[k], in[k].value);
    if (numbers[k].as_double() != in[k].value) return unknown();
  }
  return bounded(scalar::evaluate(op, numbers).as_double(), 0);
}

Bounded compared(Op op, Bounded x, Bounded y) {
  const std::optional<int> sign = order(x, y);
  if (!sign) return unknown();
  const Bounded numbers[] = {{static_cast<double>(*sign)}, {0}};
  const DType dtypes[] = {DType::I32, DType::I32};
  return evaluated(op, numbers, dtypes);
}

Bounded chosen(Bounded condition, Bounded x, Bounded y) {
  if (condition.is_sure()) return condition.value != 0 ? x : y;
  const double distance = x.value == y.value ? 0 : std::fabs(x.value - y.value);
  return bounded(x.value, distance + std::max(x.error, y.error));
}

}  // namespace

Bounded unknown() { return {0, kInfinity}; }

Bounded rounded(Bounded exact, bool operands_sure, const Precision& precision) {
  const double size = std::fabs(exact.value);
  if (std::isnan(exact.value) || (size > precision.max && !(operands_sure && std::isinf(size)))) {
    return unknown();
  }
  if (operands_sure && static_cast<double>(static_cast<float>(exact.value)) == exact.value) {
    return exact;
  }
  return bounded(exact.value, exact.error + size * precision.unit + precision.least);
}

Bounded apply(Op op, std::span<const Bounded> in, DType dtype, const Precision& precision) {
  const DType dtypes[] = {op == Op::Select ? DType::Bool : dtype, dtype, dtype};
  const bool decided = op == Op::And || op == Op::Or;
  for (const Bounded& each : in) {
    if (decided && each.is_sure() && (each.value != 0) == (op == Op::Or)) return each;
  }
  if (op == Op::Select) {
    const Bounded result = chosen(in[0], in[1], in[2]);
    return dtype == DType::F32 || result.is_sure() ? result : unknown();
  }
  if (op == Op::MulAdd) {
    // The product may be rounded separately.
    const Bounded sum[] = {apply(Op::Mul, in.first(2), dtype, precision), in[2]};
    return apply(Op::Add, sum, dtype, precision);
  }
  if (dtype != DType::F32 || op == Op::ToBits) return evaluated(op, in, dtypes);
  if (scalar::info(op).signature == scalar::Signature::Compare) return compared(op, in[0], in[1]);
  if (scalar::info(op).signature == scalar::Signature::Test) {
    // The value is no NaN and far from infinity.
    return in[0].is_finite() && std::fabs(in[0].value) + in[0].error < precision.max
               ? Bounded{op == Op::IsFinite ? 1.0 : 0.0, 0}
               : unknown();
  }
  const Exact exact = arithmetic(op, in);
  const bool sure = std::ranges::all_of(in, &Bounded::is_sure);
  Precision expanded = precision;
  expanded.unit *= exact.units;
  if (exact.units == 0) return exact.number;
  // Near zero tanh and log are off by units of one.
  if (op == Op::Tanh || op == Op::Log) expanded.least += precision.unit;
  return rounded(exact.number, sure && exact.units < kExpandedUnits, expanded);
}

Bounded cast(Bounded x, DType from, DType to, const Precision& precision) {
  if (to == DType::F32) return x.is_sure() ? rounded(x, true, precision) : x;
  if (to == DType::Bool) return compared(Op::Ne, x, {0, 0});
  if (from != DType::F32) return x;
  const Bounded truncated = stepped(x, [](double v) { return std::trunc(v); });
  if (!truncated.is_sure()) return unknown();
  return {std::clamp(truncated.value, -2147483648.0, 2147483647.0), 0};
}

Bounded Sum::total(const Precision& precision) const {
  if (is_integer_ && magnitude_ < 0x1p24) return {value_, 0};
  if (std::isnan(value_) || magnitude_ > precision.max) return unknown();
  const double roundings = 2 + 2 * std::sqrt(static_cast<double>(count_));
  return bounded(value_, error_ + roundings * precision.unit * magnitude_ + precision.least);
}

}  // namespace lathe::random_tests
