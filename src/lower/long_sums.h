// Sums of many numbers as sums of sums: rounding errors grow with the numbers that one total takes
// in turn, not with all of them. The order stays, and nothing is stored but totals.
#pragma once

#include <functional>
#include <map>
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

// Totals of level 0 take those of level 1, and so on; each level starts from zeros.
class LongSum {
 public:
  using Places = std::map<loop::VarId, loop::Affine>;  // of the trips' variables
  // The next terms, into totals of this level.
  using Terms = std::function<std::vector<loop::Stmt>(const Places& places, int level)>;
  // Zeros, and what adds the totals of this level to those above.
  using Totals = std::function<std::vector<loop::Stmt>(int level)>;

  LongSum(loop::Kernel& kernel, Terms terms, Totals clear, Totals add)
      : kernel_(kernel), terms_(std::move(terms)), clear_(std::move(clear)), add_(std::move(add)) {}

  // The loops, outermost first, around the terms.
  std::vector<loop::Stmt> around(const std::vector<Trip>& trips);

 private:
  using Trips = std::vector<Trip>;
  std::vector<loop::Stmt> level(const Trips& trips, const Places& places, int at) const;
  std::vector<loop::Stmt> block(const Trips& trips, const Places& places, int at) const;
  std::vector<loop::Stmt> split(const Trips& trips, size_t axis, int64_t length,
                                const Places& places, int at) const;

  loop::Kernel& kernel_;
  Terms terms_;
  Totals clear_, add_;
  int deepest_ = 0;
};

}  // namespace lathe::lower
