// The evaluator on examples worked by hand.
#include "lathe/graph/evaluate.h"

#include <gtest/gtest.h>

#include "lathe/graph/builder.h"

namespace lathe::graph {
namespace {

using Floats = std::vector<float>;

Floats floats_of(const Array& array) {
  Floats values;
  for (int64_t i = 0; i < element_count(array.shape); ++i) {
    values.push_back(static_cast<float>(array[i].as_double()));
  }
  return values;
}

// The output of a graph over x = 1, 2, 3, 4, 5, 6 as [2,3].
Floats run(Tensor (*build)(Builder&, Tensor)) {
  Builder b("test");
  b.output("out", build(b, b.input("x", DType::F32, {2, 3})));
  const Floats x = {1, 2, 3, 4, 5, 6};
  std::map<std::string, Array> states;
  const auto graph = std::move(b).finish();
  EXPECT_TRUE(graph) << graph.error().message;
  return floats_of(evaluate(*graph, {{"x", Array::of({2, 3}, x)}}, states)->at("out"));
}

TEST(Evaluate, MapsAndBroadcasts) {
  EXPECT_EQ(run([](Builder&, Tensor x) { return 10.0f - x; }), (Floats{9, 8, 7, 6, 5, 4}));
  EXPECT_EQ(run([](Builder&, Tensor x) { return x * sum(x, {0}); }),
            (Floats{5, 14, 27, 20, 35, 54}));
  EXPECT_EQ(run([](Builder& b, Tensor x) { return b.cast(x > 3.0f * zero(x) + 3.0f, DType::F32); }),
            (Floats{0, 0, 0, 1, 1, 1}));
}

TEST(Evaluate, Reductions) {
  EXPECT_EQ(run([](Builder&, Tensor x) { return mean(x, {-1}); }), (Floats{2, 5}));
  EXPECT_EQ(run([](Builder&, Tensor x) { return max(x, {0}, true); }), (Floats{4, 5, 6}));
  EXPECT_EQ(run([](Builder& b, Tensor x) { return b.reduce(Op::Mul, x, {0, 1}); }), (Floats{720}));
}

TEST(Evaluate, Movement) {
  EXPECT_EQ(run([](Builder& b, Tensor x) {
              return b.permute(x, {1, 0});
            }),
            (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run([](Builder& b, Tensor x) {
              AffineMap shifted = AffineMap::project(2, {0, 1});
              shifted.axes[1].offset = -1;
              return b.reindex(x, shifted, {2, 5});
            }),
            (Floats{0, 1, 2, 3, 0, 0, 4, 5, 6, 0}));
  EXPECT_EQ(run([](Builder& b, Tensor x) {
              return b.cast(b.iota({2, 3}, 1), DType::F32) + b.reshape(b.reshape(x, {6}), {2, 3});
            }),
            (Floats{1, 3, 5, 4, 6, 8}));
}

TEST(Evaluate, Products) {
  EXPECT_EQ(run([](Builder& b, Tensor x) { return b.matmul(x, x, false, true); }),
            (Floats{14, 32, 32, 77}));
  // A correlation of each row with itself: out[i,j] = sum over k of x[i,j+k] x[i,k].
  EXPECT_EQ(run([](Builder& b, Tensor x) {
              Contraction c{{2, 3, 3},
                            AffineMap::project(3, {0, 1}),
                            AffineMap::project(3, {0, 1}),
                            AffineMap::project(3, {0, 2})};
              c.lhs.axes[1].coefficients[2] = 1;
              return b.contract(x, x, c, {2, 3});
            }),
            (Floats{14, 8, 3, 77, 50, 24}));
}

TEST(Evaluate, UpdatesHappenAtOnceAfterEveryRead) {
  Builder b("swap");
  const Tensor p = b.state("p", DType::F32, {}), q = b.state("q", DType::F32, {});
  b.update(p, q + 1.0f);
  b.update(q, p);
  b.output("sum", p + q);
  const Graph graph = *std::move(b).finish();
  std::map<std::string, Array> states = {{"p", Array::of({}, Floats{5})}};
  EXPECT_EQ(floats_of(evaluate(graph, {}, states)->at("sum")), Floats{5});
  EXPECT_EQ(floats_of(states["p"]), Floats{1});
  EXPECT_EQ(floats_of(states["q"]), Floats{5});
}

TEST(Evaluate, RejectsMissingAndMisshapenInputs) {
  Builder b("test");
  b.output("out", b.input("x", DType::F32, {2}));
  const Graph graph = *std::move(b).finish();
  std::map<std::string, Array> states;
  EXPECT_EQ(evaluate(graph, {}, states).error().message, "input \"x\" is missing");
  EXPECT_EQ(evaluate(graph, {{"x", Array::of({3}, Floats{1, 2, 3})}}, states).error().message,
            "input \"x\" is f32[2], got f32[3]");
  EXPECT_EQ(evaluate(graph, {{"x", Array::of({2}, Floats{1, 2, 3})}}, states).error().message,
            "input \"x\" is f32[2], got f32[2] with 12 bytes instead of 8");
}

}  // namespace
}  // namespace lathe::graph
