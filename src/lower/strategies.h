// How a group becomes a kernel: one strategy for each kind of anchor. Nothing here decides what is
// fused.
#pragma once

#include "lower/nest.h"

namespace lathe::lower {

// One loop for each axis around the stores; scheduled later by collapse_loops and vectorise_loops.
void lower_map(Nest& nest, const Group& group);

// The loops of a group that reduces.
struct RowSpace {
  std::vector<loop::VarId> kept, reduced;
  Index index;  // of an element of what is reduced, by axis
};

// Running folds in registers along each row, lanes along the last reduced axis where that is
// contiguous.
void lower_rows(Nest& nest, const Group& group, RowSpace space);

// One reduction: lanes along a kept axis where only that is contiguous, else as rows.
void lower_reduce(Nest& nest, const Group& group);

// By one of the strategies for contractions, which its schedule names.
void lower_contract(Nest& nest, const Group& group);

class Contraction;
void tile_contract(Contraction& contraction, const ContractionShape& shape,
                   const Schedule& schedule);
void dot_contract(Contraction& contraction, const ContractionShape& shape,
                  const Schedule& schedule);
void winograd_contract(Contraction& contraction, const ContractionShape& shape,
                       const Schedule& schedule);
void scatter_contract(Contraction& contraction);

// One loop nest for each operand, into the places it goes to.
void lower_join(Nest& nest, const Group& group);

// Zeros, then additions one after the other.
void lower_scatter(Nest& nest, const Group& group);

// A running fold along the axis, with lanes along an axis behind it.
void lower_scan(Nest& nest, const Group& group);

// Few places: the best so far in registers, which most vectors of a row cannot enter. Many: merges
// of runs twice as long each time.
void lower_sort(Nest& nest, const Group& group);

}  // namespace lathe::lower
