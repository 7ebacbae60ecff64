#include "lathe/import/onnx/model.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "lathe/base/depth.h"
#include "lathe/base/text.h"
#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/problems.h"
#include "lathe/import/onnx/tensor_proto.h"

namespace lathe::onnx {

using formats::ProtobufReader;

namespace {

// Old files list what they initialize as inputs too.
void drop_initialized_inputs(GraphProto& graph) {
  if (graph.inputs.empty()) return;
  std::set<std::string_view> initialized;
  for (const TensorProto& each : graph.initializers) initialized.insert(each.name);
  std::erase_if(graph.inputs,
                [&](const ValueInfo& input) { return initialized.contains(input.name); });
}

class ModelReader {
 public:
  explicit ModelReader(const SharedBytes& file) : file_(file) {}

  Result<ModelProto> run() {
    ProtobufReader in({file_.data(), file_.size()});
    ModelProto model;
    bool has_graph = false;
    while (in.next()) {
      switch (in.number()) {
        case 1:
          model.ir_version = in.int64();
          break;
        case 2:
          model.producer = in.string();
          break;
        case 4:
          model.domain = in.string();
          break;
        case 5:
          model.version = in.int64();
          break;
        case 6:
          model.description = in.string();
          break;
        case 7:
          model.graph = graph(in.message(), 0, std::move(model.graph));
          has_graph = true;
          break;
        case 8:
          set(in.message(), model.sets);
          break;
        case 14:
          entry(in.message(), model.metadata);
          break;
        case 25:
          model.functions.push_back(function(in.message()));
          break;
        default:
          break;
      }
      if (!error_.empty()) return fail(std::move(error_));
    }
    if (Status done = in.status(); !done) {
      return fail(concat("the ONNX model is truncated or corrupt: ", done.error().message));
    }
    if (!has_graph) return fail("this is no ONNX model: it has no graph");
    if (model.sets.empty()) return fail("this is no ONNX model: it names no operator set");
    drop_initialized_inputs(model.graph);
    model.unknown_types = std::move(unknown_types_);
    return model;
  }

 private:
  void check(const ProtobufReader& in) {
    if (Status done = in.status(); !done && error_.empty()) {
      error_ = concat("the ONNX model is truncated or corrupt: ", done.error().message);
    }
  }

  // Prefixes unknown types from this one on with their location, as far as they are listed.
  void locate_types(size_t first, std::string_view where, std::string_view name) {
    for (size_t k = first; k < std::min(unknown_types_.size(), kMaxListed); ++k) {
      unknown_types_[k] = concat(clipped(where), " '", clipped(name), "': ", unknown_types_[k]);
    }
  }

  bool is_too_deep(ProtobufReader& in, int depth) {
    if (depth < kMaxDepth) return false;
    in.fail(concat("graphs or types nest more than ", kMaxDepth, " deep"));
    check(in);
    return true;
  }

  void set(ProtobufReader in, OperatorSets& sets) {
    std::string domain;
    int64_t version = 0;
    while (in.next()) {
      if (in.number() == 1) domain = in.string();
      if (in.number() == 2) version = in.int64();
    }
    check(in);
    sets[domain == "ai.onnx" ? std::string{} : domain] = std::clamp<int64_t>(version, 0, 1 << 16);
  }

  void entry(ProtobufReader in, std::map<std::string, std::string>& entries) {
    std::string key, value;
    while (in.next()) {
      if (in.number() == 1) key = in.string();
      if (in.number() == 2) value = in.string();
    }
    check(in);
    entries[key] = value;
  }

  // A message in several parts is their concatenation: `graph` has the preceding ones.
  GraphProto graph(ProtobufReader in, int depth, GraphProto graph = {}) {
    if (is_too_deep(in, depth)) return graph;
    while (in.next() && error_.empty()) {
      switch (in.number()) {
        case 1:
          graph.nodes.push_back(node(in.message(), depth));
          break;
        case 2:
          graph.name = in.string();
          break;
        case 5:
          graph.initializers.push_back(tensor(in.message()));
          break;
        case 11:
          graph.inputs.push_back(value_info(in.message()));
          break;
        case 12:
          graph.outputs.push_back(value_info(in.message()));
          break;
        case 15:
          graph.initializers.push_back(sparse(in.message()));
          break;
        default:
          break;
      }
    }
    check(in);
    return graph;
  }

