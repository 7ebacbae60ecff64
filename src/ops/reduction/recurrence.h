// Loops over the steps of sequences, with their bodies built by a function.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// The arguments of the body of a scan, in a separate builder; all shapes are those outside but for
// the slices, which have no axis 0.
struct ScanStep {
  graph::Builder& builder;
  std::vector<Tensor> carried, slices, invariants;
};

// Its results: the carried values of the next step, and what is stacked along a new axis 0.
// Outside of the body: the last carried values, and the stacks.
struct ScanResult {
  std::vector<Tensor> carried, stacked;
};

struct ScanOptions {
  int64_t steps = 0;
  bool reverse = false;  // the last slice first; stacks are in the order of the slices
};

// Runs the body once for each step, as `lax.scan` of JAX and Scan of ONNX do: `xs` are sliced along
// axis 0, `invariants` are the same in every step.
ScanResult scan(graph::Builder& builder, const ScanOptions& options,
                std::span<const Tensor> initial, std::span<const Tensor> xs,
                std::span<const Tensor> invariants,
                const std::function<ScanResult(const ScanStep&)>& body);

}  // namespace lathe::ops
