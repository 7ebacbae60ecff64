// Models that tests write node by node.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lathe/import/onnx/model.h"
#include "operate.h"

namespace lathe::onnx {

using Names = std::vector<std::string>;

class Model {
 public:
  Model() {
    proto_.sets[""] = 23;
    proto_.sets["com.microsoft"] = 1;
  }

  Model& input(std::string name) {
    proto_.graph.inputs.push_back({std::move(name), {}});
    return *this;
  }
  Model& output(std::string name) {
    proto_.graph.outputs.push_back({std::move(name), {}});
    return *this;
  }

  static Numbers numbers(int64_t count) {
    Numbers values;
    for (int64_t k = 0; k < count; ++k) values.push_back(std::sin(static_cast<double>(k) * 1.3));
    return values;
  }

  Model& add(std::string op, Names inputs, Names outputs) {
    NodeProto& node = proto_.graph.nodes.emplace_back();
    node.name = op;
    node.op_type = std::move(op);
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    return *this;
  }

  Model& add(std::string op, Names inputs, Names outputs, std::string name, int64_t value,
             std::string domain = {}) {
    AttributeProto attribute;
    attribute.kind = AttributeProto::Kind::Int;
    attribute.name = std::move(name);
    attribute.integer = value;
    add(std::move(op), std::move(inputs), std::move(outputs));
    proto_.graph.nodes.back().attributes.push_back(std::move(attribute));
    proto_.graph.nodes.back().domain = std::move(domain);
    return *this;
  }

  Model& add(std::string op, Names inputs, Names outputs, std::string name,
             std::vector<int64_t> values) {
    add(std::move(op), std::move(inputs), std::move(outputs), std::move(name), 0);
    AttributeProto& attribute = proto_.graph.nodes.back().attributes.back();
    attribute.kind = AttributeProto::Kind::Ints;
    attribute.integers = std::move(values);
    return *this;
  }

  Model& add(std::string op, Names inputs, Names outputs, GraphProto body) {
    add(std::move(op), std::move(inputs), std::move(outputs), "body", 0);
    AttributeProto& attribute = proto_.graph.nodes.back().attributes.back();
    attribute.kind = AttributeProto::Kind::Graph;
    attribute.graphs.push_back(std::make_shared<const GraphProto>(std::move(body)));
    return *this;
  }

  // An attribute more for the last node.
  Model& also(AttributeProto attribute) {
    proto_.graph.nodes.back().attributes.push_back(std::move(attribute));
    return *this;
  }

  Model& ints(std::string name, Shape shape, const std::vector<int64_t>& values) {
    return initializer(std::move(name),
                       Value(integers_content(Type::Int64, std::move(shape), values)));
  }

  const ModelProto& proto() const { return proto_; }

  Model& initializer(std::string name, const Value& value) {
    proto_.graph.initializers.push_back({std::move(name), *value.constant});
    return *this;
  }

 private:
  ModelProto proto_;
};

}  // namespace lathe::onnx
