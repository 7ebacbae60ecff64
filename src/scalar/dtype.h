// The element types as an enum, with the facts of their table rows.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lathe::scalar {

enum class DType : uint8_t {
#define LATHE_DTYPE(name_, ...) name_,
#include "lathe/scalar/dtypes.def"
};

inline constexpr DType kDTypes[] = {
#define LATHE_DTYPE(name_, ...) DType::name_,
#include "lathe/scalar/dtypes.def"
};

enum class DTypeKind : uint8_t { Truth, Signed, Unsigned, Float };

// IEEE 754 binary16: 5 bits of exponent, 10 of significand.
struct Half {
  uint16_t bits = 0;
};
// bfloat16: the upper half of a binary32.
struct BHalf {
  uint16_t bits = 0;
};
float value_of(Half half);
float value_of(BHalf half);
// The nearest one, of two equally near the even; NaN stays NaN.
Half half_of(float value);
BHalf bhalf_of(float value);
// An f64 on the way to fewer bits, rounded to odd: a second rounding is then correct.
float odd_f32(double value);

constexpr DTypeKind kind_of(DType dtype) {
  switch (dtype) {
#define LATHE_KIND(kind_) DTypeKind::kind_
#define LATHE_DTYPE(name_, text_, type_, kind_, ...) \
  case DType::name_:                                 \
    return kind_;
#include "lathe/scalar/dtypes.def"
#undef LATHE_KIND
  }
  return DTypeKind::Truth;
}

// The type that arithmetic on it is computed in; types that map to themselves are "types of
// arithmetic".
constexpr DType computed(DType dtype) {
  switch (dtype) {
#define LATHE_COMPUTED(dtype_) DType::dtype_
#define LATHE_DTYPE(name_, text_, type_, kind_, computed_, ...) \
  case DType::name_:                                            \
    return computed_;
#include "lathe/scalar/dtypes.def"
#undef LATHE_COMPUTED
  }
  return dtype;
}

// Bytes of one element.
constexpr int size_of(DType dtype) {
  switch (dtype) {
#define LATHE_DTYPE(name_, text_, type_, ...) \
  case DType::name_:                          \
    return sizeof(type_);
#include "lathe/scalar/dtypes.def"
  }
  return 0;
}

constexpr bool is_float(DType dtype) { return kind_of(dtype) == DTypeKind::Float; }
constexpr bool is_integer(DType dtype) {
  return kind_of(dtype) == DTypeKind::Signed || kind_of(dtype) == DTypeKind::Unsigned;
}
constexpr bool is_signed(DType dtype) { return kind_of(dtype) == DTypeKind::Signed; }
constexpr bool is_number(DType dtype) { return kind_of(dtype) != DTypeKind::Truth; }
constexpr bool is_computed(DType dtype) { return computed(dtype) == dtype; }
constexpr bool is_half(DType dtype) { return is_float(dtype) && size_of(dtype) == 2; }

std::string_view text(DType dtype);
std::optional<DType> dtype_of(std::string_view text);

}  // namespace lathe::scalar
