#include "lathe/nn/training/states.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lathe/formats/safetensors.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/sequential.h"

namespace lathe::nn {
namespace {

using formats::NamedArray;
using graph::Array;

Sequential small() {
  Sequential model("small", 3);
  model.add(dense({.units = 2, .input_shape = {3}, .name = "a"}));
  model.add(dense({.units = 1, .use_bias = false, .name = "b"}));
  return model;
}

TEST(States, WeightsComeBackFromTheirFile) {
  const Sequential model = small();
  States states = initial_states(model.weights(), 3);
  states["optimizer/step"] = Array::of({}, std::vector<float>{7});
  const auto file = write_weights(model, states);
  ASSERT_TRUE(file);
  States other = initial_states(model.weights(), 4);
  EXPECT_NE(other["a/kernel"].data, states["a/kernel"].data);
  ASSERT_TRUE(read_weights(model, *file, other));
  for (const Variable& weight : model.weights()) {
    EXPECT_EQ(other[weight.name].data, states[weight.name].data) << weight.name;
  }
  EXPECT_FALSE(other.contains("optimizer/step"));
  EXPECT_EQ(contents_of(other).size(), 3u);
}

TEST(States, WritingNeedsEveryWeight) {
  States states = initial_states(small().weights(), 3);
  states.erase("b/kernel");
  EXPECT_EQ(write_weights(small(), states).error().message, "the states have no \"b/kernel\"");
}

TEST(States, WritingChecksTheShapeOfEveryWeight) {
  States states = initial_states(small().weights(), 3);
  states["b/kernel"] = Array::zeros(graph::DType::F32, {1, 2});
  const auto wrong_shape = write_weights(small(), states);
  ASSERT_FALSE(wrong_shape);
  EXPECT_EQ(wrong_shape.error().message,
            "the state \"b/kernel\" is f32[2,1], got f32[1,2] of 8 bytes");
}

TEST(States, BadFilesNameTheTensorAndChangeNothing) {
  const Sequential model = small();
  const auto refusal = [&](std::vector<NamedArray> tensors, size_t missing_bytes = 0) {
    std::vector<std::byte> file = formats::write_safetensors(tensors);
    file.resize(file.size() - missing_bytes);
    States states = initial_states(model.weights(), 3);
    const States before = states;
    const Status status = read_weights(model, file, states);
    if (status) return std::string("none");
    for (const auto& [name, array] : before) EXPECT_EQ(states[name].data, array.data) << name;
    EXPECT_EQ(states.size(), before.size());
    return status.error().message;
  };
  const auto zeros = [](graph::Shape shape) { return Array::zeros(graph::DType::F32, shape); };
  const NamedArray kernel{"a/kernel", zeros({3, 2})}, bias{"a/bias", zeros({2})},
      other{"b/kernel", zeros({2, 1})};
  EXPECT_EQ(refusal({kernel, bias, other}), "none");
  EXPECT_EQ(refusal({kernel, other}), "the model needs the tensor \"a/bias\", which is not there");
  EXPECT_EQ(refusal({kernel, bias, other, {"c/kernel", zeros({1})}}),
            "the model has no weight \"c/kernel\"");
  EXPECT_EQ(refusal({kernel, bias, {"b/kernel", zeros({1, 2})}}),
            "the tensor \"b/kernel\" has shape [1,2], but the model expects [2,1]");
  EXPECT_EQ(refusal({kernel, {"a/bias", Array::zeros(graph::DType::I32, {2})}, other}),
            "the tensor \"a/bias\" is i32, but weights are f32");
  const std::vector<float> bad = {1, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(refusal({kernel, {"a/bias", Array::of({2}, bad)}, other}),
            "the tensor \"a/bias\" has NaN at 1");
  EXPECT_NE(refusal({kernel, bias, other}, 4).find("safetensors: "), std::string::npos);
}

}  // namespace
}  // namespace lathe::nn
