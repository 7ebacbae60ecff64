// Values, gradients and errors of determinants.
#include "lathe/ops/linalg/determinant.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

// The second needs another pivot, the third has none.
TEST(Determinant, OfEachMatrix) {
  expect_near(run(
                  [](Builder& b) {
                    return determinant(b.input("x", DType::F32, {3, 3, 3}));
                  },
                  {{"x", Array::of({3, 3, 3}, Floats{2, 0, 1, 1, 3, 2, 1, 1, 4,  //
                                                     0, 2, 0, 3, 0, 0, 0, 0, 5,  //
                                                     1, 2, 3, 2, 4, 6, 1, 0, 1})}}),
              {18, -30, 0});
  expect_near(run(
                  [](Builder& b) {
                    return determinant(b.input("x", DType::F32, {1, 1}));
                  },
                  {{"x", Array::of({1, 1}, Floats{-7})}}),
              {-7});
}

TEST(Determinant, Gradient) {
  grad::check_gradients("x", [](Builder& b) {
    return determinant(b.input("x", DType::F32, {2, 3, 3}));
  });
}

TEST(Determinant, RejectsNonSquareMatrices) {
  EXPECT_EQ(message_of([](Builder& b) {
              return determinant(b.input("x", DType::F32, {2, 3}));
            }),
            "determinant: x [2,3] must be [..., n, n]");
}

}  // namespace
}  // namespace lathe::ops
