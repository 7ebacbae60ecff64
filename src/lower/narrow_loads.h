// Values that contractions read in their narrow stored type instead of from a widened copy.
#pragma once

#include <optional>
#include <set>

#include "lathe/graph/graph.h"

namespace lathe::lower {

// Whether the value is an integer or float cast from a type of storage to one of arithmetic.
bool only_widens(const graph::Graph& graph, graph::Value value);

// A float that is computed element by element from a single tensor of short numbers: for example
// from the bits of float16, the result of opt/lower_float16.
struct NarrowSource {
  graph::Value numbers;
  std::set<graph::Value> values;  // computed from `numbers`, up to the float
};
std::optional<NarrowSource> find_narrow_source(const graph::Graph& graph, graph::Value value);

// A float that is computed from constants smaller than itself, some of them integers: these
// constants, and the values that are computed from them. nullopt otherwise.
struct ConstantExpression {
  std::set<graph::Value> constants, values;
};
std::optional<ConstantExpression> find_constant_expression(const graph::Graph& graph,
                                                           graph::Value value);

// Whether the contraction uses each element of the operand so rarely that each use may compute it
// inline.
bool is_read_rarely(const graph::Graph& graph, const graph::Node& contract, graph::Value operand);

// Whether it is of the columns of a product of rows, at least as many as there are lanes, which
// targets copy before they multiply.
bool is_of_columns(const graph::Graph& graph, const graph::Node& contract, graph::Value operand,
                   int64_t lanes);

}  // namespace lathe::lower
