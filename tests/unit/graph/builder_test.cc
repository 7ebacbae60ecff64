// Errors of the builder, with messages, and its results.
#include "lathe/graph/builder.h"

#include <gtest/gtest.h>

#include "lathe/graph/verify.h"

namespace lathe::graph {
namespace {

std::string message_of(void (*build)(Builder&)) {
  Builder builder("test");
  build(builder);
  const auto graph = std::move(builder).finish();
  return graph ? "no error" : graph.error().message;
}

Tensor input(Builder& b, const char* name, Shape shape, DType dtype = DType::F32) {
  return b.input(name, dtype, std::move(shape));
}

TEST(BuilderErrors, NameTheOperationAndTheShapes) {
  EXPECT_EQ(message_of([](Builder& b) {
              b.matmul(input(b, "x", {64, 784}), input(b, "w", {128, 10}));
            }),
            "matmul: inner dimensions differ: [64,784] x [128,10] (784 is not 128)");
  EXPECT_EQ(message_of([](Builder& b) {
              b.matmul(input(b, "x", {64, 784}), input(b, "w", {784, 10}), true);
            }),
            "matmul: inner dimensions differ: [64,784]^T x [784,10] (64 is not 784)");
  EXPECT_EQ(message_of([](Builder& b) {
              b.matmul(input(b, "x", {4}), input(b, "w", {4, 2}));
            }),
            "matmul: operands must have at least 2 axes: [4] x [4,2]");
  EXPECT_EQ(message_of([](Builder& b) {
              b.matmul(input(b, "x", {2, 4, 4}), input(b, "w", {3, 4, 4}));
            }),
            "matmul: batch dimensions do not broadcast: [2,4,4] x [3,4,4]");
  EXPECT_EQ(message_of([](Builder& b) {
              input(b, "x", {2, 3}) + input(b, "y", {2, 4});
            }),
            "add: shapes [2,3] [2,4] do not broadcast (3 against 4; sizes must be equal or 1)");
  EXPECT_EQ(message_of([](Builder& b) {
              b.map(Op::Add, {{input(b, "x", {2}), input(b, "y", {3})}}, "bias");
            }),
            "bias: shapes [2] [3] do not broadcast (2 against 3; sizes must be equal or 1)");
  EXPECT_EQ(message_of([](Builder& b) { input(b, "x", {2}) + input(b, "y", {2}, DType::I32); }),
            "add: does not support (f32, i32); cast the operands");
  EXPECT_EQ(message_of([](Builder& b) {
              b.reshape(input(b, "x", {2, 3}), {4});
            }),
            "reshape: [2,3] has 6 elements, [4] has 4");
  EXPECT_EQ(message_of([](Builder& b) {
              b.reshape(input(b, "x", {2, 3}), {4, -1});
            }),
            "reshape: [2,3] with 6 elements does not fit [4,-1]");
  EXPECT_EQ(message_of([](Builder& b) {
              sum(input(b, "x", {2, 3}), {2});
            }),
            "reduce add: axes [2] do not name axes of shape [2,3] once each");
  EXPECT_EQ(message_of([](Builder& b) { b.reduce(Op::Sub, input(b, "x", {2}), {0}); }),
            "reduce sub: is not a reduction");
  EXPECT_EQ(message_of([](Builder& b) {
              b.permute(input(b, "x", {2, 3}), {0, 0});
            }),
            "permute: [0,0] is not an order of the axes of [2,3]");
  EXPECT_EQ(message_of([](Builder& b) {
              b.broadcast_to(input(b, "x", {2, 3}), {3, 3});
            }),
            "broadcast_to: shape [2,3] does not broadcast to [3,3]");
  EXPECT_EQ(message_of([](Builder& b) {
              input(b, "x", {-1, 3});
            }),
            "input: shape [-1,3] has a negative size");
  EXPECT_EQ(message_of([](Builder& b) {
              input(b, "x", {1 << 30, 1 << 30, 1 << 30});
            }),
            "input: shape [1073741824,1073741824,1073741824] has too many elements");
}

TEST(BuilderErrors, NameStatesInputsAndOutputs) {
  EXPECT_EQ(message_of([](Builder& b) { input(b, "x", {2}), input(b, "x", {2}); }),
            "input: the name \"x\" is already used");
  EXPECT_EQ(
      message_of([](Builder& b) { b.state("w", DType::F32, {2}), b.state("w", DType::F32, {3}); }),
      "state: \"w\" is f32[2], requested as f32[3]");
  EXPECT_EQ(message_of([](Builder& b) { b.update(input(b, "x", {2}), b.scalar(1)); }),
            "update: the target must be a state, not input");
  EXPECT_EQ(message_of([](Builder& b) { b.update(b.state("w", DType::F32, {2}), b.scalar(1)); }),
            "update: state \"w\" is f32[2], its new value f32[]");
  EXPECT_EQ(message_of([](Builder& b) { b.output("x", input(b, "x", {2})); }),
            "output: the name \"x\" is already used");
}

TEST(BuilderErrors, TensorsAreOfThisGraph) {
  Builder other("other");
  const Tensor strange = other.input("x", DType::F32, {2});
  EXPECT_EQ(message_of([](Builder& b) { b.output("y", Tensor()); }), "test: a tensor is none");
  EXPECT_EQ(message_of([](Builder& b) { input(b, "x", {2}) + Tensor(); }),
            "test: a tensor is none");
  Builder b("test");
  b.output("y", input(b, "x", {2}) + strange);
  EXPECT_EQ(b.message(), "test: a tensor is of another graph");
}

TEST(BuilderErrors, TheFirstOneIsReported) {
  EXPECT_EQ(message_of([](Builder& b) {
              const Tensor bad = b.reshape(input(b, "x", {2}), {3});
              EXPECT_FALSE(bad.valid());
              b.output("y", exp(bad + 1.0f));
              b.permute(bad, {0, 0});
            }),
            "reshape: [2] has 2 elements, [3] has 3");
}

TEST(Builder, BroadcastsAsNumPy) {
  Builder b("test");
  const Tensor x = input(b, "x", {4, 1, 6}), y = input(b, "y", {5, 1});
  EXPECT_EQ((x + y).shape(), (Shape{4, 5, 6}));
  EXPECT_EQ((x + 1.0f).shape(), (Shape{4, 1, 6}));
  EXPECT_EQ((x < y).dtype(), DType::Bool);
  EXPECT_TRUE(verify(*std::move(b).finish()));
}

// The reshape moves the nodes now and then, and with them what shape() refers to.
TEST(Builder, BroadcastsToTheShapeOfATensorWhileTheGraphGrows) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {3}), y = b.input("y", DType::F32, {3, 5});
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(b.broadcast_to(b.reshape(x, {3, 1}), y.shape()).shape(), (Shape{3, 5}));
  }
  EXPECT_EQ(b.message(), "");
}

