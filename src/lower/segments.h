// Divides a loop of static extent into runs of equal steps, so that edges have separate tiles
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
  // The last vector of the (only) step is this many elements back, overlapping the preceding ones.
  int64_t shift = 0;
};

// Full steps of `width`; the remainder is one narrower step.
std::vector<Segment> split(int64_t extent, int64_t width);

// The fewest steps of up to `width`, as equal as possible.
std::vector<Segment> split_evenly(int64_t extent, int64_t width);

void append(std::vector<loop::Stmt>& to, std::vector<loop::Stmt> from);
std::vector<loop::Stmt> single(loop::Stmt stmt);

// `body` inside loops over lanes of `width` elements: unrolled vectors, or unrolled scalars where
// width is no multiple. The element is unroll * lanes + lane.
struct LaneLoops {
  int64_t lanes = 1;        // of a vector
  loop::VarId unroll = -1;  // absent when there is one step only
  loop::VarId half = -1;    // of two interleaved vectors: which of them it is
  loop::VarId vector = -1;  // absent for scalar steps
  loop::Affine element;

  loop::Affine memory_index()
      const;  // the element's index in memory, where vectors may be interleaved

  std::vector<loop::Stmt> around(std::vector<loop::Stmt> body) const;
};
// `lanes`: of the target's vectors, 1 if it has none. `interleaved`: the elements of each two
// vectors alternate in memory; width is a multiple of both.
LaneLoops vector_loops(loop::Kernel& kernel, int64_t width, int64_t lanes,
                       bool interleaved = false);

// for name in extent (serial) around body; only the body where the extent is 1 and var is absent.
struct StepLoop {
  loop::VarId var = -1;
  loop::Affine position;  // begin + width * var

  std::vector<loop::Stmt> around(std::vector<loop::Stmt> body, bool outlined = false) const;
};
StepLoop step_loop(loop::Kernel& kernel, const char* name, const Segment& segment);

// Statements, the number of their multiply-adds, and whether those are in separate functions.
struct Code {
  std::vector<loop::Stmt> body;
  int64_t work = 0;
  bool outlined = true;

  void add(Code other);
  // The loop around it, if there is one; outlines the body where that is not done and pays.
  void loop(const StepLoop& step, int64_t count);
};

}  // namespace lathe::lower
