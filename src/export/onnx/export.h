// Graphs as ONNX models: opset 18 of ai.onnx, as ONNX Runtime and its web build run it. Knows no
// model of layers and no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::onnx_export {

struct Options {
  std::string name = {};              // of the graph; none: that of ours
  std::string producer_version = {};  // of who writes it
  // New names of inputs and outputs by their names in the graph; others are unchanged.
  std::map<std::string, std::string> inputs = {}, outputs = {};
};

// The graph where the sizes have these values.
struct Sample {
  std::vector<int64_t> sizes;
  graph::Graph graph;
};

struct Exported {
  std::vector<std::byte> file;
  bool has_symbols = false;  // of the sizes; else they are those of the first sample
};

// A model that computes the outputs of the graph from its inputs. States are weights with the
// contents, zero without; one that the graph updates is an input ("NAME/before" where an output is
// called so) and an output "NAME/next". Sums of convolutions and products have the order of the
// runtime, so results differ by rounding.
//
// Errors: bits of numbers, quotients of u64; 2 GiB of weights or more.
Result<Exported> export_onnx(const graph::Graph& graph,
                             std::span<const graph::StateContent> contents,
                             const Options& options = {});

// The sizes to sample for one, two, … symbols: for each way of choosing the first or second of a
// symbol's values, and eight more, for checking, in which each symbol has all remainders by 2, 3, 4
// and 8. `attempt` (from 0) tries others.
std::vector<std::vector<int64_t>> sample_sizes(size_t symbols, int attempt);

// A model for all sizes, if the graphs of these samples (as sample_sizes orders them) differ in
// sizes only, which are sums, products and quotients of these symbols, and in pads that
// auto_pad computes; else with the sizes of the first sample.
Result<Exported> export_onnx(std::span<const Sample> samples,
                             const std::vector<std::string>& symbols,
                             std::span<const graph::StateContent> contents,
                             const Options& options = {});

}  // namespace lathe::onnx_export
