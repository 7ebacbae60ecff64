#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "lathe/api/formats/lathe_formats.h"
#include "lathe/base/text.h"

namespace {

using lathe::concat;

std::string_view result_or_error(const char* answer) {
  return answer != nullptr ? answer : lathe_error();
}

std::string_view call(const char* (*question)(const char*, size_t), std::string_view json) {
  return result_or_error(question(json.data(), json.size()));
}

constexpr std::string_view kTopology =
    R"({"topology":{"class_name":"Sequential","config":[{"class_name":"Dense","config":)"
    R"({"name":"d","units":2,"batch_input_shape":[null,null]}}]},"classes":[]})";

TEST(Formats, TopologiesComeAndGo) {
  EXPECT_EQ(call(lathe_read_topology, kTopology),
            R"({"network":{"name":"sequential","layers":[{"class":"Dense","config":{"name":"d",)"
            R"("units":2,"inputShape":[null]}}]},"leftOut":[]})");
  EXPECT_EQ(
      call(lathe_write_topology,
           R"({"network":{"name":"n","layers":[{"class":"Dense","config":{"units":2}}]},)"
           R"("summary":{"inputShape":[3],"layers":[{"name":"d","outputShape":[null,2]}]}})"),
      R"({"class_name":"Sequential","config":{"name":"n","layers":[{"class_name":"Dense","config":)"
      R"({"units":2,"trainable":true,"name":"d","batch_input_shape":[null,3],"dtype":"float32"}}]},)"
      R"("keras_version":"tensorlathe","backend":"tensor_flow.js"})");
  EXPECT_TRUE(
      call(lathe_read_topology,
           R"({"topology":{"class_name":"Sequential","config":[{"class_name":"X","config":{}}]}})")
          .find("registerClass registers custom classes; built-in ones: Dense, ") !=
      std::string_view::npos);
}

TEST(Formats, TrainingComesAndGoes) {
  constexpr std::string_view kMetrics = R"(["acc",{"name":"precision","threshold":0.4}])";
  constexpr std::string_view kRest =
      R"("weightDecay":0,"clipValue":0,"clipNorm":0,"globalClipNorm":0)";
  const std::string result(
      call(lathe_write_training, concat(R"({"loss":"meanSquaredError","metrics":)", kMetrics,
                                        R"(,"optimizer":{"name":"sgd","learningRate":0.5}})")));
  EXPECT_EQ(result,
            concat(R"({"loss":"mean_squared_error","metrics":["acc"],"tensorlathe_metrics":)",
                   kMetrics, R"(,"optimizer_config":{"class_name":"SGD","config":)",
                   R"({"learningRate":0.5,)", kRest, "}}}"));
  EXPECT_EQ(call(lathe_read_training, result),
            concat(R"({"loss":"meanSquaredError","metrics":)", kMetrics,
                   R"(,"optimizer":{"name":"sgd","learningRate":0.5,)", kRest, "}}"));
}

TEST(Formats, ALossOfLogitsComesBack) {
  constexpr std::string_view kOptimizer = R"("metrics":[],"optimizer":{"name":"sgd"}})";
  for (const std::string_view loss :
       {R"("softmaxCrossEntropy")", R"(["meanSquaredError","sigmoidCrossEntropy"])"}) {
    const std::string result(
        call(lathe_write_training, concat(R"({"loss":)", loss, ',', kOptimizer)));
    EXPECT_TRUE(result.contains("_crossentropy")) << "what others read: " << result;
    EXPECT_TRUE(call(lathe_read_training, result).starts_with(concat(R"({"loss":)", loss, ',')));
  }
}

TEST(Formats, ElementsAreWidenedInParts) {
  constexpr std::string_view kSpec =
      R"({"name":"w","shape":[1000],"dtype":"float32","quantization":{"dtype":"uint8","scale":0.5,"min":-1}})";
  const std::vector<uint8_t> steps = {0, 3};
  const auto* values = static_cast<const float*>(
      lathe_decode_elements(kSpec.data(), kSpec.size(), steps.data(), steps.size()));
  ASSERT_NE(values, nullptr);
  EXPECT_EQ(values[0], -1);
  EXPECT_EQ(values[1], 0.5f);
}

TEST(Formats, ElementsAreNarrowedInTheRangeOfAll) {
  const auto narrow = [](std::string_view json, const std::vector<float>& values) {
    return result_or_error(lathe_encode_elements(json.data(), json.size(), values.data(),
                                                 values.size() * sizeof(float)));
  };
  constexpr std::string_view kRequest = R"({"name":"w","bits":"uint8"})";
  EXPECT_EQ(narrow(kRequest, {3, -1, 2}), "[-1,3]");
  EXPECT_EQ(narrow(kRequest, {}), "[0,0]");
  EXPECT_EQ(narrow(kRequest, {NAN, 1}),
            "the tensor w has NaN or infinities, which uint8 cannot represent");
  const auto stored = narrow(R"({"name":"w","bits":"uint8","range":[0,255]})", {7, 200});
  EXPECT_TRUE(stored.starts_with(
      R"({"quantization":{"dtype":"uint8","scale":1,"min":0,"original_dtype":"float32"},"at":)"))
      << stored;
  EXPECT_EQ(narrow(R"({"name":"w","bits":"uint9"})", {1}), "bits must be float16, uint16 or uint8");
}

TEST(Formats, OddQuestionsAreErrorsOrAnswers) {
  const auto questions = {lathe_read_topology,   lathe_write_topology, lathe_read_training,
                          lathe_write_training,  lathe_read_specs,     lathe_match_weights,
                          lathe_match_optimizer, lathe_saved_tensors,  lathe_keras_tensors};
  for (const auto question : questions) {
    for (
        const std::string_view json :
        {"", "3", "null", "[]", "{}", R"({"network":3,"summary":[],"specs":[{}],"loss":[]})",
         R"({"network":{"layers":[{},3,{"class":"Bidirectional","config":{"layer":3}}]},)"
         R"("summary":{"weights":[{},{"name":"a"}],"layers":[{}]},"tensors":[{"name":"a"},3],)"
         R"("states":[{"name":"optimizer/step"},{}],"layers":[{"weights":[3]}],"optimizer":["",3]})"}) {
      EXPECT_FALSE(call(question, json).empty());
    }
  }
}

}  // namespace
