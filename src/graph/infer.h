// The dtype and shape that a node must have, from its attributes and operands. Builder and verifier
// share it.
#pragma once

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

struct Type {
  DType dtype = DType::F32;
  Shape shape;
  bool operator==(const Type&) const = default;
};

// Operands of `node` are nodes of `graph` (their types are trusted). Kinds whose shape is an
// attribute (Input, Constant, Contract, Reshape, Reindex, …) return it once it is checked.
Result<Type> infer(const Graph& graph, const Node& node);

// "f32[64,784]"
std::string type_string(DType dtype, const Shape& shape);
std::string type_string(const Type& type);

}  // namespace lathe::graph
