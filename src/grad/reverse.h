// One walk over a graph from its last node to its first that gathers an adjoint for each.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lathe/base/table.h"
#include "lathe/graph/builder.h"

namespace lathe::grad {

// A contraction in the body of a loop, one of whose operands is the same in every step: its adjoint
// is one contraction over all steps, after the reverse loop.
struct Deferred {
  graph::Contraction contraction;
  graph::Value operand, other, adjoint;  // of the result
  bool is_lhs;
};

class Reverse {
 public:
  explicit Reverse(graph::Builder& builder)
      : builder_(builder), adjoints_(builder.graph().nodes.size()) {}

  // Adds to the adjoint of a value, unless it is of integers that are not straight-through.
  void accumulate(graph::Value value, graph::Tensor part);
  void run(graph::Value last);
  std::optional<graph::Tensor> adjoint(graph::Value value) const { return adjoints_[value]; }

  // Leaves contractions by these values for later.
  void defer(std::set<graph::Value> values) { deferrable_ = std::move(values); }
  const std::vector<Deferred>& deferred() const { return deferred_; }

 private:
  graph::Tensor tensor(graph::Value value) { return {&builder_, value}; }

  bool is_straight_through(graph::Value value) const;
  void propagate(graph::Tensor out, graph::Tensor g);
  void map(const graph::Node& node, graph::Tensor out, graph::Tensor g);
  graph::Tensor spread(graph::Tensor reduced, const graph::Node& node);
  void reduce(const graph::Node& node, graph::Tensor out, graph::Tensor g);
  graph::Tensor product_of_others(const graph::Node& node);
  void pick(const graph::Node& node, graph::Tensor out, graph::Tensor g);
  graph::Tensor position_in_fold(const graph::Node& node);
  void contract(const graph::Node& node, graph::Tensor g);
  void join(const graph::Node& node, graph::Tensor g);
  void scan(const graph::Node& node, graph::Tensor g);
  void scan_of_products(const graph::Node& node, graph::Tensor g);
  void scan_of_records(const graph::Node& node, graph::Tensor g);
  void reindex(const graph::Node& node, graph::Tensor g);
  std::optional<graph::Tensor> undo_projection(const graph::Node& node, graph::Tensor g,
                                               graph::Shape shape);
  void item(const graph::Node& node, graph::Tensor g);
  void loop(graph::Value loop, const std::vector<std::optional<graph::Tensor>>& adjoints);

  graph::Builder& builder_;
  Table<graph::Value, std::optional<graph::Tensor>> adjoints_;  // by node of the graph as it was
  std::map<graph::Value, std::vector<std::optional<graph::Tensor>>> results_;  // of each loop
  std::set<graph::Value> deferrable_;
  std::vector<Deferred> deferred_;
};

}  // namespace lathe::grad
