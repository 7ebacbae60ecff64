// Unique rows, found by sorting. Their count depends on data: results are padded to the number of
// rows.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// The unique rows of x [n, c], in ascending lexicographic order if `sorted`, else in the order of
// their first occurrence. NaN differs from itself, so each row that contains it is unique. All are
// I32; only the first `count` elements of `first` and `counts` are meaningful.
struct UniqueRows {
  Tensor count;    // []: number of unique rows
  Tensor first;    // [n]: index in x of the first occurrence of each unique row
  Tensor inverse;  // [n]: for each row of x, the index of its unique row
  Tensor counts;   // [n]: number of occurrences of each unique row
};
UniqueRows unique_rows(Tensor x, bool sorted);

}  // namespace lathe::ops
