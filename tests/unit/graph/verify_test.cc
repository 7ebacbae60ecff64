// Each invariant broken once.
#include "lathe/graph/verify.h"

#include <gtest/gtest.h>

#include "lathe/graph/builder.h"
#include "random_graph.h"

namespace lathe::graph {
namespace {

Graph sound_graph() {
  Builder b("test");
  const Tensor x = b.input("x", DType::F32, {2, 3});
  const Tensor w = b.state("w", DType::F32, {3, 4});
  b.output("y", b.matmul(x, w));
  b.update(w, w * 0.5f);
  return *std::move(b).finish();
}

std::string message_after(void (*damage)(Graph&)) {
  Graph graph = sound_graph();
  damage(graph);
  const Status status = verify(graph);
  return status ? "sound" : status.error().message;
}

TEST(Verify, AcceptsWhatTheBuilderMakes) {
  EXPECT_TRUE(verify(sound_graph()));
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Status status = verify(RandomGraph(seed).make(20));
    EXPECT_TRUE(status) << seed << ": " << status.error().message;
  }
}

TEST(Verify, RejectsEveryBrokenInvariant) {
  EXPECT_EQ(message_after([](Graph& g) { g.nodes[2].operands[0].id = 3; }),
            "%2 contract: operand %3 does not come before it");
  EXPECT_EQ(message_after([](Graph& g) { g.nodes[2].operands.pop_back(); }),
            "%2 contract: has 1 operands, expected 2");
  EXPECT_EQ(message_after([](Graph& g) { g.nodes[4].operands.pop_back(); }),
            "%4 mul: expects 2 operands, not 1");
  EXPECT_EQ(message_after([](Graph& g) { g.nodes[4].shape = {12}; }),
            "%4 map: is f32[12], its operands yield f32[3,4]");
  EXPECT_EQ(message_after([](Graph& g) { g.nodes[4].name = "left over"; }),
            "%4 map: has an attribute of another kind");
  EXPECT_EQ(message_after([](Graph& g) { g.nodes[2].contraction.lhs.axes.pop_back(); }),
            "%2 contract lhs: the map has 1 axes, the tensor 2");
  EXPECT_EQ(message_after([](Graph& g) { g.nodes[3].data = std::vector<std::byte>(7); }),
            "%3 constant: 7 bytes do not fill f32[3,4]");
  EXPECT_EQ(message_after([](Graph& g) { g.updates[0].state.id = 0; }),
            "update %0: is not a state");
  EXPECT_EQ(message_after([](Graph& g) { g.updates.push_back(g.updates[0]); }),
            "state \"w\" is updated twice");
  EXPECT_EQ(message_after([](Graph& g) { g.outputs[0].name = "x"; }),
            "the output name \"x\" is already used");
  EXPECT_EQ(message_after([](Graph& g) { g.outputs[0].value.id = 99; }),
            "output \"y\" has no node");
}

}  // namespace
}  // namespace lathe::graph
