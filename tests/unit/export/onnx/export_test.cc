#include "lathe/export/onnx/export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lathe/formats/protobuf.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/parse.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/nn/sequential.h"
#include "lathe/nn/training/training.h"

namespace lathe::onnx_export {
namespace {

using formats::ProtobufReader;
using graph::DType;

// What a test looks at of a file.
struct Seen {
  std::vector<std::string> operators, constants;
  std::vector<std::string> ports;  // "x[batch,3]"
};

std::string port_of(ProtobufReader port) {
  std::string text;
  while (port.next()) {
    if (port.number() == 1) text = std::string(port.string()) + '[';
    if (port.number() != 2) continue;
    ProtobufReader type = port.message();
    EXPECT_TRUE(type.next());
    ProtobufReader tensor = type.message();
    EXPECT_TRUE(tensor.next() && tensor.next());
    ProtobufReader shape = tensor.message();
    while (shape.next()) {
      ProtobufReader size = shape.message();
      EXPECT_TRUE(size.next());
      text += text.back() == '[' ? "" : ",";
      text += size.number() == 1 ? std::to_string(size.int64()) : std::string(size.string());
    }
  }
  return text + ']';
}

// The text in a field of a message.
std::string text_in(ProtobufReader message, uint32_t field) {
  while (message.next()) {
    if (message.number() == field) return std::string(message.string());
  }
  return {};
}

Seen seen_in(const std::vector<std::byte>& file) {
  Seen seen;
  ProtobufReader model{file};
  while (model.next()) {
    if (model.number() != 7) continue;
    ProtobufReader graph = model.message();
    while (graph.next()) {
      if (graph.number() == 1) seen.operators.push_back(text_in(graph.message(), 4));
      if (graph.number() == 5) seen.constants.push_back(text_in(graph.message(), 8));
      if (graph.number() == 11 || graph.number() == 12) {
        seen.ports.push_back(port_of(graph.message()));
      }
    }
    EXPECT_TRUE(graph.ok());
  }
  EXPECT_TRUE(model.ok());
  return seen;
}

graph::Graph parsed(std::string_view text) {
  auto graph = graph::parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

// The model of these layers for samples of its batch.
Result<Exported> exported(const nn::Sequential& model) {
  std::vector<Sample> samples;
  for (const auto& sizes : sample_sizes(1, 0)) {
    nn::TrainingOptions options;
    options.batch.predict = sizes[0];
    auto program = nn::build_program(model, options);
    EXPECT_TRUE(program) << program.error().message;
    samples.push_back({sizes, std::move(program->entries[0])});
  }
  return export_onnx(samples, {"batch"}, {}, {});
}

TEST(OnnxExport, image_networks_use_convolution_and_pooling_operators) {
  nn::Sequential model;
  model.add(nn::conv2d(
      {.filters = 8, .kernel_size = 3, .activation = "relu", .input_shape = {28, 28, 1}}));
  model.add(nn::max_pooling2d({}));
  model.add(nn::conv2d({.filters = 8, .kernel_size = 3, .activation = "relu"}));
  model.add(nn::flatten({}));
  model.add(nn::dense({.units = 10}));
  const auto file = exported(model);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->has_symbols);
  const Seen seen = seen_in(file->file);
  const std::vector<std::string> operators = {"Reshape", "Conv", "Add",     "Relu",      "MaxPool",
                                              "Conv",    "Add",  "Relu",    "Transpose", "Reshape",
                                              "MatMul",  "Add",  "Identity"};
  EXPECT_EQ(seen.operators, operators);
  const std::vector<std::string> ports = {"x[batch,28,28,1]", "y[batch,10]"};
  EXPECT_EQ(seen.ports, ports);
  EXPECT_NE(std::ranges::find(seen.constants, "dense_1/kernel"), seen.constants.end());
}

// 1 / 37 is no integer.
TEST(OnnxExport, other_differences_than_sizes_use_the_first_sizes) {
  std::vector<Sample> samples;
  for (const auto& sizes : sample_sizes(1, 0)) {
    graph::Builder b("mean");
    const graph::Tensor x = b.input("x", DType::F32, {sizes[0], 2});
    b.output("y", x * (1.0f / static_cast<float>(sizes[0])));
    samples.push_back({sizes, *std::move(b).finish()});
  }
  const auto file = export_onnx(samples, {"batch"}, {}, {});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(file->has_symbols);
  EXPECT_EQ(seen_in(file->file).ports, (std::vector<std::string>{"x[37,2]", "y[37,2]"}));
}

TEST(OnnxExport, shapes_follow_from_several_symbols) {
  std::vector<Sample> samples;
  for (const auto& sizes : sample_sizes(2, 0)) {
    graph::Builder b("rows");
    const graph::Tensor x = b.input("x", DType::F32, {sizes[0], sizes[1], 2});
    b.output("y", b.reshape(x, {sizes[0] * sizes[1], 2}));
    b.output("z", b.iota({sizes[1] + 1}, 0));
    samples.push_back({sizes, *std::move(b).finish()});
  }
  const auto file = export_onnx(samples, {"batch", "time"}, {}, {});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(seen_in(file->file).ports,
            (std::vector<std::string>{"x[batch,time,2]", "y[batch*time,2]", "z[time+1]"}));
}

TEST(OnnxExport, samples_have_all_remainders) {
  for (size_t symbols = 1; symbols <= 4; ++symbols) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto samples = sample_sizes(symbols, attempt);
      for (size_t symbol = 0; symbol < symbols; ++symbol) {
        for (const int64_t by : {2, 3, 4, 8}) {
          std::set<int64_t> remainders;
          for (const auto& sizes : samples) remainders.insert(sizes[symbol] % by);
          EXPECT_EQ(remainders.size(), static_cast<size_t>(by));
        }
      }
      for (const auto& sizes : samples) {
        EXPECT_EQ(std::set<int64_t>(sizes.begin(), sizes.end()).size(), symbols);
      }
    }
  }
}

