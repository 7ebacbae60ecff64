#include "lathe/nn/random.h"

#include <bit>
#include <cmath>

namespace lathe::nn {
namespace {

// Natural logarithm of a normal number x > 0: x = m * 2^e with m near 1, log m = 2 atanh((m - 1) /
// (m + 1)).
double portable_log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m /= 2;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);
  double series = 0;
  for (int k = 21; k >= 1; k -= 2) series = series * s * s + 1.0 / k;
  return 2 * s * series + exponent * 0.6931471805599453;
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = uint64_t{0xd2511f53} * counter[0];
    const uint64_t right = uint64_t{0xcd9e8d57} * counter[2];
    counter = {
        static_cast<uint32_t>(right >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(right),
        static_cast<uint32_t>(left >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(left)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

uint64_t seed_of(double number) {
  constexpr double kMaxExact = 9007199254740992;  // 2^53
  const bool is_integer = number >= 0 && number <= kMaxExact && number == std::floor(number);
  return is_integer ? static_cast<uint64_t>(number) : std::bit_cast<uint64_t>(number) >> 11;
}

uint64_t hash(std::string_view text) {
  uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return value;
}

RandomStream::RandomStream(uint64_t seed, std::string_view name)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, stream_(hash(name)) {}

uint32_t RandomStream::bits(uint64_t index) {
  if (const uint64_t block = index / 4; block != block_index_) {
    block_index_ = block;
    block_ = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                     static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                    key_);
  }
  return block_[index % 4];
}

double RandomStream::uniform(uint64_t index) { return (bits(index) + 0.5) * 0x1p-32; }

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * (((59.10937472 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p)) - 1.6;
  const double x = (((0.17023821103 * r + 1.3067284816) * r + 2.75681539) * r + 1.4234372777) /
                   ((0.12021132975 * r + 0.7370016425) * r + 1);
  return q < 0 ? -x : x;
}

}  // namespace lathe::nn
