#include "lathe/import/onnx/trace/run.h"

#include "lathe/graph/evaluate.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

namespace {

using graph::Array;

Port port_of(const Data& data) {
  Port port{.kind = data.kind, .type = data.type};
  if (data.is_tensor()) {
    port.shape = data.shape();
    if (data.type == Type::String) port.constant = data.constant;
  }
  for (const Data& each : data.elements) port.elements.push_back(port_of(each));
  return port;
}

// Sets the constants of the ports whose indices are in `required`; `index`: of the next port.
void provide(Port& port, const Data& data, std::span<const size_t> required, size_t& index) {
  if (data.is_tensor() && data.type != Type::String) {
    for (const size_t each : required) {
      if (each == index) port.constant = data.constant;
    }
    ++index;
  }
  for (size_t k = 0; k < data.elements.size(); ++k) {
    provide(port.elements[k], data.elements[k], required, index);
  }
}

void collect(const Port& port, const Data& data, std::map<std::string, Array>& arrays) {
  if (!port.name.empty()) {
    const Content& content = *data.constant;
    arrays[port.name] = {
        dtype_of(content.type), content.shape, {content.data.begin(), content.data.end()}};
  }
  for (size_t k = 0; k < data.elements.size(); ++k) {
    collect(port.elements[k], data.elements[k], arrays);
  }
}

Content content_of(Type type, Array array) {
  return {.type = type, .shape = std::move(array.shape), .data = std::move(array.data)};
}

Data result_of(const Port& port, graph::Outputs& outputs) {
  if (port.constant) return Value(*port.constant);
  if (!port.name.empty()) return Value(content_of(port.type, std::move(outputs[port.name])));
  Data data;
  data.kind = port.kind;
  data.type = port.type;
  for (const Port& each : port.elements) data.elements.push_back(result_of(each, outputs));
  return data;
}

double work_of(const graph::Graph& graph) {
  double work = 0;
  for (const graph::Node& node : graph.nodes) {
    work += static_cast<double>(graph::element_count(node.shape));
    if (node.kind == graph::Kind::Contract) {
      work += static_cast<double>(graph::element_count(node.contraction.extents));
    }
    if (node.kind == graph::Kind::Loop) {
      work += static_cast<double>(node.repetition.steps) * work_of(*node.body);
    }
  }
  return work;
}

}  // namespace

Result<std::vector<Data>> run(const ModelProto& model, std::span<const Data> inputs,
                              double max_work) {
  std::vector<Port> ports;
  for (const Data& each : inputs) ports.push_back(port_of(each));
  std::vector<Content> break_values;
  for (;;) {
    LATHE_ASSIGN_OR_RETURN(Trace trace, onnx::trace(model, ports, break_values));
    if (!trace.is_complete && !trace.required_inputs.empty()) {
      size_t index = 0;
      for (size_t k = 0; k < ports.size(); ++k)
        provide(ports[k], inputs[k], trace.required_inputs, index);
      continue;
    }
    if (work_of(trace.graph) > max_work)
      return fail("the model computes too much to run it slowly");
    std::map<std::string, Array> arrays, states;
    for (size_t k = 0; k < inputs.size(); ++k) collect(trace.inputs[k], inputs[k], arrays);
    if (!trace.is_complete) trace.graph.outputs = {{"break", trace.graph_breaks.back()}};
    LATHE_ASSIGN_OR_RETURN(graph::Outputs outputs, graph::evaluate(trace.graph, arrays, states));
    if (!trace.is_complete) {
      Array& value = outputs["break"];
      break_values.push_back(content_of(type_of(value.dtype), std::move(value)));
      continue;
    }
    std::vector<Data> results;
    for (const Port& each : trace.results) results.push_back(result_of(each, outputs));
    return results;
  }
}

}  // namespace lathe::onnx
