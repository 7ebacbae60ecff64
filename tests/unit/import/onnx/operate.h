// Runs one operator of ONNX with the reference evaluator.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lathe/import/onnx/trace/run.h"

namespace lathe::onnx {

using Numbers = std::vector<double>;

inline Value floats(Shape shape, const Numbers& values) {
  return Value(numbers_content(Type::Float32, std::move(shape), values));
}
inline Value typed(Type type, Shape shape, const Numbers& values) {
  return Value(numbers_content(type, std::move(shape), values));
}

struct Node {
  explicit Node(std::string name, int set = 22, std::string of = {})
      : op(std::move(name)), version(set), domain(std::move(of)) {}

  std::string op;
  int version;
  std::string domain;
  std::vector<AttributeProto> attributes;
  size_t results = 1;

  Node& with(std::string name, int64_t value) {
    added(std::move(name), AttributeProto::Kind::Int).integer = value;
    return *this;
  }
  Node& with(std::string name, float value) {
    added(std::move(name), AttributeProto::Kind::Float).number = value;
    return *this;
  }
  Node& with(std::string name, std::vector<int64_t> values) {
    added(std::move(name), AttributeProto::Kind::Ints).integers = std::move(values);
    return *this;
  }
  Node& with(std::string name, std::string text) {
    added(std::move(name), AttributeProto::Kind::String).string = std::move(text);
    return *this;
  }

 private:
  AttributeProto& added(std::string name, AttributeProto::Kind kind) {
    AttributeProto& attribute = attributes.emplace_back();
    attribute.kind = kind;
    attribute.name = std::move(name);
    return attribute;
  }
};

// None operands are absent.
inline Result<std::vector<Data>> operate(const Node& node, const std::vector<Value>& inputs) {
  ModelProto model;
  model.sets[node.domain] = node.version;
  NodeProto proto;
  proto.op_type = node.op;
  proto.domain = node.domain;
  proto.attributes = node.attributes;
  std::vector<Data> arguments;
  for (const Value& each : inputs) {
    const std::string name = "x" + std::to_string(proto.inputs.size());
    proto.inputs.push_back(each.is_none() ? "" : name);
    if (each.is_none()) continue;
    model.graph.inputs.push_back({name, {}});
    arguments.push_back(each);
  }
  for (size_t k = 0; k < node.results; ++k) {
    proto.outputs.push_back("y" + std::to_string(k));
    model.graph.outputs.push_back({proto.outputs.back(), {}});
  }
  model.graph.nodes.push_back(std::move(proto));
  return run(model, arguments);
}

inline Numbers numbers_of(const Data& data) {
  Numbers numbers;
  for (int64_t k = 0; data.constant && k < data.constant->count(); ++k) {
    numbers.push_back(data.constant->number(k));
  }
  return numbers;
}

inline Numbers numbers_of(const Node& node, const std::vector<Value>& inputs) {
  const auto results = operate(node, inputs);
  EXPECT_TRUE(results) << node.op << ": " << results.error().message;
  return results ? numbers_of(results->front()) : Numbers{};
}

inline std::string message_of(const Node& node, const std::vector<Value>& inputs) {
  const auto results = operate(node, inputs);
  return results ? "" : results.error().message;
}

inline void expect_near(const Numbers& actual, const Numbers& expected, double part = 1e-5) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t k = 0; k < actual.size(); ++k) {
    if (actual[k] == expected[k]) continue;  // infinite, too
    EXPECT_NEAR(actual[k], expected[k], part * (1 + std::fabs(expected[k]))) << k;
  }
}

}  // namespace lathe::onnx