  NodeProto node(ProtobufReader in, int depth) {
    NodeProto node;
    const size_t types = unknown_types_.size();
    while (in.next() && error_.empty()) {
      switch (in.number()) {
        case 1:
          node.inputs.emplace_back(in.string());
          break;
        case 2:
          node.outputs.emplace_back(in.string());
          break;
        case 3:
          node.name = in.string();
          break;
        case 4:
          node.op_type = in.string();
          break;
        case 5:
          node.attributes.push_back(attribute(in.message(), depth));
          break;
        case 7:
          node.domain = in.string();
          break;
        case 8:
          node.overload = in.string();
          break;
        default:
          break;
      }
    }
    check(in);
    locate_types(types, node.op_type, node.name);
    return node;
  }

  AttributeProto attribute(ProtobufReader in, int depth) {
    using Kind = AttributeProto::Kind;
    AttributeProto attribute;
    const auto has = [&](Kind kind) { attribute.kind = kind; };
    while (in.next() && error_.empty()) {
      switch (in.number()) {
        case 1:
          attribute.name = in.string();
          break;
        case 2:
          has(Kind::Float), attribute.number = in.float32();
          break;
        case 3:
          has(Kind::Int), attribute.integer = in.int64();
          break;
        case 4:
          has(Kind::String), attribute.string = in.string();
          break;
        case 5:
          has(Kind::Tensor), attribute.tensors.push_back(tensor(in.message()));
          break;
        case 6:
          has(Kind::Graph);
          attribute.graphs.push_back(shared(graph(in.message(), depth + 1)));
          break;
        case 7:
          has(Kind::Floats), in.append_to(attribute.numbers);
          break;
        case 8:
          has(Kind::Ints), in.append_to(attribute.integers);
          break;
        case 9:
          has(Kind::Strings), attribute.strings.emplace_back(in.string());
          break;
        case 10:
          has(Kind::Tensors), attribute.tensors.push_back(tensor(in.message()));
          break;
        case 11:
          has(Kind::Graphs);
          attribute.graphs.push_back(shared(graph(in.message(), depth + 1)));
          break;
        case 14:
          has(Kind::Type);
          attribute.type = std::make_shared<const TypeProto>(type(in.message(), 0));
          break;
        case 20:
          // The kind of an empty value, such as a list without elements.
          if (attribute.kind == Kind::None) attribute.kind = kind(in.int64());
          break;
        case 21:
          attribute.reference = in.string();
          break;
        case 22:
          has(Kind::Tensor), attribute.tensors.push_back(sparse(in.message()));
          break;
        default:
          break;
      }
    }
    check(in);
    return attribute;
  }

  static AttributeProto::Kind kind(int64_t number) {
    using Kind = AttributeProto::Kind;
    constexpr Kind kKinds[] = {Kind::None,    Kind::Float,   Kind::Int,    Kind::String,
                               Kind::Tensor,  Kind::Graph,   Kind::Floats, Kind::Ints,
                               Kind::Strings, Kind::Tensors, Kind::Graphs};
    return number < 0 || number >= static_cast<int64_t>(std::size(kKinds)) ? Kind::None
                                                                           : kKinds[number];
  }

  static std::shared_ptr<const GraphProto> shared(GraphProto graph) {
    drop_initialized_inputs(graph);
    return std::make_shared<const GraphProto>(std::move(graph));
  }

  ValueInfo value_info(ProtobufReader in) {
    ValueInfo info;
    const size_t types = unknown_types_.size();
    while (in.next()) {
      if (in.number() == 1) info.name = in.string();
      if (in.number() == 2) info.type = type(in.message(), 0);
    }
    check(in);
    locate_types(types, "value", info.name);
    return info;
  }

  TypeProto type(ProtobufReader in, int depth) {
    using Kind = TypeProto::Kind;
    TypeProto type;
    if (is_too_deep(in, depth)) return type;
    while (in.next() && error_.empty()) {
      switch (in.number()) {
        case 1:
          of_tensor(in.message(), Kind::Tensor, type);
          break;
        case 4:
          of_elements(in.message(), Kind::Sequence, type, 1, depth);
          break;
        case 5:
          of_elements(in.message(), Kind::Map, type, 2, depth);
          break;
        case 8:
          of_tensor(in.message(), Kind::SparseTensor, type);
          break;
        case 9:
          of_elements(in.message(), Kind::Optional, type, 1, depth);
          break;
        default:
          break;
      }
    }
    check(in);
    return type;
  }

