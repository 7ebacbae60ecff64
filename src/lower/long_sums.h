// Sums of many numbers as sums of sums: rounding errors grow with the numbers that one total takes
// in turn, not with all of them. The order stays, and nothing is stored but totals.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "lathe/graph/graph.h"
#include "lathe/loop/loop.h"

namespace lathe::lower {

// Whether it sums floats, and so many that their sum would lose digits.
bool is_long_sum(const graph::Node& reduce, int64_t terms);

// A serial loop: its variable, and how often it runs.
struct Trip {
  loop::VarId var;
  int64_t count;
};

// Totals of level 0, the caller's, take those of level 1, and so on; each level starts from zeros.
class LongSum {
 public:
  using Places = std::vector<std::pair<loop::VarId, loop::Affine>>;  // of the trips' variables
  using Totals = std::vector<loop::BufferRef>;                       // registers of `width`
  // The next terms, into these totals.
  using Terms = std::function<std::vector<loop::Stmt>(const Places& places, const Totals& totals)>;

  LongSum(loop::ExprBuilder& exprs, Totals totals, int64_t width, Terms terms)
      : exprs_(exprs), levels_{std::move(totals)}, width_(width), terms_(std::move(terms)) {}

  // The loops, outermost first, around the terms.
  std::vector<loop::Stmt> around(const std::vector<Trip>& trips);

 private:
  using Trips = std::vector<Trip>;
  std::vector<loop::Stmt> level(const Trips& trips, const Places& places, size_t at);
  std::vector<loop::Stmt> block(const Trips& trips, const Places& places, size_t at);
  std::vector<loop::Stmt> split(const Trips& trips, size_t axis, int64_t length,
                                const Places& places, size_t at);
  // The totals of this level become zeros, or are added to those above.
  void end(size_t level, bool adds, std::vector<loop::Stmt>& body);

  loop::ExprBuilder& exprs_;
  std::vector<Totals> levels_;
  int64_t width_;
  Terms terms_;
};

}  // namespace lathe::lower
