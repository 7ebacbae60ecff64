// Sums of products by letters against plain loops, their gradients and errors.
#include "lathe/ops/linalg/einsum.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;
using graph::Shape;

Tensor in(Builder& b, const char* name, Shape shape) { return b.input(name, DType::F32, shape); }

const Inputs kInputs = {{"x", Array::of({2, 3}, Floats{1, 2, 3, 4, 5, 6})},
                        {"y", Array::of({3, 2}, Floats{1, 0, 2, 1, 0, 3})},
                        {"s", Array::of({2, 2}, Floats{1, 2, 3, 4})}};

TEST(Einsum, ProductsOfTwo) {
  expect_near(run(
                  [](Builder& b) {
                    return einsum("ij,jk", {in(b, "x", {2, 3}), in(b, "y", {3, 2})});
                  },
                  {{"x", kInputs.at("x")}, {"y", kInputs.at("y")}}),
              {5, 11, 14, 23});
  expect_near(run(
                  [](Builder& b) {
                    return einsum("ij,jk->ki", {in(b, "x", {2, 3}), in(b, "y", {3, 2})});
                  },
                  {{"x", kInputs.at("x")}, {"y", kInputs.at("y")}}),
              {5, 14, 11, 23});
}

TEST(Einsum, DiagonalsSumsAndThree) {
  const Inputs square = {{"s", kInputs.at("s")}};
  expect_near(run(
                  [](Builder& b) {
                    return einsum("ii->i", {in(b, "s", {2, 2})});
                  },
                  square),
              {1, 4});
  expect_near(run([](Builder& b) { return einsum("ii", {in(b, "s", {2, 2})}); }, square), {5});
  expect_near(run(
                  [](Builder& b) {
                    return einsum("ba", {in(b, "s", {2, 2})});
                  },
                  square),
              {1, 3, 2, 4});
  expect_near(run(
                  [](Builder& b) {
                    const Tensor s = in(b, "s", {2, 2});
                    return einsum("ij,jk,kl->il", {s, s, s});
                  },
                  square),
              {37, 54, 81, 118});
}

TEST(Einsum, DotsBroadcast) {
  expect_near(run(
                  [](Builder& b) {
                    const Tensor x = b.reshape(in(b, "x", {2, 3}), {2, 1, 3});
                    return einsum("...i, ...i->...", {x, in(b, "y", {2, 3})});
                  },
                  {{"x", kInputs.at("x")}, {"y", Array::of({2, 3}, Floats{1, 0, 0, 0, 1, 0})}}),
              {1, 2, 4, 5});
}

TEST(Einsum, Gradients) {
  grad::check_gradients("three", [](Builder& b) {
    return einsum("bij,bjk,k->bi", {in(b, "x", {2, 2, 3}), in(b, "y", {2, 3, 2}), in(b, "z", {2})});
  });
}

TEST(EinsumErrors, NameEquationAndShapes) {
  EXPECT_EQ(message_of([](Builder& b) {
              return einsum("ij,jk->ik", {in(b, "x", {2, 3}), in(b, "y", {2, 3})});
            }),
            "einsum: \"ij,jk->ik\" does not fit operands of shapes [2,3] [2,3]");
  EXPECT_EQ(message_of([](Builder& b) {
              return einsum("ij->ik", {in(b, "x", {2, 3})});
            }),
            "einsum: \"ij->ik\" does not fit operands of shapes [2,3]");
}

}  // namespace
}  // namespace lathe::ops
