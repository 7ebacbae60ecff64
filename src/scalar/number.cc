#include "lathe/scalar/number.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace lathe::scalar {

namespace {

// The C++ type of each dtype's elements.
template <DType dtype>
struct Stored;
#define LATHE_DTYPE(name_, text_, type_, ...) \
  template <>                                 \
  struct Stored<DType::name_> {               \
    using Type = type_;                       \
  };
#include "lathe/scalar/dtypes.def"

// Calls with a value of the type of its elements.
template <class Use>
auto with_type(DType dtype, Use use) {
  switch (dtype) {
#define LATHE_DTYPE(name_, text_, type_, ...) \
  case DType::name_:                          \
    return use(type_{});
#include "lathe/scalar/dtypes.def"
  }
  return use(float{});
}

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BHalf>;

template <class T>
T nearest_half(float value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_of(value);
  } else {
    return bhalf_of(value);
  }
}

template <class To, class From>
To saturated(From value) {
  if (std::isnan(value)) return 0;
  using Limits = std::numeric_limits<To>;
  // One beyond the maximum is a power of two: exact, where the maximum may not be.
  const From end = std::ldexp(From{1}, Limits::digits);
  if (value >= end) return Limits::max();
  if (value <= static_cast<From>(Limits::min())) return Limits::min();
  return static_cast<To>(value);
}

template <class T>
Number number(DType dtype, T value) {
  Number result;
  result.dtype = dtype;
  if constexpr (kIsHalf<T>) {
    result.f = value_of(value);
  } else if constexpr (std::is_same_v<T, float>) {
    result.f = value;
  } else if constexpr (std::is_same_v<T, double>) {
    result.d = value;
  } else {
    result.i = static_cast<int64_t>(value);
  }
  return result;
}

// value: float, double, int64_t or uint64_t.
template <class From>
Number converted(From value, DType dtype) {
  return with_type(dtype, [&]<class To>(To) {
    if constexpr (std::is_same_v<To, bool>) {
      return number(dtype, value != 0);
    } else if constexpr (kIsHalf<To>) {
      if constexpr (std::is_same_v<From, float>) return number(dtype, nearest_half<To>(value));
      return number(dtype, nearest_half<To>(odd_f32(static_cast<double>(value))));
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
      return number(dtype, saturated<To>(value));
    } else {
      return number(dtype, static_cast<To>(value));
    }
  });
}

}  // namespace

Number Number::of(float value) { return number(DType::F32, value); }
Number Number::of(double value) { return number(DType::F64, value); }
Number Number::of(int32_t value) { return number(DType::I32, value); }
Number Number::of(int64_t value) { return number(DType::I64, value); }
Number Number::of(uint32_t value) { return number(DType::U32, value); }
Number Number::of(uint64_t value) { return number(DType::U64, value); }
Number Number::of(bool value) { return number(DType::Bool, value); }

Number Number::from(DType dtype, double value) { return converted(value, dtype); }
Number Number::integer(DType dtype, int64_t value) { return converted(value, dtype); }

Number Number::lowest(DType dtype) {
  return with_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) return number(dtype, std::numeric_limits<T>::min());
    return from(dtype, -std::numeric_limits<double>::infinity());
  });
}

Number Number::highest(DType dtype) {
  return with_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) return number(dtype, std::numeric_limits<T>::max());
    return from(dtype, std::numeric_limits<double>::infinity());
  });
}

double Number::as_double() const {
  switch (kind_of(dtype)) {
    case DTypeKind::Truth:
    case DTypeKind::Signed:
      return static_cast<double>(i);
    case DTypeKind::Unsigned:
      return static_cast<double>(static_cast<uint64_t>(i));
    case DTypeKind::Float:
      return dtype == DType::F64 ? d : f;
  }
  return 0;
}

uint64_t Number::bits() const {
  return with_type(dtype, [&]<class T>(T) -> uint64_t {
    if constexpr (kIsHalf<T>) {
      return nearest_half<T>(f).bits;
    } else if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<uint32_t>(f);
    } else if constexpr (std::is_same_v<T, double> || sizeof(T) == 8) {
      return static_cast<uint64_t>(i);
    } else {
      return static_cast<uint64_t>(i) & ((uint64_t{1} << 8 * sizeof(T)) - 1);
    }
  });
}

Number Number::from_bits(DType dtype, uint64_t bits) {
  return with_type(dtype, [&]<class T>(T) {
    if constexpr (kIsHalf<T>) {
      return number(dtype, T{static_cast<uint16_t>(bits)});
    } else if constexpr (std::is_same_v<T, float>) {
      return number(dtype, std::bit_cast<float>(static_cast<uint32_t>(bits)));
    } else if constexpr (std::is_same_v<T, double>) {
      return number(dtype, std::bit_cast<double>(bits));
    } else {
      return number(dtype, static_cast<T>(bits));
    }
  });
}

bool Number::same_bits(const Number& other) const {
  return dtype == other.dtype && bits() == other.bits();
}

Number load_element(DType dtype, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(size_of(dtype)));
  return Number::from_bits(dtype, bits);
}

void store_element(std::byte* at, const Number& number) {
  const uint64_t bits = number.bits();
  std::memcpy(at, &bits, static_cast<size_t>(size_of(number.dtype)));
}

Number cast(const Number& value, DType dtype) {
  if (value.dtype == dtype) return value;
  switch (kind_of(value.dtype)) {
    case DTypeKind::Truth:
    case DTypeKind::Signed:
      return converted(value.i, dtype);
    case DTypeKind::Unsigned:
      return converted(static_cast<uint64_t>(value.i), dtype);
    case DTypeKind::Float:
      return value.dtype == DType::F64 ? converted(value.d, dtype) : converted(value.f, dtype);
  }
  return value;
}

}  // namespace lathe::scalar
