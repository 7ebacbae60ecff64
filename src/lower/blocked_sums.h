// Blocked summation: sums of many numbers as sums of sums. Rounding errors grow with the number of
// terms of one total, not with all of them. The order of terms is unchanged, and only totals are
// stored.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "lathe/graph/graph.h"
#include "lathe/loop/loop.h"

namespace lathe::lower {

// Whether it sums so many floats that a plain sum would lose precision.
bool needs_blocked_sum(const graph::Node& reduce, int64_t terms);

// A serial loop: its variable, and how often it runs.
struct Trip {
  loop::VarId var;
  int64_t count;
};

// Totals of level 1 are added to those of level 0, the caller's, and so on; each level starts from
// zeros.
class BlockedSum {
 public:
  using Indices = std::vector<std::pair<loop::VarId, loop::Affine>>;  // of the trips' variables
  using Totals = std::vector<loop::BufferRef>;                        // registers of `width`
  // Adds the terms at these indices to these totals.
  using Terms =
      std::function<std::vector<loop::Stmt>(const Indices& indices, const Totals& totals)>;

  // `lanes`: of the target's vectors.
  BlockedSum(loop::ExprBuilder& exprs, Totals totals, int64_t width, int64_t lanes, Terms terms)
      : exprs_(exprs),
        levels_{std::move(totals)},
        width_(width),
        lanes_(lanes),
        terms_(std::move(terms)) {}

  // The loops, outermost first, around the terms.
  std::vector<loop::Stmt> around(const std::vector<Trip>& trips);

 private:
  using Trips = std::vector<Trip>;
  std::vector<loop::Stmt> level(const Trips& trips, const Indices& indices, size_t at);
  std::vector<loop::Stmt> block(const Trips& trips, const Indices& indices, size_t at);
  std::vector<loop::Stmt> split(const Trips& trips, size_t axis, int64_t length,
                                const Indices& indices, size_t at);
  // Sets the totals of this level to zero, or adds them to those above.
  void end(size_t level, bool adds, std::vector<loop::Stmt>& body);

  loop::ExprBuilder& exprs_;
  std::vector<Totals> levels_;
  int64_t width_, lanes_;
  Terms terms_;
};

}  // namespace lathe::lower
