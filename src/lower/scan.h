// Running folds (scans) along an axis: several rows that advance along it together.
#pragma once

#include <vector>

#include "lathe/lower/nest.h"
#include "lathe/lower/segments.h"

namespace lathe::lower {

class ScanLowering {
 public:
  ScanLowering(Nest& nest, const Group& group);

 protected:
  ~ScanLowering() = default;

  Nest& nest() { return nest_; }
  loop::Kernel& kernel() { return kernel_; }
  const Group& group() const { return group_; }
  const graph::Node& scan() const { return scan_; }
  loop::VarId axis_loop() const { return along_; }
  loop::VarId rows_loop() const { return rows_; }  // the last of the other loops
  int64_t extent(loop::VarId var) const { return kernel_.vars[var].extent; }
  const Index& index() const { return index_; }  // of the scanned tensor, by axis
  Index index_at(const loop::Affine& row, const loop::Affine& along) const;

  loop::ExprId identity();
  loop::ExprId fold(loop::ExprId a, loop::ExprId b);
  static std::vector<loop::Stmt> around(loop::VarId var, std::vector<loop::Stmt> body);
  // Loops over so many folds: lanes, or one number after the other.
  LaneLoops folds_loops(int64_t width, bool vector);
  // folds[at] accumulates the element at the index, before or after the group's members are stored.
  std::vector<loop::Stmt> fold_next(loop::BufferRef folds, const loop::Affine& at,
                                    const Index& index, const loop::Affine& lane, int64_t width);
  // The folds of a segment of the rows.
  std::vector<loop::Stmt> strip(const Segment& segment, bool vector);
  // The kernel, where `body` does all for the rows.
  void finish(std::vector<loop::Stmt> body);

 private:
  Nest& nest_;
  const Group& group_;
  const graph::Node& scan_;
  loop::Kernel& kernel_;
  loop::VarId along_ = -1;
  std::vector<loop::VarId> others_;
  loop::VarId rows_ = -1;
  Index index_;
};

}  // namespace lathe::lower