TEST(Builder, WhatChangesNothingAddsNoNode) {
  Builder b("test");
  const Tensor x = input(b, "x", {2, 3});
  EXPECT_EQ(b.reshape(x, {2, -1}).value, x.value);
  EXPECT_EQ(b.permute(x, {0, 1}).value, x.value);
  EXPECT_EQ(b.broadcast_to(x, {2, 3}).value, x.value);
  EXPECT_EQ(b.cast(x, DType::F32).value, x.value);
  EXPECT_EQ(b.reduce(Op::Add, x, {}).value, x.value);
  EXPECT_EQ(b.state("w", DType::F32, {1}).value, b.state("w", DType::F32, {1}).value);
}

TEST(Builder, MatmulExtentsAreBatchRowsColumnsInner) {
  Builder b("test");
  const Tensor z = b.matmul(input(b, "x", {7, 2, 4, 3}), input(b, "y", {1, 5, 4}), true, true);
  EXPECT_EQ(z.shape(), (Shape{7, 2, 3, 5}));
  const Contraction& contraction = b.graph()[z.value].contraction;
  EXPECT_EQ(contraction.extents, (Shape{7, 2, 3, 5, 4}));
  EXPECT_EQ(contraction.out, AffineMap::project(5, {0, 1, 2, 3}));
  EXPECT_EQ(contraction.lhs, AffineMap::project(5, {0, 1, 4, 2}));
  EXPECT_EQ(contraction.rhs.axes[0].single_dimension(), -1);
  EXPECT_EQ(contraction.rhs.axes[1].single_dimension(), 3);
}

}  // namespace
}  // namespace lathe::graph
