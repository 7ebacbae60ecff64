#include "model_runner.h"

#include <algorithm>
#include <cstring>

namespace lathe::nn {
namespace {

Numbers numbers_of(const graph::Array& array) {
  Numbers numbers(array.data.size() / sizeof(float));
  std::memcpy(numbers.data(), array.data.data(), array.data.size());
  return numbers;
}

graph::Array array_of(graph::DType dtype, const graph::Shape& shape, const Numbers& numbers) {
  if (dtype == graph::DType::F32) return graph::Array::of(shape, numbers);
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
