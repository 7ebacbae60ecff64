// encode and decode: the second undoes the first.
#include "lathe/graph/binary.h"

#include <gtest/gtest.h>

#include "lathe/graph/builder.h"
#include "lathe/graph/print.h"
#include "random_graph.h"

namespace lathe::graph {
namespace {

TEST(Binary, RandomGraphsReadBack) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Graph graph = RandomGraph(seed).make(20);
    const Encoded encoded = encode(graph);
    const auto decoded = decode(encoded.bytes, encoded.constants);
    ASSERT_TRUE(decoded) << seed << ": " << decoded.error().message;
    ASSERT_EQ(decoded->nodes.size(), graph.nodes.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      EXPECT_TRUE(decoded->nodes[i] == graph.nodes[i]) << seed << ' ' << i;
    }
    EXPECT_EQ(print(*decoded), print(graph));
  }
}

TEST(Binary, TooFewBytesAreAnError) {
  const Encoded encoded = encode(RandomGraph(7).make(20));
  for (size_t size = 0; size < encoded.bytes.size(); ++size) {
    EXPECT_FALSE(decode({encoded.bytes.data(), size}, encoded.constants)) << size;
  }
}

TEST(Binary, ConstantsThatShareTheirBytesStandOnce) {
  Builder b("twice");
  const SharedBytes data = std::vector<std::byte>(16);
  b.output("x", b.constant(DType::F32, {4}, data));
  b.output("y", b.constant(DType::I32, {2, 2}, data));
  EXPECT_EQ(encode(b.graph()).constants.size(), 1u);
}

}  // namespace
}  // namespace lathe::graph
