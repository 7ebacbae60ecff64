// Copies a graph node by node, replacing each: the common base of passes that
// add nodes.
#pragma once

#include "lathe/base/table.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

class Rewriter {
 public:
  Graph run(Graph graph);

 protected:
  ~Rewriter() = default;

  // The replacement of the node, whose operands are of the new graph. New nodes inherit its
  // profiling part.
  virtual Value replace(Node node) = 0;

  virtual Value add(Node node);
  Value map(Op op, std::vector<Value> operands);  // as the first operand is
  Value splat(const scalar::Number& number, Shape shape);
  Value reshape(Value operand, Shape shape);
  Value reindex(Value operand, AffineMap map, Shape shape);

  const Node& operator[](Value value) const { return graph_[value]; }

  Graph graph_;  // as far as it is copied
};

// Replaces the values of outputs and updates.
void rename_results(Graph& graph, const Table<Value, Value>& renamed);

}  // namespace lathe::graph
