#include "check_gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "lathe/base/text.h"
#include "lathe/grad/gradient.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/evaluate.h"
#include "lathe/graph/verify.h"

namespace lathe::grad {

using graph::Array;
using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Tensor;

namespace {

using Arrays = std::map<std::string, Array>;

constexpr float kStep = 1.0f / 128;

// Odd multiples of 1/16 in ±2, all distinct within an array as long as they last.
Array random_array(const Node& node, std::mt19937& random) {
  Array array = Array::zeros(node.dtype, node.shape);
  std::vector<int> values(32);
  std::iota(values.begin(), values.end(), 0);
  std::shuffle(values.begin(), values.end(), random);
  for (int64_t i = 0; i < graph::element_count(node.shape); ++i) {
    const int value = values[static_cast<size_t>(i) % values.size()];
    const auto number = node.dtype == DType::F32
                            ? scalar::Number::of(static_cast<float>(2 * value - 31) / 16)
                            : scalar::Number::from(node.dtype, value % 3);
    graph::store(array.data, i, number);
  }
  return array;
}

double loss_at(const Graph& graph, const Arrays& values) {
  Arrays states = values;
  return graph::evaluate(graph, values, states)->at("loss")[0].as_double();
}

}  // namespace

void check_gradients(const char* name, Tensor (*build)(Builder&)) {
  SCOPED_TRACE(name);
  Builder builder("gradients");
  const Tensor result = build(builder);
  ASSERT_TRUE(builder.ok()) << builder.message();
  std::vector<int> axes(result.rank());
  std::iota(axes.begin(), axes.end(), 0);
  const Tensor weights = builder.input("weights of the sum", DType::F32, result.shape());
  const Tensor loss = sum(result * weights, axes);
  std::vector<Tensor> wrt;
  std::vector<std::string> names;
  for (int32_t id = 0; id < loss.value.id; ++id) {
    const Node& node = builder.graph().nodes[id];
    if ((node.kind != Kind::Input && node.kind != Kind::State) || node.dtype != DType::F32)
      continue;
    wrt.push_back({&builder, {id}});
    names.push_back(node.name);
  }
  const std::vector<Tensor> gradients = grad::gradients(builder, loss, wrt);
  builder.output("loss", loss);
  for (size_t i = 0; i < names.size(); ++i) builder.output(concat("d ", names[i]), gradients[i]);
  const auto graph = std::move(builder).finish();
  ASSERT_TRUE(graph) << graph.error().message;
  const Status sound = graph::verify(*graph);
  ASSERT_TRUE(sound) << sound.error().message;

  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string_view>()(name)));
  Arrays values;
  for (const Node& node : graph->nodes) {
    if (node.kind != Kind::Input && node.kind != Kind::State) continue;
    values[node.name] = random_array(node, random);
  }
  Arrays states = values;
  const auto outputs = graph::evaluate(*graph, values, states);
  ASSERT_TRUE(outputs) << outputs.error().message;
  for (const std::string& wrt_name : names) {
    const Array& gradient = outputs->at(concat("d ", wrt_name));
    for (int64_t i = 0; i < graph::element_count(gradient.shape); ++i) {
      Arrays above = values, below = values;
      const float at = values[wrt_name][i].f;
      graph::store(above[wrt_name].data, i, scalar::Number::of(at + kStep));
      graph::store(below[wrt_name].data, i, scalar::Number::of(at - kStep));
      const double slope = (loss_at(*graph, above) - loss_at(*graph, below)) / (2 * kStep);
      EXPECT_NEAR(gradient[i].as_double(), slope, 4e-3 * (1 + std::fabs(slope)))
          << wrt_name << '[' << i << ']';
    }
  }
}

}  // namespace lathe::grad
