// The sums that batches add to metrics.
#include "lathe/ops/nn/metrics.h"

#include <gtest/gtest.h>

#include "run.h"

namespace lathe::ops::metrics_test {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

Tensor x(Builder& b) { return b.input("x", DType::F32, {4, 3}); }
Tensor y(Builder& b) { return b.input("y", DType::F32, {4, 3}); }
Tensor w(Builder& b) { return b.input("w", DType::F32, {4}); }
Tensor p(Builder& b) { return b.input("p", DType::F32, {5, 1}); }
Tensor q(Builder& b) { return b.input("q", DType::F32, {5, 1}); }
Tensor v(Builder& b) { return b.input("v", DType::F32, {5}); }

Inputs values() {
  return {
      {"x", Array::of({4, 3}, Floats{1, 2, 3, -1, 0.25f, 100, 0.75f, 0.5f, 0, 9, 9, 9})},
      {"y", Array::of({4, 3}, Floats{0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1})},
      {"w", Array::of({4}, Floats{1, 1, 1, 0})},
      {"p", Array::of({5, 1}, Floats{0.9f, 0.2f, 0.6f, 0.4f, 0.7f})},
      {"q", Array::of({5, 1}, Floats{1, 0, 0, 1, 1})},
      {"v", Array::of({5}, Floats{1, 1, 1, 1, 0})},
  };
}

TEST(Metrics, HitsPerRow) {
  EXPECT_EQ(run([](Builder& b) { return row_hits(x(b), y(b)); }, values()), (Floats{0, 0, 1, 0}));
  EXPECT_EQ(run([](Builder& b) { return row_hits(-x(b), y(b)); }, values()), (Floats{0, 1, 0, 0}));
  EXPECT_EQ(run([](Builder& b) { return row_hits(p(b), q(b)); }, values()),
            (Floats{1, 1, 0, 0, 1}));
  EXPECT_EQ(run([](Builder& b) { return sparse_hits(x(b), b.input("c", DType::I32, {4})); },
                {{"x", values().at("x")}, {"c", Array::of({4}, Ints{2, 0, 0, 0})}}),
            (Floats{1, 0, 1, 1}));
  expect_near(run([](Builder& b) { return binary_hits(x(b), y(b)); }, values()),
              {1.0f / 3, 1.0f / 3, 1, 1.0f / 3});
}

TEST(Metrics, OnlyLabelsOfZeroAndOneAreHit) {
  const Inputs labels = {{"p", values().at("p")},
                         {"q", Array::of({5, 1}, Floats{0.9f, 0, 1, -1, 2})}};
  EXPECT_EQ(run([](Builder& b) { return row_hits(p(b), q(b)); }, labels), (Floats{0, 1, 1, 0, 0}));
}

TEST(Metrics, TopKCountsTheOutputsAbove) {
  EXPECT_EQ(run([](Builder& b) { return top_k_hits(x(b), y(b), 1); }, values()),
            (Floats{0, 0, 1, 1}));
  EXPECT_EQ(run([](Builder& b) { return top_k_hits(x(b), y(b), 2); }, values()),
            (Floats{1, 0, 1, 1}));
  EXPECT_EQ(run([](Builder& b) { return top_k_hits(x(b), y(b), 3); }, values()),
            (Floats{1, 1, 1, 1}));
}

TEST(Metrics, RowsOfWeightZeroCountForNothing) {
  EXPECT_EQ(run([](Builder& b) { return mean_over_rows(row_hits(x(b), y(b)), w(b)); }, values()),
            (Floats{1, 3}));
  EXPECT_EQ(run([](Builder& b) { return precision_counts(x(b), y(b), w(b), 0.5f); }, values()),
            (Floats{2, 3}));
  EXPECT_EQ(run([](Builder& b) { return recall_counts(x(b), y(b), w(b), 0.5f); }, values()),
            (Floats{2, 1}));
  EXPECT_EQ(run([](Builder& b) { return confusion_counts(x(b), y(b), w(b)); }, values()),
            (Floats{1, 0, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(run([](Builder& b) { return confusion_counts(p(b), q(b), v(b)); }, values()),
            (Floats{1, 1, 1, 1}));
  expect_near(run([](Builder& b) { return determination_sums(p(b), q(b), v(b)); }, values()),
              {0.01f + 0.04f + 0.36f + 0.36f, 2, 2, 4});
}

TEST(Metrics, CurveRunsFromAllToNothing) {
  // Thresholds 0, 1/2, 1: above them are all, two and none of the four rows.
  EXPECT_EQ(run([](Builder& b) { return curve_counts(p(b), q(b), v(b), 3); }, values()),
            (Floats{2, 1, 0, 2, 1, 0}));
  EXPECT_EQ(run([](Builder& b) { return curve_counts(p(b), q(b), v(b), 2); }, values()),
            (Floats{2, 0, 2, 0}));
}

}  // namespace
}  // namespace lathe::ops::metrics_test
