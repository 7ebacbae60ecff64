#include "lathe/models/keras_names.h"

#include <gtest/gtest.h>

namespace lathe::models {
namespace {

TEST(KerasNames, FollowTheNamingRule) {
  const std::pair<std::string, std::string> names[] = {{"dilation_rate", "dilationRate"},
                                                       {"units", "units"},
                                                       {"l1", "l1"},
                                                       {"return_sequences", "returnSequences"},
                                                       {"num_thresholds", "numThresholds"}};
  for (const auto& [snake, camel] : names) {
    EXPECT_EQ(to_camel_case(snake), camel);
    EXPECT_EQ(to_snake_case(camel), snake);
  }
  EXPECT_EQ(to_snake_case("GlorotUniform"), "glorot_uniform");
  EXPECT_EQ(to_snake_case("gelu_new"), "gelu_new");
  EXPECT_EQ(to_camel_case("_"), "_");
  EXPECT_EQ(to_camel_case("a__b_"), "aB");
}

TEST(KerasNames, ExceptionsComeFromTheirTable) {
  EXPECT_EQ(keras_name(KerasTable::Regularizer, "l1l2"), "L1L2");
  EXPECT_EQ(keras_name(KerasTable::Optimizer, "adam"), std::nullopt);
  EXPECT_EQ(name_of_keras(KerasTable::OptimizerOption, "lr"), "learningRate");
  EXPECT_EQ(find_row(nn::initializers(), "HeNormal")->name, "heNormal");
  EXPECT_EQ(find_row(nn::initializers(), "he"), nullptr);
  EXPECT_EQ(find_any_name(nn::losses(), "MSE"), "mse");
  EXPECT_EQ(table_of("recurrentActivation")->data(), nn::activations().data());
  EXPECT_EQ(table_of("units"), std::nullopt);
}

TEST(KerasNames, OptionsThatChangeNothingAreNeutral) {
  const auto neutral = [](const char* option, const char* value) {
    return is_neutral(option, *Json::parse(value));
  };
  EXPECT_TRUE(neutral("dtype", "\"float32\""));
  EXPECT_TRUE(neutral("dtype", R"({"class_name":"Policy","config":{"name":"float32"}})"));
  EXPECT_FALSE(neutral("dtype", R"({"class_name":"Policy","config":{"name":"mixed_float16"}})"));
  EXPECT_TRUE(neutral("dilationRate", "[1,1]"));
  EXPECT_FALSE(neutral("dilationRate", "[1,2]"));
  EXPECT_TRUE(neutral("whatever", "false"));
  EXPECT_TRUE(neutral("whatever", "[]"));
  EXPECT_FALSE(neutral("whatever", "0"));
  EXPECT_TRUE(neutral("unroll", "true"));
}

}  // namespace
}  // namespace lathe::models
