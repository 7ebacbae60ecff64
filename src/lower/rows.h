// Reductions over rows, fused with the nodes between and after them: one loop over the rows, inside
// it one pass over the row for each reduction that depends on another. The row stays in the cache.
#pragma once

#include <map>
#include <vector>

#include "lathe/lower/blocked_sums.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

class RowLowering {
 public:
  RowLowering(Nest& nest, const Group& group, RowSpace space);
  void run();

 protected:
  ~RowLowering() = default;

  // What one pass over the row computes.
  struct Pass {
    std::vector<graph::Value> elements;  // stored or used more than once
    std::vector<graph::Value> folds;
  };
  using Registers = std::map<graph::Value, loop::BufferRef>;

  // The loops of one pass, whose folds have their first values in per_row(). Here one element comes
  // after the other.
  virtual std::vector<loop::Stmt> loops_of(const Pass& pass);
  // The loops over rows around all that is done with one.
  virtual std::vector<loop::Stmt> over_rows(std::vector<loop::Stmt> body);
  // Stores of what a row has once.
  virtual std::vector<loop::Stmt> once(std::vector<loop::Stmt> stores) { return stores; }

  Nest& nest() { return nest_; }
  loop::Kernel& kernel() { return kernel_; }
  const Group& group() const { return group_; }
  const std::vector<loop::VarId>& spatial() const { return spatial_; }
  const std::vector<loop::VarId>& reduced() const { return reduced_; }
  const Index& index() const { return index_; }  // of an element of the row, by axis
  const Registers& per_row() const { return per_row_; }
  int64_t extent(loop::VarId var) const { return kernel_.vars[var].extent; }
  loop::ExprId identity(graph::Value fold);
  int last_pass() const { return last_pass_; }
  Pass contents_of(int pass) const;
  bool is_stored(graph::Value member) const;
  // The row's index in a tensor with one element per row; axes of size 1 may be added or removed.
  Index row_index(const graph::Shape& shape) const;

  // One for each value. Elements share the expressions of earlier ones: otherwise a chain of
  // elements that are used twice would double at every step.
  std::vector<loop::ExprId> exprs_of(const Pass& pass);
  static std::vector<loop::Stmt> around(const std::vector<loop::VarId>& vars,
                                        std::vector<loop::Stmt> body,
                                        loop::LoopKind kind = loop::LoopKind::Serial);

  // The registers of the pass at one index: lane `lane` of registers of `width`, its folds at
  // `fold` of `folds`.
  struct Lanes {
    loop::Affine lane = {};
    int64_t width = 1;
    loop::Affine fold = {};
    const Registers& folds;
  };
  // The loops of these trips around `body`, which returns the pass at its arguments: indices and
  // folds. Blocked sums have separate folds for every block; `width` of each.
  using Indices = BlockedSum::Indices;
  using Body = std::function<std::vector<loop::Stmt>(const Indices&, const Registers& folds)>;
  std::vector<loop::Stmt> summed(const Pass& pass, const Registers& totals, int64_t width,
                                 const std::vector<Trip>& trips, const Body& body);
  bool has_blocked_sum(const Pass& pass) const;
  static Index moved(Index index, const Indices& indices);
  // The pass at one index. Stores come last: a row may be stored over what it is computed from.
  std::vector<loop::Stmt> statements(const Pass& pass, const Index& index, const Lanes& lanes);

 private:
  int pass_of(graph::Value member) const;
  void join_reduced_axes();
  std::vector<loop::Stmt> row_values(int pass);
  std::vector<loop::Stmt> pass_over_row(int number);

  Nest& nest_;
  const Group& group_;
  const Fusion& fusion_;
  loop::Kernel& kernel_;
  std::vector<loop::VarId> spatial_, reduced_;
  Index index_;
  Registers per_row_;  // in topological order
  int last_pass_ = 0;
};

}  // namespace lathe::lower
