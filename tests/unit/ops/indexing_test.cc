// Arithmetic sequences.
#include "lathe/ops/movement/indexing.h"

#include <gtest/gtest.h>

#include "run.h"

namespace lathe::ops {
namespace {

using graph::Builder;
using graph::DType;
using scalar::Number;

template <int32_t start, int32_t step, int size, DType dtype>
Tensor sequence(Builder& b) {
  return range(b.full({}, Number::of(start)), b.full({}, Number::of(step)), size, dtype);
}

Tensor fractions(Builder& b) { return range(b.scalar(0.5f), b.scalar(-0.25f), 4, DType::F32); }
Tensor truncated(Builder& b) { return range(b.scalar(0.5f), b.scalar(0.75f), 4, DType::I32); }
Tensor of_axes(Builder& b) { return range(b.full({2}, Number::of(0)), b.scalar(1), 3, DType::F32); }

TEST(Range, ComputesInItsTypeAndCasts) {
  EXPECT_EQ(run(sequence<3, 2, 4, DType::I32>, {}), (Floats{3, 5, 7, 9}));
  EXPECT_EQ(run(sequence<1, -1, 3, DType::Bool>, {}), (Floats{1, 0, 1}));
  EXPECT_EQ(run(sequence<1, 1, 0, DType::F32>, {}), Floats{});
  EXPECT_EQ(run(fractions, {}), (Floats{0.5f, 0.25f, 0, -0.25f}));
  EXPECT_EQ(run(truncated, {}), (Floats{0, 1, 2, 2}));
}

TEST(Range, RejectsAxes) {
  EXPECT_NE(message_of(of_axes).find("range: start and step have no axes"), std::string::npos);
}

}  // namespace
}  // namespace lathe::ops
