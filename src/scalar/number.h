// One number of any element type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lathe/scalar/dtype.h"

namespace lathe::scalar {

// Truths and integers live in `i` (u64 as its bits), f64 in `d`, shorter floats in `f`.
struct Number {
  DType dtype = DType::F32;
  union {
    int64_t i = 0;
    float f;
    double d;
  };
  static Number of(float value);
  static Number of(double value);
  static Number of(int32_t value);
  static Number of(int64_t value);
  static Number of(uint32_t value);
  static Number of(uint64_t value);
  static Number of(bool value);
  // The number of `dtype` nearest to value, integers rounded toward zero (Bool: value != 0).
  static Number from(DType dtype, double value);
  // The integer modulo 2^bits as any dtype: of floats the nearest.
  static Number integer(DType dtype, int64_t value);
  // The minimum and the maximum: of floats the infinities.
  static Number lowest(DType dtype);
  static Number highest(DType dtype);
  double as_double() const;
  // As the element is stored in memory; the upper bits are 0.
  uint64_t bits() const;
  static Number from_bits(DType dtype, uint64_t bits);
  bool is_zero() const { return as_double() == 0; }
  bool same_bits(const Number& other) const;
};

// One element of little-endian memory; as many bytes as size_of(number.dtype).
Number load_element(DType dtype, const std::byte* at);
void store_element(std::byte* at, const Number& number);

// Conversion, the same on every target. Float to integer truncates toward zero and saturates at the
// ends of the range, NaN becomes 0; integer to integer wraps to the low bits; to a float it rounds
// to nearest once, except 64-bit integers to float16, which go through f64; to Bool tests != 0.
Number cast(const Number& value, DType dtype);

}  // namespace lathe::scalar
