// How a group is lowered to a kernel: one strategy for each kind of anchor. Independent of fusion
// decisions and of targets, which implement `Strategies`.
#pragma once

#include "lathe/lower/nest.h"

namespace lathe::lower {

class Contraction;
class SortSpace;

// The loops of a group that reduces.
struct RowSpace {
  std::vector<loop::VarId> spatial, reduced;
  Index index;  // of an element of what is reduced, by axis
};

// The target-specific strategies: lower/cpu and lower/gpu.
class Strategies {
 public:
  // A contraction in which each element of the output has separate iterations.
  virtual void contract(Contraction& contraction) = 0;
  virtual void reduce(Nest& nest, const Group& group, RowSpace space) = 0;
  virtual void scan(Nest& nest, const Group& group) = 0;
  // Rows that are not empty.
  virtual void sort(SortSpace& space) = 0;

  const int64_t lanes;  // of vectors; 1: there are none

 protected:
  explicit Strategies(int64_t count = 1) : lanes(count) {}
  ~Strategies() = default;
};

// One loop for each axis around the stores; scheduled later by collapse_loops and the passes after
// it for lanes or threads.
void lower_map(Nest& nest, const Group& group);

void lower_reduce(Nest& nest, const Group& group);
void lower_contract(Nest& nest, const Group& group);
void lower_scan(Nest& nest, const Group& group);
void lower_sort(Nest& nest, const Group& group);

// Where several iterations share an element of the output: zeros, then additions one after the
// other.
void scatter_contract(Contraction& contraction);

// One loop nest for each operand, which copies it to its part of the result.
void lower_join(Nest& nest, const Group& group);

// Zeros, then additions one after the other.
void lower_scatter(Nest& nest, const Group& group);

}  // namespace lathe::lower
