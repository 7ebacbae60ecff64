// What contractions read as it is stored instead of from a longer copy.
#pragma once

#include <optional>
#include <set>

#include "lathe/graph/graph.h"

namespace lathe::lower {

// Whether the value is an integer cast to a longer one.
bool lengthens(const graph::Graph& graph, graph::Value value);

// A float that is made, element by element, of one tensor of short integers alone: of the bits of
// halves, as opt/spell_halves leaves them, for example.
struct SpelledShort {
  graph::Value numbers;
  std::set<graph::Value> values;  // from there on
};
std::optional<SpelledShort> spelled_short(const graph::Graph& graph, graph::Value value);

// A float that is made of constants that take less memory than it, integers among them: where these
// lie, and the values that are computed on the way. Nothing where it is no such thing.
struct SpelledConstant {
  std::set<graph::Value> constants, values;
};
std::optional<SpelledConstant> spelled_constant(const graph::Graph& graph, graph::Value value);

// Whether the contraction uses each element of the operand so rarely that each use may spell it.
bool is_read_rarely(const graph::Graph& graph, const graph::Node& contract, graph::Value operand);

// Whether it is of the columns of a product of rows, which targets copy before they multiply.
bool is_of_columns(const graph::Graph& graph, const graph::Node& contract, graph::Value operand);

}  // namespace lathe::lower
