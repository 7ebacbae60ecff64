// Divides a loop of known extent into runs of equal steps, so that edges get tiles of their own
// instead of tests.
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::lower {

// `count` steps of `width` from `begin`.
struct Segment {
  int64_t begin;
  int64_t count;
  int64_t width;
  // The last vector of the (only) step lies this far back, over what precedes it.
  int64_t shift = 0;
};

// Whole steps of `width`; what remains is one narrower step.
std::vector<Segment> split(int64_t extent, int64_t width);

// The fewest steps of at most `width`, as equal as can be.
std::vector<Segment> split_evenly(int64_t extent, int64_t width);

// The fewest steps of whole vectors, at most `width` (a multiple of the lanes) in each. Where the
// extent, at least one vector, is no multiple of the lanes, the last step has a shift.
std::vector<Segment> split_vectors(int64_t extent, int64_t width);

// Steps of `width` (a multiple of the lanes), then of the lanes. What is left over is either a last
// step of the lanes that overlaps the one before (`overlap`, where storing a value twice does no
// harm) or a narrow scalar step.
std::vector<Segment> split_lanes(int64_t extent, int64_t width, bool overlap);

inline bool is_vector(const Segment& segment) { return segment.width % loop::kLanes == 0; }

void append(std::vector<loop::Stmt>& to, std::vector<loop::Stmt> from);

// `body` inside loops over lanes of `width` elements: unrolled vectors, or unrolled scalars where
// width is no multiple. The element is vector * kLanes + lane; both variables are made by the
// caller through lane_loops.
struct LaneLoops {
  loop::VarId unroll = -1;  // absent when there is one step only
  loop::VarId turn = -1;    // where two vectors take turns: which of them it is
  loop::VarId vector = -1;  // absent for scalar steps
  loop::Affine element;

  loop::Affine place() const;  // where the element lies: in turns, or as counted

  std::vector<loop::Stmt> around(std::vector<loop::Stmt> body) const;
};
// `in_turns`: of each two vectors the elements take turns in memory; width is a multiple of both.
LaneLoops lane_loops(loop::Kernel& kernel, int64_t width, bool in_turns = false);

// for name in extent (serial) around body; the body alone where the extent is 1 and var is absent.
struct StepLoop {
  loop::VarId var = -1;
  loop::Affine position;  // begin + width * var

  std::vector<loop::Stmt> around(std::vector<loop::Stmt> body, bool outlined = false) const;
};
StepLoop step_loop(loop::Kernel& kernel, const char* name, const Segment& segment);

// Statements, the multiply-adds they hold, and whether those are in functions of their own.
struct Code {
  std::vector<loop::Stmt> body;
  int64_t work = 0;
  bool outlined = true;

  void add(Code other);
  // The loop around it, if there is one; outlines the body where that is not done and pays.
  void loop(const StepLoop& step, int64_t count);
};

}  // namespace lathe::lower
