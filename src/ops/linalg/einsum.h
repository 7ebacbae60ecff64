// Sums of products by letters.
#pragma once

#include <string_view>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// As numpy.einsum: "ij,jk->ik". Without an arrow the result has the letters that come once, in
// order; "..." denotes axes that broadcast. A letter that comes twice in one operand is its
// diagonal. Products are computed two operands at a time, from the left, in the type that these are
// computed in.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace lathe::ops
