// encode and decode: the second undoes the first.
#include "lathe/graph/binary.h"

#include <gtest/gtest.h>

#include <random>

#include "lathe/graph/builder.h"
#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
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

TEST(Binary, DamagedBytesAreAnErrorOrAnotherSoundGraph) {
  int sound = 0, rejected = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Encoded encoded = encode(RandomGraph(seed).make(12));
    std::mt19937 random(seed);
    for (int k = 0; k < 200; ++k) {
      std::vector<uint8_t> bytes = encoded.bytes;
      const size_t at = random() % bytes.size();
      // One that ends a number, one that goes on with it, none at all, or one more.
      if (k % 4 == 0) bytes[at] = static_cast<uint8_t>(random() % 128);
      if (k % 4 == 1) bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
      if (k % 4 == 2) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
      if (k % 4 == 3) bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes[at]);
      const auto decoded = decode(bytes, encoded.constants);
      ++(decoded ? sound : rejected);
      if (!decoded) continue;
      ASSERT_TRUE(verify(*decoded)) << seed << ' ' << k;
      const Encoded reencoded = encode(*decoded);
      ASSERT_TRUE(decode(reencoded.bytes, reencoded.constants)) << seed << ' ' << k;
    }
  }
  EXPECT_GT(sound, 100);
  EXPECT_GT(rejected, 1000);
}

// Of a graph whose single operation has been made another by `change`.
std::string refusal(void (*change)(Graph&)) {
  Builder b("one");
  const Tensor x = b.input("x", DType::F32, {2, 3});
  b.output("y", b.reduce(Op::Add, x + x, {1}));
  Graph graph = b.graph();
  change(graph);
  const Encoded encoded = encode(graph);
  const auto decoded = decode(encoded.bytes, encoded.constants);
  return decoded ? "" : decoded.error().message;
}

TEST(Binary, RejectsInvalidGraphs) {
  EXPECT_EQ(refusal([](Graph&) {}), "");
  using Change = void (*)(Graph&);
  const Change kChanges[] = {
      [](Graph& g) { g.nodes[1].kind = static_cast<Kind>(99); },
      [](Graph& g) { g.nodes[1].dtype = static_cast<DType>(77); },
      [](Graph& g) { g.nodes[1].op = static_cast<Op>(255); },
      [](Graph& g) { g.nodes[1].operands[0].id = 1; },
      [](Graph& g) { g.nodes[1].operands[0].id = -1; },
      [](Graph& g) { g.nodes[1].operands[0].id = 1 << 30; },
      [](Graph& g) { g.nodes[1].operands.push_back({0}); },
      [](Graph& g) {
        g.nodes[1].shape = {2, -3};
      },
      [](Graph& g) {
        g.nodes[0].shape = {int64_t{1} << 40, int64_t{1} << 40};
      },
      [](Graph& g) { g.nodes[2].axes = {2}; },
      [](Graph& g) { g.nodes[2].axes = {-1}; },
      [](Graph& g) { g.nodes[2].kind = Kind::Item; },
      [](Graph& g) { g.nodes[2].map.axes.resize(3); },
      [](Graph& g) { g.outputs[0].value.id = 3; },
      [](Graph& g) {
        g.updates.push_back({{0}, {1}});
      },
      [](Graph& g) { g.outputs.push_back(g.outputs[0]); },
  };
  for (size_t k = 0; k < std::size(kChanges); ++k) EXPECT_NE(refusal(kChanges[k]), "") << k;
}

TEST(Binary, RejectsMissingConstants) {
  Builder b("constant");
  b.output("y", b.constant(DType::F32, {4}, std::vector<std::byte>(16)));
  const Encoded encoded = encode(b.graph());
  EXPECT_TRUE(decode(encoded.bytes, encoded.constants));
  EXPECT_FALSE(decode(encoded.bytes, {}));
  const std::vector<SharedBytes> shorter = {std::vector<std::byte>(12)};
  EXPECT_FALSE(decode(encoded.bytes, shorter));
}

TEST(Binary, SharedConstantsAreStoredOnce) {
  Builder b("twice");
  const SharedBytes data = std::vector<std::byte>(16);
  b.output("x", b.constant(DType::F32, {4}, data));
  b.output("y", b.constant(DType::I32, {2, 2}, data));
  EXPECT_EQ(encode(b.graph()).constants.size(), 1u);
}

}  // namespace
}  // namespace lathe::graph
