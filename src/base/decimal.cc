#include "lathe/base/decimal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "lathe/base/text.h"

namespace lathe {

namespace {

// A natural number, its lowest 32 bits first.
class Natural {
 public:
  void multiply_add(uint64_t factor, uint64_t rest) {
    for (uint32_t& word : words_) {
      rest += word * factor;
      word = static_cast<uint32_t>(rest);
      rest >>= 32;
    }
    if (rest != 0) words_.push_back(static_cast<uint32_t>(rest));
  }

  void shift_words(int count) { words_.insert(words_.begin(), static_cast<size_t>(count), 0); }

  // Whether there is a remainder.
  bool divide(uint32_t divisor) {
    uint64_t rest = 0;
    for (size_t i = words_.size(); i-- > 0;) {
      rest = (rest << 32) + words_[i];
      words_[i] = static_cast<uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
    return rest != 0;
  }

  bool bit(int64_t at) const { return words_[at / 32] >> at % 32 & 1; }

  int64_t length() const {
    auto count = static_cast<int64_t>(words_.size()) * 32;
    while (count > 0 && !bit(count - 1)) --count;
    return count;
  }

 private:
  std::vector<uint32_t> words_;
};

// The nearest number of so many bits to natural * 2^-shift, or to a little more (`is_more`).
double rounded(const Natural& natural, int64_t shift, bool is_more, int bits) {
  const int64_t length = natural.length(), exponent = length - 1 - shift;
  const int64_t least = bits == std::numeric_limits<float>::digits
                            ? std::numeric_limits<float>::min_exponent - 1
                            : std::numeric_limits<double>::min_exponent - 1;
  const int64_t precision = bits - std::max<int64_t>(least - exponent, 0);
  if (length == 0 || precision < 0) return 0;
  uint64_t number = 0;
  int64_t at = length;
  while (at > std::max<int64_t>(length - precision, 0)) number = number * 2 + natural.bit(--at);
  if (at > 0 && natural.bit(at - 1)) {
    bool is_above = is_more || number % 2 != 0;
    for (int64_t low = at - 1; low-- > 0 && !is_above;) is_above = natural.bit(low);
    number += is_above;
  }
  return std::ldexp(static_cast<double>(number), static_cast<int>(at - shift));
}

}  // namespace

double parse_decimal(const char* text, const char** end, int bits) {
  constexpr int64_t kMaxPower = 5000;  // beyond which every power of ten is 0 or infinite
  constexpr int64_t kMaxDigits = 800;  // the middle between two doubles has up to 767
  const char* at = text;
  const bool is_negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  Natural natural;
  int64_t power = 0;
  int64_t digits = 0;  // from the first that is not 0
  bool has_digits = false, is_more = false;
  for (bool is_fraction = false; is_digit(*at) || (*at == '.' && !is_fraction); ++at) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    has_digits = true;
    if (digits == kMaxDigits) {
      is_more |= *at != '0';
      power += !is_fraction;
      continue;
    }
    natural.multiply_add(10, static_cast<uint64_t>(*at - '0'));
    power -= is_fraction;
    digits += natural.length() > 0;
  }
  if (!has_digits) at = text;
  if (has_digits && (*at == 'e' || *at == 'E')) {
    const char* after = at + 1;
    const bool is_small = *after == '-';
    if (*after == '-' || *after == '+') ++after;
    const int64_t max_exponent = 2 * kMaxPower + std::abs(power) + digits;
    int64_t exponent = 0;
    if (is_digit(*after)) {
      for (; is_digit(*after); ++after) {
        exponent = std::min(exponent * 10 + (*after - '0'), max_exponent);
      }
      at = after;
    }
    power += is_small ? -exponent : exponent;
  }
  if (end != nullptr) *end = at;
  double number = 0;
  if (natural.length() == 0 || power + digits < -kMaxPower) {
    number = 0;
  } else if (power > kMaxPower) {
    number = std::numeric_limits<double>::infinity();
  } else {
    for (int64_t i = 0; i < power; ++i) natural.multiply_add(10, 0);
    const auto words = static_cast<int>(power < 0 ? -power / 9 + 3 : 0);
    natural.shift_words(words);
    for (int64_t i = power; i < 0; ++i) is_more |= natural.divide(10);
    number = rounded(natural, int64_t{32} * words, is_more, bits);
  }
  return is_negative && has_digits ? -number : number;
}

}  // namespace lathe
