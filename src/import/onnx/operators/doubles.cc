// Functions of 64-bit floats in 64-bit arithmetic: targets have none. Range reduction, then series
// truncated where the next term is below 2^-54; tests/unit/import/onnx/doubles_test.cc
// states the errors. Kahan's forms of log1p and expm1: Higham, "Accuracy and Stability of Numerical
// Algorithms", 1.14.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

#include "lathe/base/check.h"
#include "lathe/graph/elements.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/ops/control.h"
#include "lathe/ops/movement/indexing.h"

namespace lathe::onnx {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;

// A scalar constant for arithmetic with x.
Tensor of(Tensor x, double value) { return number_like(x, value); }
Tensor bits_of(Tensor x, int64_t value) { return x.builder->full({}, scalar::Number::of(value)); }
Tensor is_equal(Tensor x, double value) { return map(Op::Eq, x, of(x, value)); }
Tensor if_less(Tensor x, double limit, Tensor then, Tensor otherwise) {
  return select(x < of(x, limit), then, otherwise);
}

// c(0) + c(1) x + … + c(n - 1) x^(n - 1).
template <class Coefficient>
Tensor series(Tensor x, int n, Coefficient c) {
  Tensor sum = of(x, c(n - 1));
  for (int k = n - 2; k >= 0; --k) sum = sum * x + of(x, c(k));
  return sum;
}

// 2^k for integer k in [-1022, 1023].
Tensor power_of_two(Tensor k) {
  const Tensor biased = cast_to(k, DType::I64) + bits_of(k, 1023);
  return map(Op::FromBits, map(Op::ShiftLeft, biased, bits_of(k, 52)));
}

constexpr double kLog2High = 0x1.62e42fee00000p-1, kLog2Low = 0x1.a39ef35793c76p-33;

Tensor exp64(Tensor x) {
  const Tensor inside = minimum(maximum(x, of(x, -746)), of(x, 710));
  const Tensor k = map(Op::Nearest, inside * of(x, std::numbers::log2e));
  const Tensor rest = inside - k * of(x, kLog2High) - k * of(x, kLog2Low);
  const Tensor power = series(rest, 14, [](int n) { return 1 / std::tgamma(n + 1.0); });
  const Tensor half = floor(k * of(x, 0.5)), other = k - half;
  return power * power_of_two(half) * power_of_two(other);
}

Tensor log64(Tensor x) {
  const Tensor is_small = x < of(x, 0x1p-1000);
  const Tensor scaled = select(is_small, x * of(x, 0x1p100), x);
  const Tensor bits = map(Op::ToBits, scaled);
  // The significand in [sqrt(1/2), sqrt(2)), and its exponent.
  const Tensor shifted = bits - bits_of(x, 0x3fe6a09e667f3bcd);
  const Tensor exponent = map(Op::ShiftRight, shifted, bits_of(x, 52));
  const Tensor mantissa = map(Op::FromBits, bits - map(Op::ShiftLeft, exponent, bits_of(x, 52)));
  const Tensor k = cast_to(exponent, DType::F64) - select(is_small, of(x, 100), of(x, 0));
  const Tensor f = mantissa - of(x, 1), s = f / (mantissa + of(x, 1)), square = s * s;
  const Tensor odd = series(square, 12, [](int n) { return 2.0 / (2 * n + 1); });
  const Tensor value = k * of(x, kLog2High) + (s * odd + k * of(x, kLog2Low));
  const Tensor of_zero = select(is_equal(x, 0), of(x, -kInfinity), value);
  const Tensor is_usual = map(Op::And, x >= of(x, 0), x < of(x, kInfinity));
  const Tensor other = select(is_equal(x, kInfinity), x, of(x, std::nan("")));
  return select(is_usual, of_zero, other);
}

Tensor log1p64(Tensor x) {
  const Tensor u = x + of(x, 1), by = u - of(x, 1);
  const Tensor is_plain = map(Op::Or, is_equal(u, 1), is_equal(u, kInfinity));
  const Tensor divisor = select(is_plain, of(x, 1), by);
  const Tensor value = log64(u) * select(is_equal(by, 0), of(x, 1), x / divisor);
  const Tensor ends = map(Op::Or, is_equal(u, 0), is_equal(u, kInfinity));
  return select(is_equal(u, 1), x, select(ends, log64(u), value));
}

Tensor expm164(Tensor x) {
  const Tensor u = exp64(x), less = u - of(x, 1);
  const Tensor is_end = map(Op::Or, is_equal(less, -1), is_equal(u, kInfinity));
  const Tensor is_one = is_equal(u, 1);
  const Tensor safe = select(map(Op::Or, is_end, is_one), of(x, 2), u);
  const Tensor value = select(is_end, less, less * x / log64(safe));
  return select(is_one, x, value);
}

Tensor with_sign_of(Tensor x, Tensor size) { return select(x < of(x, 0), -size, size); }

Tensor tanh64(Tensor x) {
  const Tensor size = minimum(absolute(x), of(x, 22)), e = expm164(size * of(x, 2));
  return with_sign_of(x, e / (e + of(x, 2)));
}

Tensor sinh64(Tensor x) {
  const Tensor size = absolute(x), e = expm164(minimum(size, of(x, 22)));
  const Tensor small = (e + e / (e + of(x, 1))) * of(x, 0.5);
  const Tensor root = exp64(size * of(x, 0.5));
  return with_sign_of(x, if_less(size, 22, small, root * of(x, 0.5) * root));
}

Tensor cosh64(Tensor x) {
  const Tensor size = absolute(x), root = exp64(size * of(x, 0.5));
  const Tensor e = exp64(minimum(size, of(x, 22)));
  const Tensor small = (e + of(x, 1) / e) * of(x, 0.5);
  return if_less(size, 22, small, root * of(x, 0.5) * root);
}

Tensor asinh64(Tensor x) {
  const Tensor size = absolute(x), a = minimum(size, of(x, 1e150)), square = a * a;
  const Tensor small = log1p64(a + square / (of(x, 1) + sqrt(square + of(x, 1))));
  return with_sign_of(x, if_less(size, 1e8, small, log64(size) + of(x, std::numbers::ln2)));
}

Tensor acosh64(Tensor x) {
  const Tensor t = x - of(x, 1);
  const Tensor small = log1p64(t + sqrt(t * (t + of(x, 2))));
  return if_less(x, 1e8, small, log64(x) + of(x, std::numbers::ln2));
}

Tensor atanh64(Tensor x) { return of(x, 0.5) * log1p64(of(x, 2) * x / (of(x, 1) - x)); }

// The bits of 2/π after 34 zeros, in words of 32.
constexpr uint32_t kTwoOverPi[] = {
    0x00000000, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea,
    0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba, 0x82746487, 0x3f877ac7, 0x2c4a69cf, 0xba208d7d,
    0x4baed121, 0x3a671c09, 0xad17df90, 0x4e64758e, 0x60d4ce7d, 0x272117e2, 0xef7e4a0e, 0xc7fe25ff,
    0xf7816603, 0xfbcbc462, 0xd6829b47, 0xdb4d9fb3, 0xc9f2c26d, 0xd3d18fd9, 0xa797fa8b, 0x5d49eeb1,
    0xfaf97c5e, 0xcf41ce7d, 0xe294a4ba, 0x9afed7ec, 0x47e35742,
};
constexpr double kLargestAngle = 0x1p20;  // that few parts of π/2 reduce

// x as a multiple of π/2 and a rest.
struct Angle {
  Tensor rest, quarters;  // F64, I64
};

Angle reduced_by_parts(Tensor x) {
  const Tensor k = map(Op::Nearest, x * of(x, 2 / kPi));
  // pi / 2 in parts of 33 bits.
  Tensor rest = x - k * of(x, 0x1.921fb54400000p+0);
  rest = rest - k * of(x, 0x1.0b4611a600000p-34);
  rest = rest - k * of(x, 0x1.3198a2e037073p-69);
  return {rest, cast_to(k, DType::I64)};
}

// Of 2/π the 128 bits that count for x above kLargestAngle, times the 53 bits of x: as for f32 in
// scalar/expand_angles.h.
Angle reduced_by_all_bits(Tensor x) {
  const auto i = [&x](int64_t value) { return bits_of(x, value); };
  const auto right = [&i](Tensor a, int64_t by) { return map(Op::ShiftRight, a, i(by)); };
  const auto low = [&i](Tensor a, int64_t mask) { return map(Op::BitAnd, a, i(mask)); };
  std::vector<double> words(std::begin(kTwoOverPi), std::end(kTwoOverPi));
  const auto count = static_cast<int64_t>(words.size());
  const Tensor table = numbers(*x.builder, DType::I64, {count}, words);
  const Tensor bits = map(Op::ToBits, absolute(x));
  const Tensor begin = map(Op::Max, right(bits, 52) - i(1023 + 20), i(0));
  const Tensor m = map(Op::BitOr, low(bits, (int64_t{1} << 52) - 1), i(int64_t{1} << 52));
  const Tensor first = right(begin, 5), back = i(32) - low(begin, 31);
  const auto entry = [&](int64_t k) {
    const Tensor at = map(Op::Min, first + i(k), i(count - 1));
    return ops::gather(table, cast_to(at, DType::I32), 0);
  };
  const auto window = [&](int64_t k) {
    const Tensor pair = map(Op::BitOr, map(Op::ShiftLeft, entry(k), i(32)), entry(k + 1));
    return low(map(Op::ShiftRight, pair, back), 0xffffffff);
  };
  // m times 64 bits of the window, plus the carry from the following words; 2^62 are a
  // quarter turn.
  const Tensor high = right(m, 27), rest = low(m, (1 << 27) - 1);
  const auto shifted = [&](Tensor word, int64_t by) {
    return right(high * word + right(rest * word, 27), by);
  };
  const Tensor front = map(Op::BitOr, map(Op::ShiftLeft, window(0), i(32)), window(1));
  const Tensor product = m * front + shifted(window(2), 5) + shifted(window(3), 37);
  const Tensor quarters = right(product + i(int64_t{1} << 61), 62);
  const Tensor part = cast_to(product - map(Op::ShiftLeft, quarters, i(62)), DType::F64);
  const Tensor angle = part * of(x, kPi / 2 * 0x1p-62), is_negative = x < of(x, 0);
  return {select(is_negative, -angle, angle), select(is_negative, -quarters, quarters)};
}

// Sine and cosine of x reduced modulo π/2, and the quadrant.
struct Reduced {
  Tensor sine, cosine, quarter;
};

Reduced reduced(Tensor x) {
  const Angle near = reduced_by_parts(x), far = reduced_by_all_bits(x);
  const Tensor size = absolute(x);
  const Tensor is_far = map(Op::And, size > of(x, kLargestAngle), size < of(x, kInfinity));
  const Tensor rest = select(is_far, far.rest, near.rest);
  const Tensor square = rest * rest;
  const auto alternating = [](int n, int power) {
    return (n % 2 == 0 ? 1 : -1) / std::tgamma(power + 1.0);
  };
  const Tensor sine = rest * series(square, 10, [&](int n) { return alternating(n, 2 * n + 1); });
  const Tensor cosine = series(square, 10, [&](int n) { return alternating(n, 2 * n); });
  const Tensor quarters = select(is_far, far.quarters, near.quarters);
  return {sine, cosine, map(Op::BitAnd, quarters, bits_of(x, 3))};
}

Tensor sine64(Tensor x, int64_t quarters) {
  const Reduced parts = reduced(x);
  const Tensor quarter = parts.quarter + bits_of(x, quarters);
  const auto has = [&](int64_t bit) {
    return map(Op::Ne, map(Op::BitAnd, quarter, bits_of(x, bit)), bits_of(x, 0));
  };
  const Tensor size = select(has(1), parts.cosine, parts.sine);
  return select(has(2), -size, size);
}

Tensor tan64(Tensor x) { return sine64(x, 0) / sine64(x, 1); }

Tensor atan64(Tensor x) {
  const Tensor size = absolute(x);
  const Tensor is_middle = size > of(x, std::numbers::sqrt2 - 1);
  const Tensor is_large = size > of(x, std::numbers::sqrt2 + 1);
  const Tensor middle = (size - of(x, 1)) / (size + of(x, 1));
  const Tensor large = of(x, -1) / maximum(size, of(x, 1));
  const Tensor rest = select(is_large, large, select(is_middle, middle, size));
  const Tensor begin =
      select(is_large, of(x, kPi / 2), select(is_middle, of(x, kPi / 4), of(x, 0)));
  const Tensor power =
      series(rest * rest, 22, [](int n) { return (n % 2 == 0 ? 1.0 : -1.0) / (2 * n + 1); });
  return with_sign_of(x, begin + rest * power);
}

Tensor asin64(Tensor x) { return atan64(x / sqrt((of(x, 1) - x) * (of(x, 1) + x))); }

Tensor acos64(Tensor x) { return of(x, 2) * atan64(sqrt((of(x, 1) - x) / (of(x, 1) + x))); }

// Below 2.5 the series of Kummer, all of whose terms are positive; beyond, the continued fraction
// of what is missing to 1. Abramowitz & Stegun 7.1.6 and 7.1.14.
Tensor erf64(Tensor x) {
  const Tensor size = absolute(x), a = minimum(size, of(x, 2.5)), square = a * a;
  double terms[48];
  terms[0] = 2 * std::numbers::inv_sqrtpi;
  for (int n = 1; n < 48; ++n) terms[n] = terms[n - 1] * 2 / (2 * n + 1);
  const Tensor near = a * exp64(-square) * series(square, 48, [&](int n) { return terms[n]; });
  const Tensor b = minimum(maximum(size, of(x, 2.5)), of(x, 7));
  Tensor fraction = b;
  for (int n = 60; n > 0; --n) fraction = b + of(x, n / 2.0) / fraction;
  const Tensor far = of(x, 1) - of(x, std::numbers::inv_sqrtpi) * exp64(-(b * b)) / fraction;
  const Tensor value = if_less(size, 2.5, near, far);
  return select(map(Op::Eq, x, x), with_sign_of(x, value), x);
}

Tensor function64(Op op, Tensor x) {
  switch (op) {
    case Op::Exp:
      return exp64(x);
    case Op::Expm1:
      return expm164(x);
    case Op::Log:
      return log64(x);
    case Op::Log1p:
      return log1p64(x);
    case Op::Sin:
      return sine64(x, 0);
    case Op::Cos:
      return sine64(x, 1);
    case Op::Tan:
      return tan64(x);
    case Op::Asin:
      return asin64(x);
    case Op::Acos:
      return acos64(x);
    case Op::Atan:
      return atan64(x);
    case Op::Sinh:
      return sinh64(x);
    case Op::Cosh:
      return cosh64(x);
    case Op::Tanh:
      return tanh64(x);
    case Op::Asinh:
      return asinh64(x);
    case Op::Acosh:
      return acosh64(x);
    case Op::Atanh:
      return atanh64(x);
    case Op::Sigmoid:
      return of(x, 1) / (of(x, 1) + exp64(-x));
    case Op::Erf:
      return erf64(x);
    default:
      return map(op, x);
  }
}

}  // namespace

