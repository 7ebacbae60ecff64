// The same graph over other element types.
#pragma once

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::ops_tests {

// Replaces the type `from` by `to`: inputs, states, constants, casts and their results. An error
// where an operation does not support the type.
Result<graph::Graph> retyped(const graph::Graph& graph, graph::DType from, graph::DType to);

// Whether the error is that of an operation that does not support the type, being defined for some
// numeric types only.
bool is_of_other_types(std::string_view error, graph::DType dtype);

}  // namespace lathe::ops_tests
