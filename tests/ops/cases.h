// The table of operation cases: each builds one graph. Every target runs the same table.
#pragma once

#include <span>
#include <string_view>

#include "lathe/graph/builder.h"

namespace lathe::ops_tests {

struct Case {
  std::string_view name;
  // Adds inputs and outputs. Random F32 inputs are in [-2, 2), I32 in [0, 4), Bool is either.
  void (*build)(graph::Builder& builder);
  // Whether gradients of the F32 outputs reach the F32 inputs and are smooth at random points.
  bool differentiable = true;
};

// An F32 input.
graph::Tensor floats(graph::Builder& b, const char* name, graph::Shape shape);

std::span<const Case> cases();
std::span<const Case> edge_cases();
std::span<const Case> memory_cases();     // rows and movement
std::span<const Case> loop_cases();       // over steps
std::span<const Case> control_cases();    // that data decides
std::span<const Case> node_cases();       // joins, gathers, scatters, scans
std::span<const Case> window_cases();     // convolutions, pools, normalizations
std::span<const Case> quantized_cases();  // weights of few bits

}  // namespace lathe::ops_tests
