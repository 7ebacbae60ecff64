// Equal rows, found by sorting. How many differ data alone tells: results have room for all.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Of x [n, c]: rows are in ascending order, column by column, or in that of their first places. All
// are I32; only the first `count` numbers of `first` and `counts` mean something.
struct UniqueRows {
  Tensor count;    // []: how many differ
  Tensor first;    // [n]: where each stands first
  Tensor inverse;  // [n]: which one each row of x is
  Tensor counts;   // [n]: how often each stands there
};
UniqueRows unique_rows(Tensor x, bool sorted);

}  // namespace lathe::ops
