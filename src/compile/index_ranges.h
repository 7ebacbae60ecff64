// Which elements of an entry's inputs pick rows, and which rows there are: what callers check
// before a call, as kernels move an index outside to the nearest row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::compile {

// The elements first, first + step, … of an input must be in [low, high], after fractions are
// truncated.
struct IndexRange {
  std::string entry, input;
  int64_t low, high, first = 0, step = 1;

  bool operator==(const IndexRange&) const = default;
};

// Of inputs that reach a Gather through casts, reshapes, broadcasts, transposes, one column of the
// last axis, and what counts indices below 0 from the end.
std::vector<IndexRange> index_ranges(const graph::Program& program);

}  // namespace lathe::compile
