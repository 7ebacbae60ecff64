// Random graphs over every node kind, small and free of values that explode: shared by the property
// tests.
#pragma once

#include <map>
#include <random>
#include <string>

#include "lathe/graph/evaluate.h"

namespace lathe::graph {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  // A graph of about this many operations with outputs and updates.
  Graph make(int operations);
  // Values for its inputs, or for its states.
  std::map<std::string, Array> values(const Graph& graph, Kind kind);

  int below(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }
  float unit() { return static_cast<float>(random_() % 2001) / 1000.0f - 1.0f; }

 private:
  std::mt19937 random_;
};

// Empty if every number agrees within the relative tolerance (NaN with NaN), else what differs.
std::string difference(const std::map<std::string, Array>& x, const std::map<std::string, Array>& y,
                       double tolerance);

}  // namespace lathe::graph
