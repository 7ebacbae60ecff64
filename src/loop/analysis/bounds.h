// The exact range of an affine form over the loops around it, narrowed by guards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::loop {

struct Range {
  int64_t low = 0;
  int64_t high = 0;
  bool empty() const { return low > high; }
};

// Ranges of the variables of the loops that enclose a statement, by VarId. A variable outside its
// loop has none.
using VarRanges = std::vector<std::optional<Range>>;

// A range that contains every value of `form` where all guards are true; empty where they are never
// true together, nullopt where the arithmetic overflows int64.
// Without guards the range is exact. A guard over one variable narrows that variable. A guard over
// several variables is used by subtracting multiples of its index that eliminate a variable, or
// nearly: 28*i + 28*k + j under 0 <= i + k < 28 is 28*(i + k) + j, and 17*i + 9*k under 0 <= 2*i +
// k < 10 is 8*(2*i + k) + i + k. Guards are applied one after the other, in both orders; where
// several multiples are possible, each bounds the form. Two guards may eliminate two variables
// together: 5*i + 6*k under guards of i + k and of i + 2*k is 4*(i + k) + (i + 2*k).
std::optional<Range> range_of(const Affine& form, std::span<const Guard> guards,
                              VarRanges variables);

}  // namespace lathe::loop
