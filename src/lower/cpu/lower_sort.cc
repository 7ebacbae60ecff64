#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/sort_space.h"

namespace lathe::lower::cpu {

namespace {

// The k best so far: for small k always in registers, for larger k in rows so long that few
// elements enter.
constexpr int64_t kAlwaysInRegisters = 32, kMaxInRegisters = 128;

bool fits_registers(int64_t count, int64_t length) {
  return count <= kAlwaysInRegisters || (count <= kMaxInRegisters && count * count <= 4 * length);
}

}  // namespace

void lower_sort(SortSpace& space) {
  if (fits_registers(space.count(), space.length())) return top_k(space);
  radix_sort(space);
}

}  // namespace lathe::lower::cpu
