#include "model_runner.h"

#include <algorithm>

namespace lathe::nn {
namespace {

// The elements of an array of any dtype, as float32.
Numbers numbers_of(const graph::Array& array) {
  Numbers numbers;
  const int64_t count = graph::element_count(array.shape);
  for (int64_t k = 0; k < count; ++k) numbers.push_back(static_cast<float>(array[k].as_double()));
  return numbers;
}

// An array of a dtype, F32 or I32, to which the numbers are converted.
graph::Array array_of(graph::DType dtype, const graph::Shape& shape, const Numbers& numbers) {
  if (dtype == graph::DType::F32) return graph::Array::of(shape, numbers);
  EXPECT_EQ(dtype, graph::DType::I32) << "numbers convert to F32 and I32 only";
  const std::vector<int32_t> integers(numbers.begin(), numbers.end());
  return graph::Array::of(shape, std::span<const int32_t>(integers));
}

}  // namespace

std::map<std::string, Numbers> ModelRunner::run(const std::string& entry,
                                                const std::map<std::string, Numbers>& inputs) {
  const graph::Graph& graph = *std::ranges::find(program_.entries, entry, &graph::Graph::name);
  std::map<std::string, graph::Array> arguments, contents;
  for (const graph::Node& node : graph.nodes) {
    if (node.kind == graph::Kind::Input) {
      arguments[node.name] = array_of(node.dtype, node.shape, inputs.at(node.name));
    } else if (node.kind == graph::Kind::State) {
      contents[node.name] = array_of(node.dtype, node.shape, states.at(node.name));
    }
  }
  const graph::Outputs results = must(graph::evaluate(graph, arguments, contents));
  std::map<std::string, Numbers> outputs;
  for (const auto& [name, array] : results) outputs[name] = numbers_of(array);
  for (const auto& [name, array] : contents) states[name] = numbers_of(array);
  return outputs;
}

ModelRunner::Step ModelRunner::step(const std::string& entry, const Numbers& x, const Numbers& y,
                                    int rows) {
  auto outputs = run(entry, {{"x", x}, {"y", y}, {"rows", {static_cast<float>(rows)}}});
  return {outputs["loss"].at(0), outputs["correct"].at(0)};
}

Numbers ModelRunner::predict(const std::string& entry, const Numbers& x) {
  return run(entry, {{"x", x}})["y"];
}

}  // namespace lathe::nn
