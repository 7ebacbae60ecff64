// The meaning of every scalar operation: the MEANS and FOLD columns, expanded for each C++ type
// that the signature admits. I32 wraps as in WebAssembly.
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "scalar/op.h"

namespace lathe::scalar {

namespace {

// An i32 whose arithmetic wraps, so that MEANS texts have no undefined behaviour.
struct Int {
  int32_t value = 0;
  auto operator<=>(const Int&) const = default;
};

Int wrap(uint32_t bits) { return {static_cast<int32_t>(bits)}; }
uint32_t bits_of(Int x) { return static_cast<uint32_t>(x.value); }
Int operator+(Int x, Int y) { return wrap(bits_of(x) + bits_of(y)); }
Int operator-(Int x, Int y) { return wrap(bits_of(x) - bits_of(y)); }
Int operator*(Int x, Int y) { return wrap(bits_of(x) * bits_of(y)); }
Int operator&(Int x, Int y) { return wrap(bits_of(x) & bits_of(y)); }
Int operator|(Int x, Int y) { return wrap(bits_of(x) | bits_of(y)); }
Int operator^(Int x, Int y) { return wrap(bits_of(x) ^ bits_of(y)); }
Int shift_left(Int x, Int y) { return wrap(bits_of(x) << (bits_of(y) & 31)); }
Int shift_right(Int x, Int y) { return {x.value >> (bits_of(y) & 31)}; }
Int maximum(Int x, Int y) { return x < y ? y : x; }
Int minimum(Int x, Int y) { return y < x ? y : x; }
Int sign(Int x) { return {(x.value > 0) - (x.value < 0)}; }
// Rounded down, and what that leaves; by zero both are 0.
Int floor_div(Int x, Int y) {
  if (y.value == 0) return {0};
  const int64_t a = x.value, b = y.value, cut = a / b;
  return wrap(static_cast<uint32_t>(a % b != 0 && (a < 0) != (b < 0) ? cut - 1 : cut));
}
Int mod(Int x, Int y) { return y.value == 0 ? y : x - floor_div(x, y) * y; }

// As in WebAssembly: NaN wins, and -0 is below +0.
float maximum(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return x + y;
  if (x == y) return std::signbit(x) ? y : x;
  return x < y ? y : x;
}
float minimum(float x, float y) {
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
float absolute(float x) { return std::fabs(x); }
// Ties to even whatever the rounding mode of the host, as f32.nearest.
float nearest(float x) {
  if (!(std::fabs(x) < 8388608.0f)) return x;
  const float down = std::floor(x), rest = x - down;
  const bool up = rest > 0.5f || (rest == 0.5f && std::fmod(down, 2.0f) != 0);
  return std::copysign(up ? down + 1 : down, x);
}
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
float angle(float x) { return std::fabs(x) <= kLargestAngle ? x : kNan; }
float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }
// As in NumPy: the result has the sign of y.
float mod(float x, float y) {
  if (!(std::fabs(x / y) < kLargestQuotient)) return kNan;
  const float cut = std::fmod(x, y);
  return cut != 0 && (cut < 0) != (y < 0) ? cut + y : cut;
}
float floor_div(float x, float y) {
  const bool inside = std::isinf(y) && std::isfinite(x);
  if (inside) return x != 0 && (x < 0) != (y < 0) ? -1.0f : x / y;
  return static_cast<float>(std::floor(static_cast<double>(x) / y));
}
Int to_bits(float x) { return {std::bit_cast<int32_t>(x)}; }
float from_bits(Int x) { return std::bit_cast<float>(x.value); }

template <class T>
T load(const Number* operands, int index, int arity) {
  if (index >= arity) return T{};
  if constexpr (std::is_same_v<T, float>) return operands[index].f;
  if constexpr (std::is_same_v<T, Int>) return Int{operands[index].i};
  if constexpr (std::is_same_v<T, bool>) return operands[index].i != 0;
}

Number number(float value) { return Number::of(value); }
Number number(Int value) { return Number::of(value.value); }
Number number(bool value) { return Number::of(value); }

// Calls means with x of type X and y, z of type Y.
template <class X, class Y = X, class Means>
Number call(Means means, const Number* operands, int arity) {
  return number(
      means(load<X>(operands, 0, arity), load<Y>(operands, 1, arity), load<Y>(operands, 2, arity)));
}

template <Signature signature, class Means>
Number apply(Means means, const Number* operands, int arity) {
  if constexpr (signature == Signature::Number || signature == Signature::Compare) {
    return operands[0].dtype == DType::F32 ? call<float>(means, operands, arity)
                                           : call<Int>(means, operands, arity);
  } else if constexpr (signature == Signature::Float || signature == Signature::Test ||
                       signature == Signature::ToBits) {
    return call<float>(means, operands, arity);
  } else if constexpr (signature == Signature::Integer || signature == Signature::Shift ||
                       signature == Signature::FromBits) {
    return call<Int>(means, operands, arity);
  } else if constexpr (signature == Signature::Logic) {
    return call<bool>(means, operands, arity);
  } else {
    static_assert(signature == Signature::Choose);
    switch (operands[1].dtype) {
      case DType::Bool:
        return call<bool>(means, operands, arity);
      case DType::I32:
        return call<bool, Int>(means, operands, arity);
      case DType::F32:
        return call<bool, float>(means, operands, arity);
    }
    return {};
  }
}

// The words of the FOLD column.
enum class Word { lowest, highest };
constexpr Word lowest = Word::lowest, highest = Word::highest;

Number identity(double value, DType dtype) { return Number::from(dtype, value); }
Number identity(Word word, DType dtype) {
  const float infinity = std::numeric_limits<float>::infinity();
  if (dtype == DType::F32) return Number::of(word == lowest ? -infinity : infinity);
  using Limits = std::numeric_limits<int32_t>;
  return Number::of(word == lowest ? Limits::min() : Limits::max());
}

int32_t saturate(float value) {
  if (std::isnan(value)) return 0;
  if (value >= 2147483648.0f) return std::numeric_limits<int32_t>::max();
  if (value < -2147483648.0f) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(value);
}

}  // namespace

Number Number::of(float value) {
  Number result;
  result.f = value;
  return result;
}

Number Number::of(int32_t value) {
  Number result;
  result.dtype = DType::I32;
  result.i = value;
  return result;
}

Number Number::of(bool value) {
  Number result;
  result.dtype = DType::Bool;
  result.i = value ? 1 : 0;
  return result;
}

Number Number::from(DType dtype, double value) {
  switch (dtype) {
    case DType::Bool:
      return of(value != 0);
    case DType::I32:
      if (std::isnan(value)) return of(0);
      return of(static_cast<int32_t>(std::fmax(-2147483648.0, std::fmin(2147483647.0, value))));
    case DType::F32:
      return of(static_cast<float>(value));
  }
  return {};
}

double Number::as_double() const {
  if (dtype == DType::F32) return f;
  return i;
}

bool Number::same_bits(const Number& other) const {
  return dtype == other.dtype && std::bit_cast<int32_t>(f) == std::bit_cast<int32_t>(other.f);
}

Number evaluate(Op op, const Number* operands) {
  switch (op) {
#define MEANS(...) __VA_ARGS__
#define SCALAR_OP(name_, text_, arity_, signature_, means_, ...)                             \
  case Op::name_:                                                                            \
    return apply<Signature::signature_>([]([[maybe_unused]] auto x, [[maybe_unused]] auto y, \
                                           [[maybe_unused]] auto z) { return means_; },      \
                                        operands, arity_);
#include "scalar/ops.def"
#undef MEANS
  }
  return {};
}

Number fold_identity(Op op, DType dtype) {
  CHECK(info(op).fold != Fold::None);
  switch (op) {
#define FOLD(kind_, identity_) identity_
#define SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, ...) \
  case Op::name_:                                                             \
    return identity(fold_, dtype);
#include "scalar/ops.def"
#undef FOLD
  }
  return {};
}

Number cast(const Number& value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return Number::of(value.as_double() != 0);
    case DType::I32:
      return Number::of(value.dtype == DType::F32 ? saturate(value.f) : value.i);
    case DType::F32:
      return Number::of(static_cast<float>(value.as_double()));
  }
  return {};
}

}  // namespace lathe::scalar
