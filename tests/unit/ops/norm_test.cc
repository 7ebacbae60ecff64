// Values, gradients and errors of the normalizations.
#include "lathe/ops/nn/norm.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "lathe/grad/gradient.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;
using graph::Shape;

Tensor input(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::F32, std::move(shape));
}

TEST(Norm, Values) {
  const Inputs inputs = {{"x", Array::of({2, 2}, Floats{1, 2, 3, 10})},
                         {"scale", Array::of({2}, Floats{1, 2})},
                         {"offset", Array::of({2}, Floats{0, 5})}};
  expect_near(run(
                  [](Builder& b) {
                    const Tensor x = input(b, "x", {2, 2});
                    return batch_norm(x, moments(x, {0}), input(b, "scale", {2}),
                                      input(b, "offset", {2}), 0);
                  },
                  inputs),
              {-1, 3, 1, 7});
  expect_near(run(
                  [](Builder& b) {
                    return layer_norm(input(b, "x", {2, 2}), input(b, "scale", {2}),
                                      input(b, "offset", {2}), 0);
                  },
                  inputs),
              {-1, 7, -1, 7});
}

TEST(Norm, Gradients) {
  grad::check_gradients("batch", [](Builder& b) {
    const Tensor x = input(b, "x", {4, 2, 3});
    return batch_norm(x, moments(x, {0, 1}), input(b, "scale", {3}), input(b, "offset", {3}), 0.1f);
  });
  grad::check_gradients("layer", [](Builder& b) {
    return layer_norm(input(b, "x", {3, 4}), input(b, "scale", {4}), input(b, "offset", {4}), 0.1f);
  });
}

TEST(NormErrors, NameShapes) {
  EXPECT_EQ(message_of([](Builder& b) {
              return layer_norm(input(b, "x", {3, 4}), input(b, "scale", {3}), {}, 0);
            }),
            "layer_norm: x [3,4] needs statistics, scale and offset of shape [4], not [3]");
}

}  // namespace
}  // namespace lathe::ops
