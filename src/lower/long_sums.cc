#include "lathe/lower/long_sums.h"

#include "lathe/lower/segments.h"

namespace lathe::lower {

using loop::Affine;
using loop::LoopKind;
using loop::Stmt;

namespace {

constexpr int64_t kLong = 4096;  // more terms make a long sum
constexpr int64_t kTerms = 64;   // that one total takes in turn, but for the first
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

// At most `most`: one that divides the count, if there is any not much shorter.
int64_t block_length(int64_t count, int64_t most) {
  for (int64_t length = most; length > most / 2; --length) {
    if (count % length == 0) return length;
  }
  return most;
}

}  // namespace

bool is_long_sum(const graph::Node& reduce, int64_t terms) {
  return terms > kLong && reduce.op == loop::Op::Add && scalar::is_float(reduce.dtype);
}

std::vector<Stmt> LongSum::around(const std::vector<Trip>& trips) {
  Places places;
  for (const Trip& trip : trips) places.push_back({trip.var, Affine::variable(trip.var)});
  const int64_t count = count_of(trips);
  for (int64_t reach = kTerms; reach < count && levels_.size() <= kDeepest; reach *= kTerms) {
    Totals totals;
    for (const loop::BufferRef above : levels_[0]) {
      const auto dtype = exprs_.kernel().registers[static_cast<size_t>(above.id)].dtype;
      totals.push_back(exprs_.kernel().add_register("sums", dtype, width_));
    }
    levels_.push_back(std::move(totals));
  }
  return level(trips, places, 0);
}

void LongSum::end(size_t level, bool adds, std::vector<Stmt>& body) {
  for (size_t i = 0; i < levels_[level].size(); ++i) {
    const loop::BufferRef from = levels_[level][i], to = adds ? levels_[level - 1][i] : from;
    const auto dtype = exprs_.kernel().registers[static_cast<size_t>(from.id)].dtype;
    const LaneLoops lanes = lane_loops(exprs_.kernel(), width_);
    const auto load = [&](loop::BufferRef of) { return exprs_.load(of, dtype, lanes.element); };
    const loop::ExprId value = adds ? exprs_.apply(loop::Op::Add, {load(to), load(from)})
                                    : exprs_.constant(loop::Number::from(dtype, 0));
    append(body, lanes.around({loop::store(to, lanes.element, value)}));
  }
}

std::vector<Stmt> LongSum::block(const Trips& trips, const Places& places, size_t at) {
  std::vector<Stmt> body;
  end(at + 1, false, body);
  append(body, level(trips, places, at + 1));
  end(at + 1, true, body);
  return body;
}

std::vector<Stmt> LongSum::level(const Trips& trips, const Places& places, size_t at) {
  if (at + 1 == levels_.size() || count_of(trips) <= kTerms) {
    return nested(trips, terms_(places, levels_[at]));
  }
  int64_t most = kTerms;
  for (size_t below = at + 2; below < levels_.size(); ++below) most *= kTerms;
  // The innermost loops that make a block, and how often the next one may run in it.
  size_t first = trips.size();
  int64_t terms = 1;
  while (first > 0 && trips[first - 1].count <= most / terms) terms *= trips[--first].count;
  if (first == 0) return block(trips, places, at);
  return split(trips, first - 1, block_length(trips[first - 1].count, most / terms), places, at);
}

// The loop of this axis as one over blocks of that length, in which it and those behind it run.
std::vector<Stmt> LongSum::split(const Trips& trips, size_t axis, int64_t length,
                                 const Places& places, size_t at) {
  const Trip& trip = trips[axis];
  const auto part = [&](int64_t count, const Affine& begin) {
    Trips inner(trips.begin() + static_cast<std::ptrdiff_t>(axis), trips.end());
    inner[0] = {exprs_.kernel().add_var("r", count), count};
    Places moved = places;
    for (auto& [var, place] : moved) {
      place = place.substitute(trip.var, begin + Affine::variable(inner[0].var));
    }
    return block(inner, moved, at);
  };
  const int64_t blocks = trip.count / length, whole = blocks * length;
  const Trip step{exprs_.kernel().add_var("b", blocks), blocks};
  std::vector<Stmt> body = nested({&step, 1}, part(length, Affine::variable(step.var, length)));
  if (whole < trip.count) append(body, part(trip.count - whole, Affine(whole)));
  return nested(std::span(trips).first(axis), std::move(body));
}

}  // namespace lathe::lower