  void of_tensor(ProtobufReader in, TypeProto::Kind kind, TypeProto& type) {
    type.kind = kind;
    while (in.next()) {
      if (in.number() == 1) type.type = element_type(in);
      if (in.number() == 2) {
        type.has_shape = true;
        ProtobufReader shape = in.message();
        while (shape.next()) {
          if (shape.number() == 1) type.shape.push_back(size(shape.message()));
        }
        check(shape);
      }
    }
    check(in);
  }

  void of_elements(ProtobufReader in, TypeProto::Kind kind, TypeProto& type, uint32_t element,
                   int depth) {
    type.kind = kind;
    TypeProto inner;
    while (in.next()) {
      if (in.number() == element) {
        inner = this->type(in.message(), depth + 1);
      } else if (in.number() == 1) {
        type.type = element_type(in);
      }
    }
    check(in);
    type.element = std::make_shared<const TypeProto>(std::move(inner));
  }

  Size size(ProtobufReader in) {
    Size size;
    while (in.next()) {
      if (in.number() == 1) size.value = in.int64();
      if (in.number() == 2) size.name = in.string();
    }
    if (size.value < -1) in.fail(concat("a size is ", size.value));
    check(in);
    return size;
  }

  Type element_type(ProtobufReader& in) {
    const int64_t number = in.int64();
    const auto found = type_of(number);
    if (!found && number != 0) unknown_types_.push_back(no_type(number));
    return found.value_or(Type::Float32);
  }

  FunctionProto function(ProtobufReader in) {
    FunctionProto function;
    while (in.next() && error_.empty()) {
      switch (in.number()) {
        case 1:
          function.name = in.string();
          break;
        case 4:
          function.inputs.emplace_back(in.string());
          break;
        case 5:
          function.outputs.emplace_back(in.string());
          break;
        case 6:
          function.attributes.emplace_back(in.string());
          break;
        case 7:
          function.nodes.push_back(node(in.message(), 0));
          break;
        case 9:
          set(in.message(), function.sets);
          break;
        case 10:
          function.domain = in.string();
          break;
        case 11:
          function.defaults.push_back(attribute(in.message(), 0));
          break;
        case 13:
          function.overload = in.string();
          break;
        default:
          break;
      }
    }
    check(in);
    return function;
  }

  TensorProto tensor(ProtobufReader in) {
    auto tensor = read_tensor(in, file_, &unknown_types_);
    if (tensor) return std::move(*tensor);
    if (error_.empty()) error_ = std::move(tensor.error().message);
    return {};
  }

  TensorProto sparse(ProtobufReader in) {
    auto tensor = read_sparse_tensor(in, file_, sparse_budget_);
    if (tensor) return std::move(*tensor);
    if (error_.empty()) error_ = std::move(tensor.error().message);
    return {};
  }

  const SharedBytes& file_;
  int64_t sparse_budget_ = kMaxSparseElements;
  std::string error_;
  std::vector<std::string> unknown_types_;
};

}  // namespace

const AttributeProto* NodeProto::attribute(std::string_view key) const {
  for (const AttributeProto& each : attributes) {
    if (each.name == key) return &each;
  }
  return nullptr;
}

Functions::Functions(const ModelProto& model) {
  for (const FunctionProto& each : model.functions) {
    functions_.emplace(Name(each.name, each.domain, each.overload), &each);
  }
}

const FunctionProto* Functions::find(const NodeProto& node) const {
  const auto found = functions_.find(Name(node.op_type, node.domain, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

AttributeProto resolve(const AttributeProto& attribute, const std::vector<AttributeProto>& around) {
  if (attribute.reference.empty()) return attribute;
  AttributeProto resolved;
  for (const AttributeProto& each : around) {
    if (each.name == attribute.reference) resolved = each;
  }
  resolved.name = attribute.name;
  return resolved;
}

Result<ModelProto> read_model(SharedBytes file) { return ModelReader(file).run(); }

Result<TensorProto> read_tensor(SharedBytes file) {
  return read_tensor(ProtobufReader({file.data(), file.size()}), file);
}

}  // namespace lathe::onnx
