// Properties of every pass: it preserves values, its result is valid, running it twice changes
// nothing.
#include "lathe/opt/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "lathe/graph/builder.h"
#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
#include "lathe/opt/widen_float16.h"
#include "random_graph.h"

namespace lathe::opt {
namespace {

using graph::Array;
using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::RandomGraph;

struct Values {
  std::map<std::string, Array> outputs, states;
};

Values values_of(const Graph& graph, const std::map<std::string, Array>& inputs,
                 const std::map<std::string, Array>& states) {
  Values values{{}, states};
  values.outputs = *graph::evaluate(graph, inputs, values.states);
  return values;
}

void check(const Pass& pass, const Graph& before, uint32_t seed) {
  RandomGraph random(seed + 1000);
  const auto inputs = random.values(before, Kind::Input);
  const auto states = random.values(before, Kind::State);
  const Graph after = pass.run(before);
  const Status sound = graph::verify(after);
  ASSERT_TRUE(sound) << pass.name << ": " << sound.error().message;
  const Values expected = values_of(before, inputs, states);
  const Values got = values_of(after, inputs, states);
  const auto report = [&] { return "\n" + graph::print(before) + graph::print(after); };
  EXPECT_EQ(difference(expected.outputs, got.outputs, 1e-5), "") << pass.name << seed << report();
  EXPECT_EQ(difference(expected.states, got.states, 1e-5), "") << pass.name << seed << report();
  EXPECT_EQ(graph::print(pass.run(after)), graph::print(after)) << pass.name << " is idempotent";
}

TEST(Passes, PreserveValuesAndAreIdempotent) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = RandomGraph(seed).make(25);
    for (const Pass& pass : passes()) {
      check(pass, graph, seed);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST(Passes, PreserveValuesTogether) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Graph graph = RandomGraph(seed).make(40);
    const auto run_all = [](Graph g) {
      for (const Pass& pass : passes()) g = pass.run(std::move(g));
      return g;
    };
    const Graph after = run_all(graph);
    EXPECT_LE(after.nodes.size(), graph.nodes.size());
    RandomGraph random(seed);
    const auto inputs = random.values(graph, Kind::Input);
    const auto states = random.values(graph, Kind::State);
    const Values expected = values_of(graph, inputs, states),
                 got = values_of(after, inputs, states);
    ASSERT_EQ(difference(expected.outputs, got.outputs, 1e-5), "") << graph::print(graph);
    ASSERT_EQ(difference(expected.states, got.states, 1e-5), "") << graph::print(graph);
  }
}

// Large constants of float16, read as they are or scaled.
TEST(Passes, KeepConstantsOfFloat16WhereTheTargetHasIt) {
  constexpr int64_t kRows = 64, kColumns = 100;
  std::vector<scalar::Half> weights;
  std::vector<float> scales;
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    weights.push_back(scalar::half_of(static_cast<float>(i % 71) / 8 - 3));
  }
  for (int64_t i = 0; i < kColumns; ++i) scales.push_back(static_cast<float>(i) + 0.5f);
  const auto bytes_of = [](const auto& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    return std::vector(bytes.begin(), bytes.end());
  };
  const auto optimized = [&](bool scaled, Graph (*widen)(Graph)) {
    graph::Builder builder("g");
    const auto half = builder.constant(DType::F16, {kRows, kColumns}, bytes_of(weights));
    graph::Tensor factor = builder.cast(half, DType::F32);
    if (scaled) {
      const auto scale = builder.constant(DType::F32, {kColumns}, bytes_of(scales));
      factor = builder.map(scalar::Op::Mul, std::array{factor, scale});
    }
    const auto x = builder.input("x", DType::F32, {kRows, kColumns});
    builder.output("y", builder.map(scalar::Op::Add, std::array{x, factor}));
    Graph graph = *std::move(builder).finish();
    for (const Pass& pass : passes().first(passes().size() - type_passes().size())) {
      graph = pass.run == widen_float16 ? widen(std::move(graph)) : pass.run(std::move(graph));
    }
    return graph;
  };
  const auto count = [](const Graph& graph, DType dtype) {
    return std::ranges::count_if(graph.nodes, [&](const graph::Node& node) {
      return node.kind == Kind::Constant && node.dtype == dtype;
    });
  };
  const Graph wide = optimized(false, widen_float16);
  EXPECT_EQ(count(wide, DType::F16), 0);
  const Graph kept = optimized(false, widen_float16_but_constants);
  EXPECT_EQ(count(kept, DType::F16), 1);
  EXPECT_EQ(count(kept, DType::F32), 0);
  const Graph scaled = optimized(true, widen_float16_but_constants);
  EXPECT_EQ(count(scaled, DType::F16), 0) << graph::print(scaled);
  RandomGraph random(1);
  const auto inputs = random.values(wide, Kind::Input);
  EXPECT_EQ(difference(values_of(wide, inputs, {}).outputs, values_of(kept, inputs, {}).outputs, 0),
            "");
  const Graph expected = optimized(true, widen_float16);
  EXPECT_EQ(
      difference(values_of(expected, inputs, {}).outputs, values_of(scaled, inputs, {}).outputs, 0),
      "");
}

}  // namespace
}  // namespace lathe::opt
