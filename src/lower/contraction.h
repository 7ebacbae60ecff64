// One contraction inside a kernel, as every strategy sees it: few loops, its operands as
// expressions of them, its members as stores. It knows no tile.
#pragma once

#include <string>
#include <vector>

#include "lathe/lower/contraction_shape.h"
#include "lathe/lower/nest.h"
#include "lathe/lower/strides.h"

namespace lathe::lower {

class Contraction {
 public:
  // Dimensions of extent 1 have no loop; neighbours over which all memory moves evenly share one.
  Contraction(Nest& nest, const Group& group);

  EntryContext& context() { return nest_.context(); }
  Nest& nest() { return nest_; }
  loop::Kernel& kernel() { return nest_.kernel(); }
  const graph::Node& node() const { return node_; }
  const Group& group() const { return group_; }
  loop::DType dtype() const { return node_.dtype; }
  loop::ExprBuilder& exprs() { return nest_.exprs(); }

  // Dimensions with a loop, outermost first. Where the output scatters all are reduced.
  const std::vector<int>& spatial() const { return spatial_; }
  const std::vector<int>& reduced() const { return reduced_; }
  int64_t extent(int d) const { return extents_[d]; }
  // The index of each dimension under loops around everything.
  const Index& index() const { return index_; }
  std::vector<loop::Stmt> serial(int d, std::vector<loop::Stmt> body) const;
  // The same of any kind.
  std::vector<loop::Stmt> looped(int d, loop::LoopKind kind, std::vector<loop::Stmt> body) const;

  // From now on the innermost reduced dimension counts pairs of products, if these are of short
  // integers, which are then read in their stored type: elements of operands are pairs
  // (loop/analysis/pairs.h).
  void pair_products();
  bool is_paired() const { return paired_ >= 0; }
  int64_t parts() const { return is_paired() ? 2 : 1; }  // of an element

  loop::ExprId operand_at(int operand, const Index& index);
  // The same in another kernel with these loops.
  loop::ExprId element(Nest& nest, int operand, const Index& index) const;
  // Where elements are no pairs: zero where one of these guards fails.
  loop::ExprId element_inside(Nest& nest, int operand, const Index& index,
                              std::vector<loop::Guard> guards) const;
  // A part of an element, in the stored type, and the element that is composed of such parts.
  loop::ExprId element_part(Nest& nest, int operand, const Index& index,
                            const loop::Affine& part) const;
  loop::DType part_type(int operand) const { return nest_.node(stored(operand)).dtype; }
  loop::ExprId join_parts(loop::ExprBuilder& exprs, loop::ExprId first, loop::ExprId second) const;
  // Panels of an operand that is computed from one tensor of short integers contain these integers.
  loop::DType panel_type(int operand) const { return nest_.node(compact(operand)).dtype; }
  loop::ExprId panel_part(Nest& nest, int operand, const Index& index, const loop::Affine& part);
  loop::ExprId join_panel_parts(int operand, loop::ExprId first, loop::ExprId second);
  // How the operand moves with a dimension.
  Stride stride(int operand, int d);
  // Elements between neighbours along `d`; 0 where the operand is no plain memory.
  int64_t step(int operand, int d);
  // The type that the operand has in memory.
  loop::DType read_type(int operand);
  // Whether the operand is a constant in memory.
  bool is_constant(int operand);
  // A string that describes how the operand's axes depend on `d`; "" for -1.
  std::string access(int operand, int d) const;
  int64_t out_step(int d) const;

  Index output_index(const Index& index) const;  // in the output
  loop::ExprId mul_add(loop::ExprId x, loop::ExprId y, loop::ExprId z);
  // The same in another kernel.
  loop::ExprId mul_add(loop::ExprBuilder& exprs, loop::ExprId x, loop::ExprId y,
                       loop::ExprId z) const;
  loop::ExprId zero();
  // Stores the group's members at `index`, where the anchor's element is `sum`.
  std::vector<loop::Stmt> finish(const Index& index, loop::ExprId sum, const loop::Affine& lane,
                                 int64_t width);
  ContractionShape shape();
  // Whether a member overwrites a value that it may read: its elements must be stored once.
  bool overwrites() const;

 private:
  const graph::AffineMap& map_of(int operand) const {
    return operand == 0 ? contraction_.lhs : contraction_.rhs;
  }
  bool makes_pairs() const;
  loop::ExprId single(Nest& nest, int operand, const Index& index,
                      std::vector<loop::Guard> guards = {}) const;
  graph::Value stored(int operand) const;  // what parts are read from
  graph::Value compact(int operand) const;
  loop::ExprId read(Nest& nest, graph::Value value, int operand, const Index& index,
                    std::vector<loop::Guard> guards) const;
  loop::ExprId plain(int operand);        // at index(); of pairs, the elements
  const loop::Expr& memory(int operand);  // what that is computed from
  loop::Kernel probe();
  // `loads` walk `was`: the loop of each dimension before any was merged.
  void merge(std::vector<int>& dimensions, const loop::Kernel& loads,
             const std::vector<loop::VarId>& was);
  void set_extent(int d, int64_t extent);

  Nest& nest_;
  const Group& group_;
  const graph::Node& node_;
  const graph::Contraction& contraction_;
  std::vector<int64_t> extents_;
  std::vector<loop::VarId> position_;  // loop variable of each dimension, -1 where the extent is 1
  Index index_;
  std::vector<int> spatial_, reduced_;
  int paired_ = -1;          // the dimension that counts pairs
  graph::Value inlined_[2];  // the short integers that each operand is computed from, or invalid
  loop::ExprId plain_[2] = {-1, -1};
  std::vector<size_t> guarded_[2];  // axes of each operand that the index can leave
};

}  // namespace lathe::lower
