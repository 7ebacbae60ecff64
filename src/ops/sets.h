// Unique rows, found by sorting. Their count depends on data: results are padded to the number of
// rows.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Of x [n, c]: rows are in ascending order, column by column, or in that of their first occurrence.
// All are I32; only the first `count` numbers of `first` and `counts` mean something.
struct UniqueRows {
  Tensor count;    // []: how many differ
  Tensor first;    // [n]: first occurrence of each
  Tensor inverse;  // [n]: which one each row of x is
  Tensor counts;   // [n]: how often each occurs
};
UniqueRows unique_rows(Tensor x, bool sorted);

}  // namespace lathe::ops
