#include "lathe/graph/segment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/evaluate.h"
#include "lathe/graph/verify.h"
#include "random_graph.h"

namespace lathe::graph {
namespace {

// Whatever the graph and wherever it is cut, its parts give bit by bit what it gives.
TEST(Segment, PartsGiveWhatTheWholeGives) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    const Graph graph = random.make(12);
    const auto inputs = random.values(graph, Kind::Input);
    auto states = random.values(graph, Kind::State);
    auto values = inputs;
    for (const auto& [name, value] : states) values[concat('@', name)] = value;
    const auto whole = evaluate(graph, inputs, states);
    ASSERT_TRUE(whole) << whole.error().message;
    std::vector<Value> cuts;
    for (int k = 0; k < 3; ++k) {
      const Value value{random.below(static_cast<int>(graph.nodes.size()))};
      if (graph[value].kind == Kind::Map) cuts.push_back(value);
    }
    std::ranges::sort(cuts);
    cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
    for (size_t part = 0; part <= cuts.size(); ++part) {
      const Graph piece = segment(graph, cuts, part);
      const Status sound = verify(piece);
      ASSERT_TRUE(sound) << sound.error().message;
      std::map<std::string, Array> none;
      const auto results = evaluate(piece, values, none);
      ASSERT_TRUE(results) << results.error().message;
      if (part < cuts.size()) {
        EXPECT_TRUE(results->contains(concat('%', cuts[part].id)));
      }
      values.insert(results->begin(), results->end());
    }
    for (const auto& [name, want] : *whole) EXPECT_EQ(values.at(name).data, want.data) << name;
    for (const Update& update : graph.updates) {
      const std::string& name = graph[update.state].name;
      EXPECT_EQ(values.at(concat('=', name)).data, states.at(name).data) << name;
    }
  }
}

TEST(Segment, GivesOnlyWhatOthersRead) {
  Builder b("f");
  const Tensor x = b.input("x", DType::F32, {3}), w = b.state("w", DType::F32, {3});
  const Tensor dead = exp(x), read = x * w, count = sum(read, {0});
  b.output("y", read + count);
  b.update(w, read);
  EXPECT_TRUE(dead.valid());
  const Value cuts[] = {count.value};
  const Graph first = segment(b.graph(), cuts, 0), last = segment(b.graph(), cuts, 1);
  ASSERT_EQ(first.outputs.size(), 2u);
  EXPECT_EQ(first.outputs[0].name, concat('%', read.value.id));
  EXPECT_EQ(first.outputs[1].name, concat('%', count.value.id));
  EXPECT_EQ(inputs_of(first).size(), 2u);
  ASSERT_EQ(last.outputs.size(), 2u);
  EXPECT_EQ(last.outputs[0].name, "y");
  EXPECT_EQ(last.outputs[1].name, "=w");
  EXPECT_EQ(inputs_of(last).size(), 2u);
  const Value wanted[] = {dead.value};
  EXPECT_EQ(segment(b.graph(), cuts, 0, wanted).outputs.size(), 3u);
}

}  // namespace
}  // namespace lathe::graph
