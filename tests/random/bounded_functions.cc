#include "bounded_functions.h"

#include <algorithm>

#include "lathe/base/check.h"

namespace lathe::random_tests {

namespace {

Bounded number(double value, double error) {
  if (std::isnan(value) || std::isnan(error)) return unknown();
  return {value, error};
}

bool may_be_below(Bounded x, double low) { return !(x.value - x.error >= low); }
bool may_be_above(Bounded x, double high) { return !(x.value + x.error <= high); }
bool may_be_outside(Bounded x, double low, double high) {
  return may_be_below(x, low) || may_be_above(x, high);
}

// f(x) for a function that only grows or only falls.
template <class Function>
Bounded monotonic(Bounded x, Function f) {
  if (!x.is_finite()) return unknown();  // it may be NaN
  const double value = f(x.value);
  if (x.is_sure()) return number(value, 0);
  return number(value, std::max(std::fabs(f(x.value + x.error) - value),
                                std::fabs(f(x.value - x.error) - value)));
}

// f(x) for a function with slopes up to `steepest`.
template <class Function>
Bounded smooth(Bounded x, Function f, double steepest) {
  return number(f(x.value), x.error * steepest);
}

Bounded tangent(Bounded x) {
  const double slope = std::cos(x.value);
  if (x.error > 0.1 * std::fabs(slope)) return unknown();
  return monotonic(x, [](double v) { return std::tan(v); });
}

// Maximum and minimum are at corners where the base is above 0.
Bounded power(Bounded x, Bounded y) {
  if (x.is_sure() && y.is_sure()) return number(std::pow(x.value, y.value), 0);
  if (may_be_below(x, 1e-30)) return unknown();
  const double value = std::pow(x.value, y.value);
  double error = 0;
  for (const double base : {x.value - x.error, x.value + x.error}) {
    for (const double exponent : {y.value - y.error, y.value + y.error}) {
      error = std::max(error, std::fabs(std::pow(base, exponent) - value));
    }
  }
  return number(value, error);
}

Bounded angle_of(Bounded y, Bounded x) {
  const double error = std::hypot(y.error, x.error), distance = std::hypot(y.value, x.value);
  if (y.is_sure() && x.is_sure()) return number(std::atan2(y.value, x.value), 0);
  // Near the origin, or on either side of the branch point.
  const bool crosses = x.value - x.error <= 0 && std::fabs(y.value) <= y.error;
  if (error >= 0.5 * distance || crosses) return unknown();
  return number(std::atan2(y.value, x.value), 2 * error / distance);
}

// floor(x / y), where nothing near is on another step.
Bounded quotient_below(Bounded x, Bounded y) {
  if (std::fabs(y.value) <= y.error || y.value == 0) return unknown();
  const double exact = x.value / y.value;
  const double error = (x.error + std::fabs(exact) * y.error) / (std::fabs(y.value) - y.error) +
                       1e-15 * std::fabs(exact);
  const bool is_sure = std::floor(exact + error) == std::floor(exact - error);
  return is_sure && std::fabs(exact) < 0x1p23 ? Bounded{std::floor(exact), 0} : unknown();
}

Bounded remainder_of(Bounded x, Bounded y) {
  const Bounded quotient = quotient_below(x, y);
  if (!quotient.is_sure()) return unknown();
  return number(x.value - quotient.value * y.value, x.error + std::fabs(quotient.value) * y.error);
}

}  // namespace

Bounded function_of(Op op, Bounded x, Bounded y) {
  const bool is_of_one = op == Op::Asin || op == Op::Acos || op == Op::Atanh;
  if (is_of_one && may_be_outside(x, -1, 1)) return unknown();
  if (op == Op::Acosh && may_be_below(x, 1)) return unknown();
  if (op == Op::Log1p && may_be_below(x, -1)) return unknown();
  switch (op) {
    case Op::Sin:
      return smooth(
          x, [](double v) { return std::sin(v); }, 1);
    case Op::Cos:
      return smooth(
          x, [](double v) { return std::cos(v); }, 1);
    case Op::Tan:
      return tangent(x);
    case Op::Asin:
      return monotonic(x, [](double v) { return std::asin(v); });
    case Op::Acos:
      return monotonic(x, [](double v) { return std::acos(v); });
    case Op::Atan:
      return monotonic(x, [](double v) { return std::atan(v); });
    case Op::Sinh:
      return monotonic(x, [](double v) { return std::sinh(v); });
    case Op::Cosh:
      return smooth(
          x, [](double v) { return std::cosh(v); }, std::sinh(std::fabs(x.value) + x.error));
    case Op::Asinh:
      return monotonic(x, [](double v) { return std::asinh(v); });
    case Op::Acosh:
      return monotonic(x, [](double v) { return std::acosh(v); });
    case Op::Atanh:
      return monotonic(x, [](double v) { return std::atanh(v); });
    case Op::Log1p:
      return monotonic(x, [](double v) { return std::log1p(v); });
    case Op::Expm1:
      return monotonic(x, [](double v) { return std::expm1(v); });
    case Op::Erf:
      return monotonic(x, [](double v) { return std::erf(v); });
    case Op::Pow:
      return power(x, y);
    case Op::Atan2:
      return angle_of(x, y);
    case Op::FloorDiv:
      return quotient_below(x, y);
    case Op::Mod:
      return remainder_of(x, y);
    default:
      LATHE_CHECK(!"function_of: no function of this operation");
  }
  return {};
}

}  // namespace lathe::random_tests
