#include "lathe/scalar/dtype.h"

#include <cmath>

namespace lathe::scalar {

namespace {

constexpr std::string_view kTexts[] = {
#define LATHE_DTYPE(name_, text_, ...) text_,
#include "lathe/scalar/dtypes.def"
};

}  // namespace

std::string_view text(DType dtype) { return kTexts[static_cast<int>(dtype)]; }

std::optional<DType> dtype_of(std::string_view text) {
  for (const DType dtype : kDTypes) {
    if (scalar::text(dtype) == text) return dtype;
  }
  return std::nullopt;
}

float value_of(Half half) {
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000) << 16;
  const int exponent = half.bits >> 10 & 31, fraction = half.bits & 1023;
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7f800000u | static_cast<uint32_t>(fraction) << 13);
  }
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(size) | sign);
}

float value_of(BHalf half) { return std::bit_cast<float>(static_cast<uint32_t>(half.bits) << 16); }

float odd_f32(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  const bool too_far = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>((too_far ? bits - 1 : bits) | 1);
}

Half half_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), size = bits & 0x7fffffffu;
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const auto with_sign = [sign](uint32_t rest) { return Half{static_cast<uint16_t>(sign | rest)}; };
  if (size == 0) return with_sign(0);
  if (size > 0x7f800000u) return with_sign(0x7e00);
  if (size >= 0x477ff000u) return with_sign(0x7c00);  // from 65520 on
  // The bits of a float16 are its rank: the number of representable values between 0 and it.
  int exponent = 0;
  std::frexp(value, &exponent);
  const int exponent2 = exponent < -13 ? -24 : exponent - 11;  // of the last bit
  const float scaled = std::ldexp(std::fabs(value), -exponent2);
  const float down = std::floor(scaled), rest = scaled - down;
  const bool up = rest > 0.5f || (rest == 0.5f && std::fmod(down, 2.0f) != 0);
  return with_sign(static_cast<uint32_t>((exponent2 + 24) << 10) +
                   static_cast<uint32_t>(up ? down + 1 : down));
}

BHalf bhalf_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

}  // namespace lathe::scalar
