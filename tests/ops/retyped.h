// A graph over other element types: what it says of numbers, it says of them, too.
#pragma once

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::ops_tests {

// What was `from` is `to`: inputs, states, constants, casts, and what follows from them. An error
// where an operation does not take the type.
Result<graph::Graph> retyped(const graph::Graph& graph, graph::DType from, graph::DType to);

// Whether the error says that an operation does not take the type, and it is one of those that are
// of some types of numbers alone.
bool is_of_other_types(std::string_view error, graph::DType dtype);

}  // namespace lathe::ops_tests
