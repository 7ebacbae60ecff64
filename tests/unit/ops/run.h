// Builds a graph of one output and evaluates it on inputs.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lathe/graph/builder.h"
#include "lathe/graph/evaluate.h"

namespace lathe::ops {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Inputs = std::map<std::string, graph::Array>;

inline Floats run(graph::Tensor (*build)(graph::Builder&), const Inputs& inputs) {
  graph::Builder builder("test");
  builder.output("out", build(builder));
  const auto graph = std::move(builder).finish();
  EXPECT_TRUE(graph) << graph.error().message;
  std::map<std::string, graph::Array> states;
  const auto outputs = graph::evaluate(*graph, inputs, states);
  EXPECT_TRUE(outputs) << outputs.error().message;
  const graph::Array& out = outputs->at("out");
  Floats values;
  for (int64_t i = 0; i < graph::element_count(out.shape); ++i) {
    values.push_back(static_cast<float>(out[i].as_double()));
  }
  return values;
}

inline void expect_near(const Floats& actual, const Floats& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
}

inline std::string message_of(graph::Tensor (*build)(graph::Builder&)) {
  graph::Builder builder("test");
  build(builder);
  return builder.message();
}

}  // namespace lathe::ops
