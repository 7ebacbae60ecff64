#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/sort_space.h"

namespace lathe::lower::cpu {

namespace {

// The best so far: few of them are always kept in registers, more in rows so long that few enter.
constexpr int64_t kFewKept = 32, kMostKept = 128;

bool worth_keeping(int64_t count, int64_t length) {
  return count <= kFewKept || (count <= kMostKept && count * count <= 4 * length);
}

}  // namespace

void lower_sort(SortSpace& space) {
  if (worth_keeping(space.count(), space.length())) return keep_first(space);
  radix_sort(space);
}

}  // namespace lathe::lower::cpu
