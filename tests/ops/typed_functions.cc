// Random functions over all element types, on the loop interpreter after every pass, against the
// slow evaluator of graphs; writes each as compiled modules for engines to run (run.mjs). Usage:
// typed_functions OUTPUT_DIR FIRST END
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "harness.h"
#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/print.h"
#include "retyped.h"
#include "tests/random/functions.h"
#include "tests/random/rng.h"

namespace lathe::ops_tests {
namespace {

using graph::Graph;
using graph::Kind;
using graph::Node;
using random_tests::Rng;

// Elements that the interpreter computes after every pass.
constexpr int64_t kMaxWork = 40000;

int64_t work_of(const Graph& graph) {
  int64_t work = 0;
  for (const Node& node : graph.nodes) {
    work += node.kind == Kind::Contract ? graph::element_count(node.contraction.extents)
                                        : graph::element_count(node.shape);
    if (node.kind == Kind::Sort) work += graph::element_count(node.shape) * node.shape.back();
    if (node.kind == Kind::Loop) work += node.repetition.steps * work_of(*node.body);
  }
  return work;
}

// Whether sums in another order are other numbers of this type.
bool sums(const Graph& graph, DType dtype) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    const bool adds = node.kind == Kind::Contract || node.kind == Kind::Reduce ||
                      node.kind == Kind::Scan || node.kind == Kind::Scatter;
    return (adds && node.dtype == dtype) || (node.body && sums(*node.body, dtype));
  });
}

Arrays inputs_of(const Graph& graph, Rng& rng) {
  Arrays inputs;
  for (const Node& node : graph.nodes) {
    if (node.kind != Kind::Input) continue;
    Array array{node.dtype, node.shape, {}};
    for (int64_t i = 0; i < graph::element_count(node.shape); ++i) {
      const double number = node.dtype == DType::Bool      ? static_cast<double>(rng.below(2))
                            : scalar::is_float(node.dtype) ? rng.number(2)
                                                           : static_cast<double>(rng.from(-3, 12));
      const auto bytes =
          graph::bytes_of(scalar::cast(scalar::Number::from(DType::F64, number), node.dtype));
      array.data.insert(array.data.end(), bytes.begin(), bytes.end());
    }
    inputs[node.name] = std::move(array);
  }
  return inputs;
}

// Whether it goes from numbers to bits or back, which only types of one size do.
bool knows_bits(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    const bool is_one = node.op == scalar::Op::FromBits || node.op == scalar::Op::ToBits;
    return (node.kind == Kind::Map && is_one) || (node.body && knows_bits(*node.body));
  });
}

// Nothing where an operation does not support the type.
Result<std::optional<Graph>> over(const Graph& graph, DType from, DType to) {
  auto result = retyped(graph, from, to);
  if (result) return std::optional(*std::move(result));
  if (is_of_other_types(result.error().message, to)) return std::optional<Graph>();
  return std::unexpected(result.error());
}

// The function over other types of integers and of floats; nothing where no type of floats supports
// its operations and has sums that the oracle rounds identically.
Result<std::optional<Graph>> typed(Graph graph, Rng& rng) {
  static constexpr std::array kFloats = {DType::F64, DType::F16, DType::BF16};
  static constexpr std::array kIntegers = {DType::I8,  DType::U8,  DType::I16, DType::U16,
                                           DType::U32, DType::I64, DType::U64, DType::I32};
  const DType integers = rng.of(kIntegers), floats = rng.of(kFloats);
  if (integers != DType::I32) {
    LATHE_ASSIGN_OR_RETURN(std::optional<Graph> other, over(graph, DType::I32, integers));
    if (!other) return std::optional<Graph>();
    graph = *std::move(other);
  }
  for (const DType type : {floats, DType::F64}) {
    LATHE_ASSIGN_OR_RETURN(std::optional<Graph> other, over(graph, DType::F32, type));
    if (other && (type == DType::F64 || !sums(*other, type))) return other;
  }
  return std::optional<Graph>();
}

// The first that the interpreter supports and that can be retyped.
Result<Graph> typed_function(uint64_t seed, Rng& rng) {
  constexpr uint64_t kNext = 1ull << 40;
  for (;; seed += kNext) {
    Graph graph = random_tests::random_function(seed).graph;
    if (work_of(graph) > kMaxWork || knows_bits(graph)) continue;
    LATHE_ASSIGN_OR_RETURN(std::optional<Graph> result, typed(std::move(graph), rng));
    if (result) return *std::move(result);
  }
}

// Whether the oracle rounds its gradients identically: not for sums of float16.
bool is_differentiable(const Graph& graph) {
  const auto is_input = [](const Node& node) {
    return node.kind == Kind::Input && node.dtype == DType::F64;
  };
  const auto is_result = [&](const graph::Output& output) {
    return graph[output.value].dtype == DType::F64;
  };
  return std::ranges::any_of(graph.nodes, is_input) &&
         std::ranges::any_of(graph.outputs, is_result);
}

Status run_function(std::string name, const Graph& graph, Rng& rng, Manifest& manifest) {
  graph::Program program{{graph}};
  if (is_differentiable(graph)) {
    LATHE_ASSIGN_OR_RETURN(program, with_gradients(graph));
  }
  Expectation test;
  test.name = std::move(name);
  test.inputs = inputs_of(program.entries.back(), rng);
  for (const Graph& entry : program.entries) {
    Outcome& expected = test.expected.emplace_back();
    LATHE_ASSIGN_OR_RETURN(expected.outputs, graph::evaluate(entry, test.inputs, expected.states));
  }
  Targets targets = {&compile::wasm_target()};
  if (may_be_shaders(program)) targets.push_back(&compile::webgpu_target());
  LATHE_TRY(check_passes(program, test, targets));
  return manifest.add(test, program, std::span(kVariants).first(2));
}

// The error, with the function.
bool run_seed(uint64_t seed, Manifest& manifest) {
  const std::string name = concat("typed_function_", seed);
  Rng rng(seed ^ 0x7e57);
  const Result<Graph> graph = typed_function(seed, rng);
  const Status status =
      graph ? run_function(name, *graph, rng, manifest) : Status(std::unexpected(graph.error()));
  if (status) return true;
  std::printf("%s: %s\n%s", name.c_str(), status.error().message.c_str(),
              graph ? graph::print(*graph).c_str() : "");
  return false;
}

bool read_number(const char* text, uint64_t& number) {
  const char* end = text + std::string_view(text).size();
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end;
}

}  // namespace
}  // namespace lathe::ops_tests

int main(int argc, char** argv) {
  using namespace lathe::ops_tests;
  uint64_t first = 0, end = 0;
  if (argc != 4 || !read_number(argv[2], first) || !read_number(argv[3], end)) {
    std::fprintf(stderr, "usage: typed_functions OUTPUT_DIR FIRST END\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  Manifest manifest(argv[1]);
  int passed = 0, failed = 0;
  for (uint64_t seed = first; seed < end; ++seed) {
    ++(run_seed(seed, manifest) ? passed : failed);
  }
  manifest.write();
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