Tensor function(Op op, Tensor x) {
  return x.valid() && x.dtype() == DType::F64 ? function64(op, x) : map(op, x);
}

// Defined for negative x if the exponent is an integer; 1 to any power, -1 to an infinite one, and
// any to the power of 0, is 1.
Tensor power(Tensor x, Tensor y) {
  if (!x.valid() || !y.valid() || x.dtype() != DType::F64) return map(Op::Pow, x, y);
  const Tensor grown = exp64(y * log64(absolute(x)));
  const Tensor size = select(is_equal(absolute(x), 1), of(x, 1), grown);
  const Tensor half = y * of(y, 0.5);
  const Tensor is_integer = map(Op::Eq, floor(y), y), is_even = map(Op::Eq, floor(half), half);
  const Tensor negative = select(is_even, size, select(is_integer, -size, of(x, std::nan(""))));
  const Tensor value = select(x < of(x, 0), negative, size);
  return select(map(Op::Or, is_equal(x, 1), is_equal(y, 0)), of(x, 1), value);
}

namespace {

// x by step, of 64-bit floats >= 0, where x / step < 2^50 or step is infinite: exact, but the
// quotient may be one too large. Factors of 27 bits have exact products.
Tensor truncated_division(Tensor x, Tensor step) {
  const auto head = [](Tensor number) {
    const Tensor bits = map(Op::ToBits, number);
    return map(Op::FromBits, map(Op::BitAnd, bits, bits_of(number, ~int64_t{0} << 27)));
  };
  const Tensor quotient = map(Op::Trunc, x / step);
  const Tensor q = head(quotient), d = head(step);
  const Tensor q_rest = quotient - q, d_rest = step - d;
  const Tensor rest = x - q * d - q * d_rest - q_rest * d - q_rest * d_rest;
  return select(is_equal(quotient, 0), x, rest);
}

}  // namespace

