#include "lathe/models/onnx/module.h"

#include <algorithm>
#include <map>
#include <set>

#include "lathe/base/text.h"

namespace lathe::onnx {
namespace {

// The model's names by those of the graph.
class Names {
 public:
  Status add(const std::vector<ValueInfo>& infos, const std::vector<Port>& ports) {
    for (size_t k = 0; k < ports.size(); ++k) {
      LATHE_TRY(add(k < infos.size() ? infos[k].name : concat(k), ports[k]));
    }
    return {};
  }

  const std::string& of(const std::string& name) const { return names_.at(name); }

 private:
  Status add(std::string name, const Port& port) {
    if (port.kind == Value::Kind::None) return {};
    if (port.kind == Value::Kind::Tensor) {
      if (port.name.empty()) return fail(concat("output '", name, "' has no numbers"));
      // An output may be called as the input that it is.
      while (!used_.insert(name).second) name += "_out";
      names_[port.name] = name;
      return {};
    }
    for (size_t k = 0; k < port.elements.size(); ++k) {
      LATHE_TRY(add(concat(name, '/', k), port.elements[k]));
    }
    return {};
  }

  std::map<std::string, std::string> names_;
  std::set<std::string> used_;
};

std::unexpected<Error> data_dependent_error(const ModelProto& model, const Trace& trace) {
  std::string inputs;
  for (size_t k = 0; k < trace.inputs.size(); ++k) {
    for (const size_t each : trace.required_inputs) {
      if (trace.inputs[k].name != concat('i', each)) continue;
      append(inputs, inputs.empty() ? "" : ", ", '\'', model.graph.inputs[k].name, '\'');
    }
  }
  return fail(concat(
      trace.why, inputs.empty() ? "" : concat(" (it follows from the inputs ", inputs, ')'),
      ". One module has fixed sizes, and here data decide them: make that a constant of the model, "
      "end the model before this node, or run it in the package, which compiles it in parts"));
}

}  // namespace

Result<graph::Graph> graph_of(const ModelProto& model, std::span<const Port> inputs) {
  LATHE_TRY(check_operators(model));
  LATHE_ASSIGN_OR_RETURN(Trace traced, trace(model, inputs, {}));
  if (!traced.is_complete) return data_dependent_error(model, traced);
  Names names;
  LATHE_TRY(names.add(model.graph.inputs, traced.inputs));
  LATHE_TRY(names.add(model.graph.outputs, traced.results));
  for (graph::Node& node : traced.graph.nodes) {
    if (node.kind != graph::Kind::Input) continue;
    const auto port = std::ranges::find(traced.inputs, node.name, &Port::name);
    if (port != traced.inputs.end() && port->constant) {
      node.kind = graph::Kind::Constant;
      node.data = port->constant->data;
    }
    node.name = node.kind == graph::Kind::Constant ? std::string() : names.of(node.name);
  }
  for (graph::Output& output : traced.graph.outputs) output.name = names.of(output.name);
  return std::move(traced.graph);
}

Result<compile::Executable> compile_module(const ModelProto& model, std::span<const Port> inputs,
                                           const compile::Options& options) {
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, graph_of(model, inputs));
  graph::Program program;
  program.entries.push_back(std::move(graph));
  return compile::compile(std::move(program), options);
}

}  // namespace lathe::onnx
