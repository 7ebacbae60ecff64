// Runs the case table, random graphs and random loop modules on the loop interpreter against the
// slow evaluators, and writes each as compiled modules with inputs and expected results for engines
// to run (run.mjs). Usage: ops_test OUTPUT_DIR [--all-types]
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "cases.h"
#include "harness.h"
#include "lathe/base/text.h"
#include "product_cases.h"
#include "random_programs.h"
#include "retyped.h"
#include "row_cases.h"

namespace lathe::ops_tests {
namespace {

constexpr uint32_t kRandomGraphs = 150;
constexpr uint32_t kRandomModules = 200;
// Of programs over other types: the plain ones.
constexpr std::span<const Variant> kTypedVariants = std::span(kVariants).first(2);

constexpr std::span<const Variant> kShortVariants = std::span(kVariants).first(6);

struct Retyping {
  DType from, to;
};

// The entry `run`, and for differentiable cases `grad`.
Result<graph::Program> build(const Case& test, std::optional<Retyping> types = {}) {
  graph::Builder forward("run");
  test.build(forward);
  LATHE_ASSIGN_OR_RETURN(graph::Graph run, std::move(forward).finish());
  if (types) {
    LATHE_ASSIGN_OR_RETURN(run, retyped(run, types->from, types->to));
  }
  if (test.differentiable) return with_gradients(std::move(run));
  return graph::Program{{std::move(run)}};
}

void fill(const graph::Graph& graph, Arrays& inputs, Arrays& states, std::mt19937& random) {
  for (const graph::Node& node : graph.nodes) {
    if (node.kind == graph::Kind::Input && !inputs.contains(node.name)) {
      inputs[node.name] = random_array(node.dtype, node.shape, random);
    }
    if (node.kind == graph::Kind::State && !states.contains(node.name)) {
      states[node.name] = random_array(node.dtype, node.shape, random);
    }
  }
}

Status run_program(std::string name, const graph::Program& program, Manifest& manifest,
                   std::span<const Variant> variants) {
  std::mt19937 random(17);
  Expectation expectation;
  expectation.name = std::move(name);
  Arrays &inputs = expectation.inputs, &states = expectation.states;
  for (const graph::Graph& entry : program.entries) fill(entry, inputs, states, random);
  for (const graph::Graph& entry : program.entries) {
    Outcome& expected = expectation.expected.emplace_back();
    expected.states = states;
    LATHE_ASSIGN_OR_RETURN(expected.outputs, graph::evaluate(entry, inputs, expected.states));
  }
  Targets targets = {&compile::wasm_target()};
  const bool is_first = variants.size() == std::size(kVariants);  // not over another type
  if (is_first && may_be_shaders(program)) targets.push_back(&compile::webgpu_target());
  LATHE_TRY(check_passes(program, expectation, targets));
  return manifest.add(expectation, program, variants);
}

Status run_case(const Case& test, Manifest& manifest) {
  LATHE_ASSIGN_OR_RETURN(const graph::Program program, build(test));
  return run_program(std::string(test.name), program, manifest, kVariants);
}

bool contains(const graph::Program& program, DType dtype) {
  return std::ranges::any_of(program.entries, [dtype](const graph::Graph& entry) {
    return std::ranges::any_of(entry.nodes,
                               [dtype](const graph::Node& node) { return node.dtype == dtype; });
  });
}

struct Counts {
  int passed = 0, failed = 0, skipped = 0;

  void add(std::string_view name, const Status& status) {
    ++(status ? passed : failed);
    if (!status) std::printf("%s: %s\n", std::string(name).c_str(), status.error().message.c_str());
  }
};

// The case over another type of floats and another of integers, where its operations support them:
// each case over the next ones, or over all.
void run_retyped(const Case& test, int number, bool over_all, Manifest& manifest, Counts& counts) {
  constexpr DType kFloats[] = {DType::F64, DType::F16, DType::BF16};
  constexpr DType kIntegers[] = {DType::I8,  DType::U8,  DType::I16, DType::U16,
                                 DType::U32, DType::I64, DType::U64};
  const auto program = build(test);
  if (!program) return;
  const auto run_over = [&](DType from, std::span<const DType> types) {
    if (!contains(*program, from)) return;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!over_all && i != static_cast<size_t>(number) % types.size()) continue;
      const std::string name = concat(test.name, '.', scalar::text(types[i]));
      const auto forward = retyped(program->entries[0], from, types[i]);
      if (!forward && is_of_other_types(forward.error().message, types[i])) {
        ++counts.skipped;
        continue;
      }
      const auto other = build(test, Retyping{from, types[i]});
      counts.add(name, other ? run_program(name, *other, manifest, kTypedVariants)
                             : std::unexpected(other.error()));
    }
  };
  run_over(DType::F32, kFloats);
  run_over(DType::I32, kIntegers);
}

int run_all(const std::filesystem::path& directory, bool over_all) {
  std::filesystem::create_directories(directory);
  Manifest manifest(directory);
  Counts counts;
  int number = 0;
  for (const auto table : {cases, loop_cases, control_cases, node_cases, window_cases, edge_cases,
                           memory_cases, quantized_cases}) {
    for (const Case& test : table()) {
      counts.add(test.name, run_case(test, manifest));
      run_retyped(test, number++, over_all, manifest, counts);
    }
  }
  if (const auto products = short_products()) {
    for (const auto& [name, program] : *products) {
      counts.add(name, run_program(name, program, manifest, kShortVariants));
    }
  } else {
    counts.add("short products", std::unexpected(products.error()));
  }
  for (int i = 0; i < scalar::kOpCount; ++i) {
    const auto op = static_cast<scalar::Op>(i);
    if (!scalar::info(op).expanded) continue;
    for (const DType dtype : {DType::F32, DType::I32}) {
      if (!accepts(scalar::info(op).signature, dtype)) continue;
      counts.add(concat("row ", scalar::info(op).text), run_row(op, dtype, manifest));
    }
  }
  for (uint32_t seed = 0; seed < kRandomGraphs; ++seed) {
    counts.add(concat("random graph ", seed), run_random_graph(seed, manifest));
  }
  for (uint32_t seed = 0; seed < kRandomModules; ++seed) {
    counts.add(concat("random module ", seed), run_random_module(seed, manifest));
    counts.add(concat("random typed module ", seed), run_typed_module(seed, manifest));
  }
  manifest.write();
  std::printf("%d passed, %d failed, %d skipped\n", counts.passed, counts.failed, counts.skipped);
  return counts.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lathe::ops_tests

int main(int argc, char** argv) {
  const bool over_all = argc == 3 && std::string_view(argv[2]) == "--all-types";
  if (argc != 2 && !over_all) {
    std::fprintf(stderr, "usage: ops_test OUTPUT_DIR [--all-types]\n");
    return 2;
  }
  return lathe::ops_tests::run_all(argv[1], over_all);
}
