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

// For random graphs and boundaries, the segments return bit by bit the results of the graph.
TEST(Segment, SegmentsReturnTheResultsOfTheGraph) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    const Graph graph = random.make(12);
    const auto inputs = random.values(graph, Kind::Input);
    auto states = random.values(graph, Kind::State);
    auto values = inputs;
    for (const auto& [name, value] : states) values[concat('@', name)] = value;
    const auto complete = evaluate(graph, inputs, states);
    ASSERT_TRUE(complete) << complete.error().message;
    std::vector<Value> boundaries;
    for (int k = 0; k < 3; ++k) {
      const Value value{random.below(static_cast<int>(graph.nodes.size()))};
      if (graph[value].kind == Kind::Map) boundaries.push_back(value);
    }
    std::ranges::sort(boundaries);
    boundaries.erase(std::ranges::unique(boundaries).begin(), boundaries.end());
    for (size_t part = 0; part <= boundaries.size(); ++part) {
      const Graph piece = segment(graph, boundaries, part);
      const Status sound = verify(piece);
      ASSERT_TRUE(sound) << sound.error().message;
      std::map<std::string, Array> none;
      const auto results = evaluate(piece, values, none);
      ASSERT_TRUE(results) << results.error().message;
      if (part < boundaries.size()) {
        EXPECT_TRUE(results->contains(concat('%', boundaries[part].id)));
      }
      values.insert(results->begin(), results->end());
    }
    for (const auto& [name, expected] : *complete)
      EXPECT_EQ(values.at(name).data, expected.data) << name;
    for (const Update& update : graph.updates) {
      const std::string& name = graph[update.state].name;
      EXPECT_EQ(values.at(concat('=', name)).data, states.at(name).data) << name;
    }
  }
}

TEST(Segment, ExportsOnlyWhatLaterSegmentsRead) {
  Builder b("f");
  const Tensor x = b.input("x", DType::F32, {3}), w = b.state("w", DType::F32, {3});
  const Tensor dead = exp(x), read = x * w, count = sum(read, {0});
  b.output("y", read + count);
  b.update(w, read);
  EXPECT_TRUE(dead.valid());
  const Value boundaries[] = {count.value};
  const Graph first = segment(b.graph(), boundaries, 0), last = segment(b.graph(), boundaries, 1);
  ASSERT_EQ(first.outputs.size(), 2u);
  EXPECT_EQ(first.outputs[0].name, concat('%', read.value.id));
  EXPECT_EQ(first.outputs[1].name, concat('%', count.value.id));
  EXPECT_EQ(inputs_of(first).size(), 2u);
  ASSERT_EQ(last.outputs.size(), 2u);
  EXPECT_EQ(last.outputs[0].name, "y");
  EXPECT_EQ(last.outputs[1].name, "=w");
  EXPECT_EQ(inputs_of(last).size(), 2u);
  const Value requested[] = {dead.value};
  EXPECT_EQ(segment(b.graph(), boundaries, 0, requested).outputs.size(), 3u);
}

}  // namespace
}  // namespace lathe::graph
