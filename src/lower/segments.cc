#include "lathe/lower/segments.h"

#include <algorithm>
#include <utility>

namespace lathe::lower {

using loop::Affine;
using loop::Kernel;
using loop::LoopKind;
using loop::Stmt;

namespace {

// Fewer multiply-adds do not pay for a call.
constexpr int64_t kWorthCalling = 1024;

}  // namespace

std::vector<Segment> split(int64_t extent, int64_t width) {
  std::vector<Segment> segments;
  const int64_t full_steps = extent / width;
  if (full_steps > 0) segments.push_back({0, full_steps, width});
  if (extent % width != 0) segments.push_back({full_steps * width, 1, extent % width});
  return segments;
}

std::vector<Segment> split_evenly(int64_t extent, int64_t width) {
  if (extent == 0) return {};
  const int64_t steps = (extent + width - 1) / width;
  const int64_t narrow = extent / steps, wide_steps = extent % steps;
  std::vector<Segment> segments;
  if (wide_steps > 0) segments.push_back({0, wide_steps, narrow + 1});
  segments.push_back({wide_steps * (narrow + 1), steps - wide_steps, narrow});
  return segments;
}

void append(std::vector<Stmt>& to, std::vector<Stmt> from) {
  for (Stmt& stmt : from) to.push_back(std::move(stmt));
}

std::vector<Stmt> single(Stmt stmt) {
  std::vector<Stmt> stmts;
  stmts.push_back(std::move(stmt));
  return stmts;
}

std::vector<Stmt> LaneLoops::around(std::vector<Stmt> body) const {
  if (vector >= 0) {
    body = single(loop::for_loop(vector, LoopKind::Vector, std::move(body)));
  }
  for (const loop::VarId var : {half, unroll}) {
    if (var < 0) continue;
    body = single(loop::for_loop(var, LoopKind::Unroll, std::move(body)));
  }
  return body;
}

Affine LaneLoops::memory_index() const {
  if (half < 0) return element;
  return element + Affine::variable(vector) + Affine::variable(half, 1 - lanes);
}

LaneLoops vector_loops(Kernel& kernel, int64_t width, int64_t lanes, bool interleaved) {
  LaneLoops loops;
  if (lanes > 1 && width % lanes == 0) loops.lanes = lanes;
  const int64_t step = interleaved ? 2 * lanes : loops.lanes;
  if (width > step) {
    loops.unroll = kernel.add_var("u", width / step);
    loops.element += Affine::variable(loops.unroll, step);
  }
  if (interleaved) {
    loops.half = kernel.add_var("t", 2);
    loops.element += Affine::variable(loops.half, lanes);
  }
  if (loops.lanes > 1) {
    loops.vector = kernel.add_var("v", lanes);
    loops.element += Affine::variable(loops.vector);
  }
  return loops;
}

std::vector<Stmt> StepLoop::around(std::vector<Stmt> body, bool outlined) const {
  if (var < 0) return body;
  std::vector<Stmt> looped = single(loop::for_loop(var, LoopKind::Serial, std::move(body)));
  looped.back().outlined = outlined;
  return looped;
}

StepLoop step_loop(Kernel& kernel, const char* name, const Segment& segment) {
  StepLoop step;
  step.position = Affine(segment.begin);
  if (segment.count > 1) {
    step.var = kernel.add_var(name, segment.count);
    step.position += Affine::variable(step.var, segment.width);
  }
  return step;
}

void Code::add(Code other) {
  append(body, std::move(other.body));
  work += other.work;
  outlined = outlined && other.outlined;
}

void Code::loop(const StepLoop& step, int64_t count) {
  if (step.var < 0) return;
  const bool outline = !outlined && work >= kWorthCalling;
  body = step.around(std::move(body), outline);
  outlined = outlined || outline;
  work *= count;
}

}  // namespace lathe::lower
