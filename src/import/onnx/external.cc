// Data of tensors in other files.
#include <set>

#include "lathe/base/text.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

namespace {

template <class Visit>
void visit_tensors(GraphProto& graph, const Visit& visit);

template <class Visit>
void visit_tensors(std::vector<NodeProto>& nodes, const Visit& visit) {
  for (NodeProto& node : nodes) {
    for (AttributeProto& attribute : node.attributes) {
      for (TensorProto& each : attribute.tensors) visit(each);
      for (auto& each : attribute.graphs) {
        GraphProto graph = *each;
        visit_tensors(graph, visit);
        each = std::make_shared<const GraphProto>(std::move(graph));
      }
    }
  }
}

template <class Visit>
void visit_tensors(GraphProto& graph, const Visit& visit) {
  for (TensorProto& each : graph.initializers) visit(each);
  visit_tensors(graph.nodes, visit);
}

template <class Visit>
void visit_tensors(ModelProto& model, const Visit& visit) {
  visit_tensors(model.graph, visit);
  for (FunctionProto& each : model.functions) visit_tensors(each.nodes, visit);
}

}  // namespace

std::vector<std::string> external_files(const ModelProto& model) {
  ModelProto copy = model;
  std::vector<std::string> files;
  std::set<std::string> seen;
  visit_tensors(copy, [&](const TensorProto& each) {
    if (each.external && seen.insert(each.external->location).second) {
      files.push_back(each.external->location);
    }
  });
  return files;
}

Status add_external_file(ModelProto& model, std::string_view location, const SharedBytes& file) {
  std::string wrong;
  bool is_used = false;
  visit_tensors(model, [&](TensorProto& each) {
    if (!each.external || each.external->location != location) return;
    is_used = true;
    auto content = external_content(each, file);
    if (content) {
      each.content = std::move(*content);
      each.external = nullptr;
    } else {
      wrong = std::move(content.error().message);
    }
  });
  if (!wrong.empty()) return fail(std::move(wrong));
  if (!is_used) return fail(concat("no tensor of the model has its data in '", location, '\''));
  return {};
}

}  // namespace lathe::onnx
