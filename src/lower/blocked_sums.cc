#include "lathe/lower/blocked_sums.h"

#include "lathe/lower/segments.h"

namespace lathe::lower {

using loop::Affine;
using loop::LoopKind;
using loop::Stmt;

namespace {

constexpr int64_t kLong = 4096;  // more terms make a long sum
constexpr int64_t kTerms = 64;   // that are added to one total, except the first level
constexpr size_t kDeepest = 2;

int64_t count_of(const std::vector<Trip>& trips) {
  int64_t count = 1;
  for (const Trip& trip : trips) count *= trip.count;
  return count;
}

std::vector<Stmt> nested(std::span<const Trip> trips, std::vector<Stmt> body) {
  for (size_t i = trips.size(); i-- > 0;) {
    std::vector<Stmt> outer;
    outer.push_back(loop::for_loop(trips[i].var, LoopKind::Serial, std::move(body)));
    body = std::move(outer);
  }
  return body;
}

// Up to `max_length`; a divisor of the count, if there is one not much shorter.
int64_t block_length(int64_t count, int64_t max_length) {
  for (int64_t length = max_length; length > max_length / 2; --length) {
    if (count % length == 0) return length;
  }
  return max_length;
}

}  // namespace

bool needs_blocked_sum(const graph::Node& reduce, int64_t terms) {
  return terms > kLong && reduce.op == loop::Op::Add && scalar::is_float(reduce.dtype);
}

std::vector<Stmt> BlockedSum::around(const std::vector<Trip>& trips) {
  Indices indices;
  for (const Trip& trip : trips) indices.push_back({trip.var, Affine::variable(trip.var)});
  const int64_t count = count_of(trips);
  for (int64_t reach = kTerms; reach < count && levels_.size() <= kDeepest; reach *= kTerms) {
    Totals totals;
    for (const loop::BufferRef above : levels_[0]) {
      const auto dtype = exprs_.kernel().registers[above.id].dtype;
      totals.push_back(exprs_.kernel().add_register("sums", dtype, width_));
    }
    levels_.push_back(std::move(totals));
  }
  return level(trips, indices, 0);
}

void BlockedSum::end(size_t level, bool adds, std::vector<Stmt>& body) {
  for (size_t i = 0; i < levels_[level].size(); ++i) {
    const loop::BufferRef from = levels_[level][i], to = adds ? levels_[level - 1][i] : from;
    const auto dtype = exprs_.kernel().registers[from.id].dtype;
    const LaneLoops lanes = vector_loops(exprs_.kernel(), width_, lanes_);
    const auto load = [&](loop::BufferRef of) { return exprs_.load(of, dtype, lanes.element); };
    const loop::ExprId value = adds ? exprs_.apply(loop::Op::Add, {load(to), load(from)})
                                    : exprs_.constant(loop::Number::from(dtype, 0));
    append(body, lanes.around({loop::store(to, lanes.element, value)}));
  }
}

std::vector<Stmt> BlockedSum::block(const Trips& trips, const Indices& indices, size_t at) {
  std::vector<Stmt> body;
  end(at + 1, false, body);
  append(body, level(trips, indices, at + 1));
  end(at + 1, true, body);
  return body;
}

std::vector<Stmt> BlockedSum::level(const Trips& trips, const Indices& indices, size_t at) {
  if (at + 1 == levels_.size() || count_of(trips) <= kTerms) {
    return nested(trips, terms_(indices, levels_[at]));
  }
  int64_t max_length = kTerms;
  for (size_t below = at + 2; below < levels_.size(); ++below) max_length *= kTerms;
  // The innermost loops that form a block, and how often the next one may run in it.
  size_t first = trips.size();
  int64_t terms = 1;
  while (first > 0 && trips[first - 1].count <= max_length / terms) terms *= trips[--first].count;
  if (first == 0) return block(trips, indices, at);
  return split(trips, first - 1, block_length(trips[first - 1].count, max_length / terms), indices,
               at);
}

// Splits the loop of this axis into blocks of that length, in which it and the following loops run.
std::vector<Stmt> BlockedSum::split(const Trips& trips, size_t axis, int64_t length,
                                    const Indices& indices, size_t at) {
  const Trip& trip = trips[axis];
  const auto part = [&](int64_t count, const Affine& begin) {
    Trips inner(trips.begin() + static_cast<std::ptrdiff_t>(axis), trips.end());
    inner[0] = {exprs_.kernel().add_var("r", count), count};
    Indices moved = indices;
    for (auto& [var, index] : moved) {
      index = index.substitute(trip.var, begin + Affine::variable(inner[0].var));
    }
    return block(inner, moved, at);
  };
  const int64_t blocks = trip.count / length, full = blocks * length;
  const Trip step{exprs_.kernel().add_var("b", blocks), blocks};
  std::vector<Stmt> body = nested({&step, 1}, part(length, Affine::variable(step.var, length)));
  if (full < trip.count) append(body, part(trip.count - full, Affine(full)));
  return nested(std::span(trips).first(axis), std::move(body));
}

}  // namespace lathe::lower
