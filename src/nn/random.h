// Random numbers by position: the same (seed, stream, index) yields the same number on every
// machine and in WebAssembly. Only IEEE basic operations and square root are used, because the exp
// and log of C libraries differ in their last bits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lathe::nn {

// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Integers from 0 to 2^53 are the seed itself, other numbers map to one below 2^53 by their bits.
uint64_t seed_of(double number);

// FNV-1a.
uint64_t hash(std::string_view text);

// The stream of the tensor `name`: key = seed, half of the counter = the hash of the name.
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view name);
  uint32_t bits(uint64_t index);
  double uniform(uint64_t index);  // (0, 1), 2^-33 away from both ends

 private:
  std::array<uint32_t, 2> key_;
  uint64_t stream_;
  uint64_t block_index_ = UINT64_MAX;
  std::array<uint32_t, 4> block_{};
};

// The normal quantile: the x below which a standard normal variable falls with probability p, 2^-33
// <= p <= 1 - 2^-33; relative error about 1e-7. Wichura, "Algorithm AS 241: the percentage points
// of the normal distribution", Applied Statistics 37 (1988).
double normal_quantile(double p);

}  // namespace lathe::nn