TEST(OnnxExport, shapes_follow_from_quotients) {
  std::vector<Sample> samples;
  for (const auto& sizes : sample_sizes(2, 0)) {
    graph::Builder b("float16");
    const graph::Tensor x = b.input("x", DType::F32, {sizes[0], sizes[1]});
    b.output("y", b.iota({(sizes[0] + 1) / 2, sizes[1] / 4 + 1}, 0) +
                      b.cast(sum(x, {0, 1}), DType::I32));
    samples.push_back({sizes, *std::move(b).finish()});
  }
  const auto file = export_onnx(samples, {"n", "m"}, {}, {});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->has_symbols);
  EXPECT_EQ(seen_in(file->file).ports,
            (std::vector<std::string>{"x[n,m]", "y[floor((n+1)/2),floor(m/4)+1]"}));
}

// The graph of even sizes is another.
TEST(OnnxExport, differences_by_remainders_use_the_first_sizes) {
  for (const int64_t by : {2, 3, 4, 8}) {
    std::vector<Sample> samples;
    for (const auto& sizes : sample_sizes(1, 0)) {
      graph::Builder b("parity");
      const graph::Tensor x = b.input("x", DType::F32, {sizes[0]});
      b.output("y", sizes[0] % by == 0 ? x + x : x * x);
      samples.push_back({sizes, *std::move(b).finish()});
    }
    const auto file = export_onnx(samples, {"n"}, {}, {});
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_FALSE(file->has_symbols);
  }
}

TEST(OnnxExport, states_that_change_are_inputs_and_outputs) {
  const auto graph = parsed(R"(graph "run" {
  %0 = input "x" : f32[2]
  %1 = state "sum" : f32[2]
  %2 = state "bias" : f32[2]
  %3 = map add %0 %1 : f32[2]
  %4 = map add %0 %2 : f32[2]
  output "y" %4
  update %1 %3
})");
  const auto file = export_onnx(graph, {});
  ASSERT_TRUE(file) << file.error().message;
  const Seen seen = seen_in(file->file);
  EXPECT_EQ(seen.ports, (std::vector<std::string>{"x[2]", "sum[2]", "y[2]", "sum/next[2]"}));
  EXPECT_EQ(seen.constants, std::vector<std::string>{"bias"});
}

TEST(OnnxExport, renames_inputs_and_outputs) {
  const auto graph = parsed(R"(graph "run" {
  %0 = input "x" : f32[2]
  %1 = map neg %0 : f32[2]
  output "y" %1
})");
  const auto file = export_onnx(graph, {}, {.inputs = {{"x", "Neg_0"}}, .outputs = {{"y", "out"}}});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(seen_in(file->file).ports, (std::vector<std::string>{"Neg_0[2]", "out[2]"}));
  const auto twice = export_onnx(graph, {}, {.outputs = {{"y", "x"}}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "two inputs or outputs are called \"x\"; rename one");
}

TEST(OnnxExport, rejects_operations_without_an_operator_by_name) {
  const auto bits = parsed(R"(graph "run" {
  %0 = input "x" : f32[2]
  %1 = map to_bits %0 : i32[2]
  output "y" %1
})");
  const auto file = export_onnx(bits, {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "to_bits of f32 has no operator in ONNX");
}

TEST(OnnxExport, two_gibibytes_are_too_much) {
  const auto large = parsed(R"(graph "run" {
  %0 = input "x" : f32[1,4]
  %1 = state "w" : f32[4,4]
  %2 = contract %0 %1 over [1,4,4] out [d0,d1] lhs [d0,d2] rhs [d2,d1] : f32[1,4]
  output "y" %2
})");
  // Files of 2 GiB or more are rejected by their size.
  const std::byte one{};
  const std::shared_ptr<const std::byte> borrowed(&one, [](const std::byte*) {});
  const graph::StateContent content{"w", SharedBytes(borrowed, size_t{1} << 31)};
  const auto file = export_onnx(large, std::span(&content, 1));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            "the model has 2147483648 bytes with its weights; an ONNX file has less than 2 GiB");
}

}  // namespace
}  // namespace lathe::onnx_export