// In rounds by step 2^(48 k), from the largest k that any quotient needs.
Tensor remainder64(Tensor size, Tensor step) {
  constexpr int kMaxRounds = 44;
  const Tensor quotient = size / step;
  std::vector<int> axes(quotient.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  const Tensor largest = axes.empty() ? quotient : max(quotient, axes);
  // A third of the power of two of the first round.
  const Tensor first =
      select(largest < of(largest, 0x1p48), of(largest, 1),
             select(largest < of(largest, 0x1p1000), of(largest, 0x1p320), of(largest, 0x1p688)));
  const auto goes_on = [](Builder&, std::span<const Tensor> values) -> std::vector<Tensor> {
    return {values[1] >= of(values[1], 1)};
  };
  const auto round = [](Builder&, std::span<const Tensor> values) -> std::vector<Tensor> {
    const Tensor third = values[1];
    return {truncated_division(values[0], values[2] * third * third * third),
            third * of(third, 0x1p-16)};
  };
  const Tensor dividend = select(map(Op::Eq, quotient, quotient), size, quotient);
  const Tensor rest =
      ops::while_loop(goes_on, round, std::array{dividend, first}, std::array{step}, kMaxRounds)[0];
  return select(rest < of(rest, 0), rest + step, rest);
}

Tensor numbers(Builder& builder, DType dtype, Shape shape, std::span<const double> values) {
  std::vector<std::byte> data(values.size() * scalar::size_of(dtype));
  for (size_t k = 0; k < values.size(); ++k) {
    graph::store(data, static_cast<int64_t>(k), scalar::Number::from(dtype, values[k]));
  }
  return builder.constant(dtype, std::move(shape), std::move(data));
}

Tensor int32_constant(Builder& builder, Shape shape, std::span<const int64_t> values) {
  std::vector<std::byte> data(values.size() * scalar::size_of(DType::I32));
  for (size_t k = 0; k < values.size(); ++k) {
    graph::store(data, static_cast<int64_t>(k), scalar::Number::integer(DType::I32, values[k]));
  }
  return builder.constant(DType::I32, std::move(shape), std::move(data));
}

}  // namespace lathe::onnx
