// The part of the oracle that only moves elements, and its index arithmetic.
#pragma once

#include <optional>
#include <vector>

#include "oracle.h"

namespace lathe::random_tests {

using Index = std::vector<int64_t>;
using Operands = std::vector<const Values*>;

// Position of map(index) in a row-major tensor, or nothing where it is outside.
std::optional<size_t> linear_index(const graph::AffineMap& map, const Shape& shape,
                                   const Index& index);
// Position of the index with `along` as its element `axis`, moved inside.
size_t linear_index_along(const Shape& shape, Index index, int axis, int64_t along);

void reindex(const graph::Node& node, const Values& x, Values& out);
void join(const graph::Node& node, const Operands& pieces, Values& out);
void gather(const graph::Node& node, const Values& x, const Values& index, Values& out);
void sort(const graph::Node& node, const Values& x, Values& out);

}  // namespace lathe::random_tests
