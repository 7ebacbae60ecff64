// Properties of every pass: it preserves values, its result is valid, running it twice changes
// nothing.
#include "lathe/opt/passes.h"

#include <gtest/gtest.h>

#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
#include "random_graph.h"

namespace lathe::opt {
namespace {

using graph::Array;
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

}  // namespace
}  // namespace lathe::opt
