// Data of tensors in files beside the model.
#include <algorithm>

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

bool leaves_folder(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.contains('\\') || path.contains(':')) return true;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> external_files(const ModelProto& model) {
  ModelProto copy = model;
  std::vector<std::string> files;
  std::string wrong;
  visit_tensors(copy, [&](const TensorProto& each) {
    if (!each.external) return;
    const std::string& location = each.external->location;
    if (leaves_folder(location)) {
      wrong = concat("tensor '", each.name, "': its file '", location,
                     "' must be in the folder of the model");
    }
    if (std::ranges::find(files, location) == files.end()) files.push_back(location);
  });
  if (!wrong.empty()) return fail(std::move(wrong));
  return files;
}

Status add_external_file(ModelProto& model, std::string_view location, const SharedBytes& file) {
  std::string wrong;
  bool is_known = false;
  visit_tensors(model, [&](TensorProto& each) {
    if (!each.external || each.external->location != location) return;
    is_known = true;
    auto content = external_content(each, file);
    if (content) {
      each.content = std::move(*content);
      each.external = nullptr;
    } else {
      wrong = std::move(content.error().message);
    }
  });
  if (!wrong.empty()) return fail(std::move(wrong));
  if (!is_known) return fail(concat("no tensor of the model has its data in '", location, '\''));
  return {};
}

}  // namespace lathe::onnx
