// The meaning of every scalar operation: the MEANS and FOLD columns, expanded for each type of
// arithmetic that the signature admits. Integers wrap as in WebAssembly.
#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <limits>
#include <numbers>
#include <type_traits>

#include "lathe/base/check.h"
#include "lathe/scalar/op.h"

namespace lathe::scalar {

namespace {

// An integer whose arithmetic wraps, so that MEANS expressions have no undefined behavior.
template <class T>
struct Int {
  using Bits = std::make_unsigned_t<T>;
  T value = 0;
  constexpr Int() = default;
  constexpr explicit Int(T number) : value(number) {}
  auto operator<=>(const Int&) const = default;

  static Int wrap(Bits bits) { return Int(static_cast<T>(bits)); }
  Bits bits() const { return static_cast<Bits>(value); }
  friend Int operator+(Int x, Int y) { return wrap(x.bits() + y.bits()); }
  friend Int operator-(Int x, Int y) { return wrap(x.bits() - y.bits()); }
  friend Int operator-(Int x) { return wrap(0 - x.bits()); }
  friend Int operator*(Int x, Int y) { return wrap(x.bits() * y.bits()); }
  friend Int operator&(Int x, Int y) { return wrap(x.bits() & y.bits()); }
  friend Int operator|(Int x, Int y) { return wrap(x.bits() | y.bits()); }
  friend Int operator^(Int x, Int y) { return wrap(x.bits() ^ y.bits()); }
  // Toward zero; by zero 0.
  friend Int operator/(Int x, Int y) {
    if (y.value == 0) return Int();
    if constexpr (std::is_signed_v<T>) {
      if (y.value == -1) return -x;
    }
    return Int(x.value / y.value);
  }
};

constexpr int kBitsMask(int bytes) { return 8 * bytes - 1; }
template <class T>
Int<T> shift_left(Int<T> x, Int<T> y) {
  return Int<T>::wrap(x.bits() << (y.bits() & kBitsMask(sizeof(T))));
}
template <class T>
Int<T> shift_right(Int<T> x, Int<T> y) {
  return Int<T>(static_cast<T>(x.value >> (y.bits() & kBitsMask(sizeof(T)))));
}
template <class T>
Int<T> maximum(Int<T> x, Int<T> y) {
  return x < y ? y : x;
}
template <class T>
Int<T> minimum(Int<T> x, Int<T> y) {
  return y < x ? y : x;
}
template <class T>
Int<T> absolute(Int<T> x) {
  return x < Int<T>() ? -x : x;
}
template <class T>
Int<T> sign(Int<T> x) {
  return Int<T>(static_cast<T>((x.value > 0) - (x < Int<T>())));
}
// Rounded down, and what that leaves; by zero both are 0.
template <class T>
Int<T> floor_div(Int<T> x, Int<T> y) {
  const Int<T> quotient = x / y, rest = x - quotient * y, zero;
  return y != zero && rest != zero && (rest < zero) != (y < zero) ? quotient - Int<T>(1) : quotient;
}
template <class T>
Int<T> mod(Int<T> x, Int<T> y) {
  return y == Int<T>() ? y : x - floor_div(x, y) * y;
}

// As in WebAssembly: NaN wins, and -0 is below +0.
template <std::floating_point T>
T maximum(T x, T y) {
  if (std::isnan(x) || std::isnan(y)) return x + y;
  if (x == y) return std::signbit(x) ? y : x;
  return x < y ? y : x;
}
template <std::floating_point T>
T minimum(T x, T y) {
  if (std::isnan(x) || std::isnan(y)) return x + y;
  if (x == y) return std::signbit(x) ? x : y;
  return y < x ? y : x;
}

using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::ceil;
using std::cos;
using std::cosh;
using std::erf;
using std::exp;
using std::expm1;
using std::floor;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::log;
using std::log1p;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;
template <std::floating_point T>
T absolute(T x) {
  return std::fabs(x);
}
// Ties to even whatever the rounding mode of the host, as f32.nearest.
template <std::floating_point T>
T nearest(T x) {
  const T integer_from = std::ldexp(T{1}, std::numeric_limits<T>::digits - 1);
  if (!(std::fabs(x) < integer_from)) return x;
  const T down = std::floor(x), rest = x - down;
  const bool up = rest > T{0.5} || (rest == T{0.5} && std::fmod(down, T{2}) != 0);
  return std::copysign(up ? down + 1 : down, x);
}
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// x = turns π/2 + rest; a number that is not large is all rest.
struct Angle {
  int turns;
  float rest;
};
Angle angle(float x) {
  if (!(std::fabs(x) > kLargestAngle)) return {0, x};
  if (std::isinf(x)) return {0, kNan};
  const auto bits = std::bit_cast<uint32_t>(std::fabs(x));
  const uint32_t begin = (bits >> 23) - (127 + 20), significand = (bits & 0x7fffff) | 0x800000;
  const auto word = [begin](int i) -> uint64_t {
    const uint32_t* at = kTwoOverPi + begin / 32 + i;
    return (uint64_t{at[0]} << 32 | at[1]) << begin % 32 >> 32;
  };
  const uint64_t product = (word(0) * significand << 32) + word(1) * significand +
                           (word(2) * significand >> 32);  // 2^62 are a quarter turn
  const uint64_t turns = (product + (uint64_t{1} << 61)) >> 62;
  const auto part = static_cast<double>(static_cast<int64_t>(product - (turns << 62)));
  const auto rest = static_cast<float>(part * (std::numbers::pi / 2 * 0x1p-62));
  return x < 0 ? Angle{-static_cast<int>(turns), -rest} : Angle{static_cast<int>(turns), rest};
}
float sin(Angle x) {
  const float size = (x.turns & 1) != 0 ? std::cos(x.rest) : std::sin(x.rest);
  return (x.turns & 2) != 0 ? -size : size;
}
float cos(Angle x) { return sin({x.turns + 1, x.rest}); }
float tan(Angle x) { return (x.turns & 1) != 0 ? -1 / std::tan(x.rest) : std::tan(x.rest); }
template <std::floating_point T>
T sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x;
}
// As in NumPy: the result has the sign of y.
float mod(float x, float y) {
  const float remainder = std::fmod(x, y);
  return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
}
float floor_div(float x, float y) {
  const bool inside = std::isinf(y) && std::isfinite(x);
  if (inside) return x != 0 && (x < 0) != (y < 0) ? -1.0f : x / y;
  return static_cast<float>(std::floor(static_cast<double>(x) / y));
}
Int<int32_t> to_bits(float x) { return Int(std::bit_cast<int32_t>(x)); }
Int<int64_t> to_bits(double x) { return Int(std::bit_cast<int64_t>(x)); }
float from_bits(Int<int32_t> x) { return std::bit_cast<float>(x.value); }
double from_bits(Int<int64_t> x) { return std::bit_cast<double>(x.value); }

// Once, not for each operation.
[[gnu::noinline]] Number wrong_operands() {
  LATHE_CHECK(!"evaluate: operands that the signature does not accept");
  return {};
}

// How numbers of a type of arithmetic are computed with.
template <DType dtype>
struct Computed;
#define COMPUTED_AS(dtype_, type_, member_)                                              \
  template <>                                                                            \
  struct Computed<DType::dtype_> {                                                       \
    static type_ of(const Number& number) { return static_cast<type_>(number.member_); } \
  };
COMPUTED_AS(Bool, bool, i)
COMPUTED_AS(F32, float, f)
COMPUTED_AS(F64, double, d)
#undef COMPUTED_AS
#define COMPUTED_AS_INT(dtype_, type_)                 \
  template <>                                          \
  struct Computed<DType::dtype_> {                     \
    static Int<type_> of(const Number& number) {       \
      return Int<type_>(static_cast<type_>(number.i)); \
    }                                                  \
  };
COMPUTED_AS_INT(I32, int32_t)
COMPUTED_AS_INT(I64, int64_t)
COMPUTED_AS_INT(U64, uint64_t)
#undef COMPUTED_AS_INT

template <class T>
Number number(T value) {
  return Number::of(value);
}
template <class T>
Number number(Int<T> value) {
  return Number::of(value.value);
}

// The type that operands are evaluated in, which represents their values exactly: integers that
// are shorter than 64 bits wrap to their type afterwards.
constexpr DType evaluated(Signature signature, DType dtype) {
  const bool is_short = is_integer(dtype) && size_of(dtype) < 8;
  return is_short && signature != Signature::FromBits ? DType::I64 : computed(dtype);
}

template <DType dtype, Signature signature, class Means>
Number call(Means means, const Number (&operands)[kMaxArity]) {
  if constexpr (accepts(signature, dtype) && evaluated(signature, dtype) == dtype) {
    using Of = Computed<dtype>;
    return number(means(Of::of(operands[0]), Of::of(operands[1]), Of::of(operands[2])));
  }
  return wrong_operands();
}

template <Signature signature, class Means>
Number apply(Means means, const Number (&operands)[kMaxArity]) {
  if constexpr (signature == Signature::Choose) {
    return means(operands[0].i != 0, operands[1], operands[2]);
  } else {
    switch (operands[0].dtype) {
#define LATHE_DTYPE(name_, ...) \
  case DType::name_:            \
    return call<DType::name_, signature>(means, operands);
#include "lathe/scalar/dtypes.def"
    }
    return {};
  }
}

// The words of the FOLD column.
enum class Word { lowest, highest };
constexpr Word lowest = Word::lowest, highest = Word::highest;

Number identity(double value, DType dtype) { return Number::from(dtype, value); }
Number identity(Word word, DType dtype) {
  return word == Word::lowest ? Number::lowest(dtype) : Number::highest(dtype);
}

// Of operands in types that are computed with, and zeros.
Number evaluate_computed(Op op, const Number (&operands)[kMaxArity]) {
  switch (op) {
#define MEANS(...) __VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, ...)                       \
  case Op::name_:                                                                            \
    return apply<Signature::signature_>([]([[maybe_unused]] auto x, [[maybe_unused]] auto y, \
                                           [[maybe_unused]] auto z) { return means_; },      \
                                        operands);
#include "lathe/scalar/ops.def"
#undef MEANS
  }
  return {};
}

}  // namespace

Number evaluate(Op op, const Number* operands) {
  const int arity = info(op).arity;
  const DType dtype = operands[arity - 1].dtype;
  const Signature signature = info(op).signature;
  const DType as = signature == Signature::Choose ? dtype : evaluated(signature, dtype);
  Number wide[kMaxArity];
  for (int i = 0; i < arity; ++i) {
    wide[i] = operands[i];
    if (as != dtype) wide[i].dtype = as;
  }
  if (signature == Signature::Shift) wide[1].i &= kBitsMask(size_of(computed(dtype)));
  const Number result = evaluate_computed(op, wide);
  return result.dtype == as ? cast(result, dtype) : result;
}

Number fold_identity(Op op, DType dtype) {
  LATHE_CHECK(info(op).fold != Fold::None);
  switch (op) {
#define FOLD(kind_, identity_) identity_
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, ...) \
  case Op::name_:                                                                   \
    return identity(fold_, dtype);
#include "lathe/scalar/ops.def"
#undef FOLD
  }
  return {};
}

}  // namespace lathe::scalar
