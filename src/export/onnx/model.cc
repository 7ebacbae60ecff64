// Field numbers are those of onnx.proto.
#include "lathe/export/onnx/model.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "lathe/base/text.h"
#include "lathe/formats/protobuf.h"

namespace lathe::onnx_export {

using formats::ProtobufWriter;

namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 31;
constexpr size_t kSmall = 1024;  // maximum bytes of a constant that is deduplicated

void write_graph(const Graph& graph, ProtobufWriter& out);

// AttributeProto.type.
enum AttributeType : uint64_t { kInt = 2, kString = 3, kGraph = 5, kInts = 7 };

ProtobufWriter attribute(const std::string& name, const AttributeValue& value) {
  ProtobufWriter out;
  out.string(1, name);
  AttributeType type = kInt;
  if (const auto* number = std::get_if<int64_t>(&value)) {
    out.varint(3, static_cast<uint64_t>(*number));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    type = kString;
    out.string(4, *text);
  } else if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&value)) {
    type = kGraph;
    ProtobufWriter inner;
    write_graph(**body, inner);
    out.message(6, inner);
  } else {
    type = kInts;
    for (const int64_t each : std::get<std::vector<int64_t>>(value)) {
      out.varint(8, static_cast<uint64_t>(each));
    }
  }
  out.varint(20, type);
  return out;
}

ProtobufWriter node_message(const Node& node, const std::string& name) {
  ProtobufWriter out;
  for (const std::string& input : node.inputs) out.string(1, input);
  for (const std::string& output : node.outputs) out.string(2, output);
  out.string(3, name);
  out.string(4, node.op);
  for (const auto& [key, value] : node.attributes) out.message(5, attribute(key, value));
  return out;
}

ProtobufWriter tensor(const Constant& constant) {
  ProtobufWriter out;
  for (const int64_t size : constant.shape) out.varint(1, static_cast<uint64_t>(size));
  out.varint(2, static_cast<uint64_t>(element_type(constant.dtype)));
  out.string(8, constant.name);
  out.borrowed(9, {constant.data.data(), constant.data.size()});
  return out;
}

ProtobufWriter value_info(const Port& port) {
  ProtobufWriter shape;
  for (size_t axis = 0; axis < port.shape.size(); ++axis) {
    ProtobufWriter size;
    if (axis < port.symbols.size() && !port.symbols[axis].empty()) {
      size.string(2, port.symbols[axis]);
    } else {
      size.varint(1, static_cast<uint64_t>(port.shape[axis]));
    }
    shape.message(1, size);
  }
  ProtobufWriter of_tensor, type, out;
  of_tensor.varint(1, static_cast<uint64_t>(element_type(port.dtype)));
  of_tensor.message(2, shape);
  type.message(1, of_tensor);
  out.string(1, port.name);
  out.message(2, type);
  return out;
}

void write_graph(const Graph& graph, ProtobufWriter& out) {
  for (const Node& node : graph.nodes) {
    out.message(1, node_message(node, concat(node.op, ' ', node.outputs[0])));
  }
  out.string(2, graph.name);
  for (const Constant& constant : graph.constants) out.message(5, tensor(constant));
  for (const Port& input : graph.inputs) out.message(11, value_info(input));
  for (const Port& output : graph.outputs) out.message(12, value_info(output));
}

Graph* body_of(Node& node) {
  for (auto& [key, value] : node.attributes) {
    if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&value)) return body->get();
  }
  return nullptr;
}

// Removes nodes, last to first, whose outputs are unused.
void drop_unread(Graph& graph, std::set<std::string>& read) {
  for (const Port& output : graph.outputs) read.insert(output.name);
  std::vector<Node> used;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    const bool is_read = std::ranges::any_of(
        node.outputs, [&](const std::string& output) { return read.contains(output); });
    if (!is_read) continue;
    if (Graph* body = body_of(node)) drop_unread(*body, read);
    read.insert(node.inputs.begin(), node.inputs.end());
    used.push_back(std::move(node));
  }
  std::ranges::reverse(used);
  graph.nodes = std::move(used);
}

void rename(Graph& graph, const std::map<std::string, std::string>& names) {
  for (Node& node : graph.nodes) {
    for (std::string& input : node.inputs) {
      const auto found = names.find(input);
      if (found != names.end()) input = found->second;
    }
    if (Graph* body = body_of(node)) rename(*body, names);
  }
}

}  // namespace

int element_type(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return 1;
    case DType::U8:
      return 2;
    case DType::I8:
      return 3;
    case DType::U16:
      return 4;
    case DType::I16:
      return 5;
    case DType::I32:
      return 6;
    case DType::I64:
      return 7;
    case DType::Bool:
      return 9;
    case DType::F16:
      return 10;
    case DType::F64:
      return 11;
    case DType::U32:
      return 12;
    case DType::U64:
      return 13;
    case DType::BF16:
      return 16;
  }
  return 0;
}

void drop_unread(Graph& graph) {
  std::set<std::string> read;
  drop_unread(graph, read);
  std::erase_if(graph.constants, [&](const Constant& each) { return !read.contains(each.name); });
}

void join_equal(Graph& graph) {
  std::set<std::string> results;
  for (const Port& output : graph.outputs) results.insert(output.name);
  std::map<std::tuple<DType, Shape, std::vector<std::byte>>, std::string> by_content;
  std::map<std::string, std::string> names;
  std::erase_if(graph.constants, [&](const Constant& each) {
    if (each.data.size() > kSmall || !each.weight.empty() || results.contains(each.name))
      return false;
    const auto [at, is_new] = by_content.try_emplace(
        {each.dtype, each.shape, {each.data.begin(), each.data.end()}}, each.name);
    if (!is_new) names[each.name] = at->second;
    return !is_new;
  });
  rename(graph, names);
}

Result<std::vector<std::byte>> encode(const Graph& graph, std::string_view producer_version) {
  uint64_t bytes = 0;
  for (const Constant& each : graph.constants) bytes += each.data.size();
  const auto too_large = [](uint64_t size) {
    return fail(concat("the model has ", size,
                       " bytes with its weights; an ONNX file has less than 2 GiB"));
  };
  if (bytes >= kMaxBytes) return too_large(bytes);
  ProtobufWriter graph_message, opset, model;
  write_graph(graph, graph_message);
  opset.string(1, "");
  opset.varint(2, kOpset);
  model.varint(1, kIrVersion);
  model.string(2, "tensorlathe");
  model.string(3, producer_version);
  model.message(7, graph_message);
  model.message(8, opset);
  if (model.size() >= kMaxBytes) return too_large(model.size());
  return model.bytes();
}

}  // namespace lathe::onnx_export
