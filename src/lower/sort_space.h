// What the strategies for sorting share: the rows of one Sort node, their elements, and which of
// two comes first.
#pragma once

#include <vector>

#include "lathe/lower/nest.h"

namespace lathe::lower {

class SortSpace {
 public:
  SortSpace(Nest& nest, const Group& group);

  Nest& nest() { return nest_; }
  loop::ExprBuilder& exprs() { return nest_.exprs(); }
  loop::Kernel& kernel() { return nest_.kernel(); }
  int64_t length() const { return length_; }  // of a row
  int64_t count() const { return count_; }    // of the requested indices
  loop::DType dtype() const { return x_.dtype; }
  bool descending() const { return sort_.reverse; }

  // The element of the current row at this index.
  loop::ExprId element(const loop::Affine& index);
  loop::ExprId element_at(loop::ExprId index);
  // Whether a must come first: never both, neither for equal ones; NaNs are last.
  loop::ExprId before(loop::ExprId a, loop::ExprId b);
  // An integer key in the order of the elements; both zeros have the same, and NaNs the largest.
  loop::ExprId key(loop::ExprId x);

  loop::Stmt store(const loop::Affine& slot, loop::ExprId index);
  loop::Stmt store_at(loop::ExprId slot, loop::ExprId index);
  // `size` integers for each row, contiguous.
  loop::BufferRef add_scratch(const char* name, int64_t size);
  loop::Affine scratch_address(const loop::Affine& index, int64_t size) const;

  // The loops over the rows.
  std::vector<loop::Stmt> around(std::vector<loop::Stmt> body, bool outlined) const;

 private:
  Index index_at(const loop::Affine& index) const;

  Nest& nest_;
  const graph::Value anchor_;
  const graph::Node& sort_;
  const graph::Node& x_;
  size_t axis_;
  int64_t length_, count_;
  Index index_;  // of the current row
  std::vector<loop::VarId> rows_;
};

}  // namespace lathe::lower
