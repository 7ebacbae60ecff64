#include "lathe/models/onnx/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <span>

#include "lathe/base/text.h"
#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/model.h"
#include "lathe/models/onnx/model_file.h"
#include "lathe/models/onnx/weight_codecs.h"

namespace lathe::onnx {
namespace {

using formats::ProtobufReader;
using formats::ProtobufWriter;
using formats::WireType;

// Elements of weights that are worth a node.
constexpr int64_t kLeast = 256;
constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - 1;
constexpr std::string_view kContrib = "com.microsoft";

// Fields of onnx.proto.
constexpr uint32_t kModelGraph = 7, kModelSets = 8, kSetDomain = 1, kSetVersion = 2;
constexpr uint32_t kGraphNode = 1, kGraphInitializer = 5, kGraphInput = 11;
constexpr uint32_t kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOperator = 4,
                   kNodeAttribute = 5, kNodeDomain = 7;
constexpr uint32_t kTensorShape = 1, kTensorType = 2, kTensorName = 8, kTensorRaw = 9,
                   kTensorExternal = 13, kTensorDataLocation = 14;
constexpr uint32_t kAttributeName = 1, kAttributeInt = 3, kAttributeGraph = 6,
                   kAttributeGraphs = 11, kAttributeType = 20, kIsInt = 2;
constexpr uint32_t kValueName = 1;

void copy_field(ProtobufReader& in, ProtobufWriter& out) {
  switch (in.type()) {
    case WireType::Varint:
      return out.varint(in.number(), in.uint64());
    case WireType::Fixed64:
      return out.float64(in.number(), in.float64());
    case WireType::Bytes:
      return out.borrowed(in.number(), in.bytes());
    case WireType::Fixed32:
      return out.float32(in.number(), in.float32());
  }
}

// Operands that are weights, and the axis of their channels; -1: the last one.
struct WeightOperand {
  std::string_view op;
  size_t operand;
  int axis;
};
constexpr WeightOperand kWeightOperands[] = {
    {"Conv", 1, 0},    {"FusedConv", 1, 0}, {"ConvTranspose", 1, 1}, {"MatMul", 0, -2},
    {"MatMul", 1, -1}, {"Gemm", 1, -1},     {"Gather", 0, 0},        {"LSTM", 1, 1},
    {"LSTM", 2, 1},    {"GRU", 1, 1},       {"GRU", 2, 1},           {"RNN", 1, 1},
    {"RNN", 2, 1}};

// A reader of an initializer.
struct Use {
  const NodeProto* node;
  size_t operand;
  bool is_inside;  // of a graph inside a node
};

ProtobufWriter int_attribute(std::string_view name, int64_t value) {
  ProtobufWriter attribute;
  attribute.string(kAttributeName, name);
  attribute.varint(kAttributeInt, static_cast<uint64_t>(value));
  attribute.varint(kAttributeType, kIsInt);
  return attribute;
}

class Rewriter {
 public:
  Rewriter(const SharedBytes& file, const ModelProto& model, WeightBits bits)
      : file_(file), model_(model), bits_(bits) {}

  Result<QuantizedModel> run() {
    const auto set = model_.sets.find("");
    version_ = set == model_.sets.end() ? 1 : set->second;
    if (version_ < 7) {
      return fail(concat("the model is of operator set ", version_,
                         "; quantized weights require 7 or later: convert it with ONNX's tools"));
    }
    find_names(model_.graph, false);
    quantize_graph(model_.graph);
    ProtobufWriter out;
    bool has_contrib = !needs_contrib_;
    ProtobufReader in({file_.data(), file_.size()});
    while (in.next()) {
      if (in.number() == kModelGraph) {
        LATHE_ASSIGN_OR_RETURN(const ProtobufWriter graph, rewrite_graph(in.message()));
        out.message(kModelGraph, graph);
        continue;
      }
      if (in.number() == kModelSets) has_contrib |= is_contrib(in.message());
      copy_field(in, out);
    }
    LATHE_TRY(in.status());
    if (!has_contrib) {
      ProtobufWriter sets;
      sets.string(kSetDomain, kContrib);
      sets.varint(kSetVersion, 1);
      out.message(kModelSets, sets);
    }
    if (out.size() > kMaxBytes) {
      return fail(concat("the model would have ", out.size(), " bytes; one file is limited to ",
                         kMaxBytes));
    }
    done_.file = out.bytes();
    return std::move(done_);
  }

 private:
  static bool is_contrib(ProtobufReader in) {
    bool is_found = false;
    while (in.next()) is_found |= in.number() == kSetDomain && in.string() == kContrib;
    return is_found;
  }

  void find_names(const GraphProto& graph, bool is_inside) {
    for (const ValueInfo& each : graph.inputs) {
      names_.insert(each.name);
      if (is_inside) ++producers_[each.name];
    }
    for (const ValueInfo& each : graph.outputs) {
      names_.insert(each.name);
      outputs_.insert(each.name);
    }
    for (const TensorProto& each : graph.initializers) {
      names_.insert(each.name);
      ++producers_[each.name];
    }
    for (const NodeProto& node : graph.nodes) {
      names_.insert(node.outputs.begin(), node.outputs.end());
      for (const std::string& each : node.outputs) ++producers_[each];
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        uses_[node.inputs[k]].push_back({&node, k, is_inside});
      }
      for (const AttributeProto& attribute : node.attributes) {
        for (const auto& each : attribute.graphs) find_names(*each, true);
      }
    }
  }

  std::string fresh(std::string_view base, std::string_view ending) {
    std::string name = concat(base, ending);
    while (!names_.insert(name).second) name += '_';
    return name;
  }

  // The replacements of weights of branches and bodies are nodes outside, visible to them.
  void quantize_graph(const GraphProto& graph) {
    for (const TensorProto& each : graph.initializers) quantize(each);
    for (const NodeProto& node : graph.nodes) {
      quantize_constant(node);
      for (const AttributeProto& attribute : node.attributes) {
        for (const auto& each : attribute.graphs) quantize_graph(*each);
      }
    }
  }

  // Adds the quantized replacement of an initializer, if it is large enough.
  void quantize(const TensorProto& tensor) {
    const Content& content = tensor.content;
    const auto uses = uses_.find(tensor.name);
    if (content.type != Type::Float32 || content.count() < kLeast || tensor.external ||
        uses == uses_.end() || outputs_.contains(tensor.name) || producers_[tensor.name] > 1) {
      return;
    }
    std::vector<float> values(content.count());
    std::memcpy(values.data(), content.data.data(), content.data.size());
    const uint64_t before = added_;
    if (bits_ == WeightBits::Float16) add_float16(tensor, values);
    const bool is_finite = std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
    if (bits_ == WeightBits::Int8 && is_finite) add_int8(tensor, uses->second, values);
    if (bits_ == WeightBits::Int4 && is_finite) add_int4(tensor, uses->second, values);
    if (added_ == before) return;
    replaced_.insert(tensor.name);
    ++done_.tensors;
    done_.bytes_before += 4 * content.count();
    done_.bytes_after += static_cast<int64_t>(added_ - before);
  }

  // Some exporters have weights as Constant nodes.
  void quantize_constant(const NodeProto& node) {
    const AttributeProto* value = node.attribute("value");
    const bool is_tensor = node.op_type == "Constant" && node.outputs.size() == 1 &&
                           value != nullptr && value->tensors.size() == 1;
    if (is_tensor)
      quantize({node.outputs[0], value->tensors[0].content, value->tensors[0].external});
  }

  void add_float16(const TensorProto& tensor, std::span<const float> values) {
    if (!fits_float16(values)) return;
    const std::string name = fresh(tensor.name, "_f16");
    add_tensor(name, Type::Float16, tensor.content.shape, to_float16(values));
    add_node("Cast", {name}, tensor.name, {int_attribute("to", 1)});
  }

  void add_int8(const TensorProto& tensor, const std::vector<Use>& uses,
                std::span<const float> values) {
    const Shape& shape = tensor.content.shape;
    const auto axis = channels_of(uses, shape.size());
    if (!axis) return;
    const Int8Weights quantized = quantize_int8(values, shape, *axis);
    const std::string name = fresh(tensor.name, "_i8"), scale = fresh(tensor.name, "_scale");
    add_tensor(name, Type::Int8, shape, quantized.values);
    const int64_t channels = shape[*axis];
    if (version_ >= 13) {
      add_tensor(scale, Type::Float32, {channels}, to_bytes(quantized.scales));
      add_node("DequantizeLinear", {name, scale}, tensor.name,
               {int_attribute("axis", static_cast<int64_t>(*axis))});
      return;
    }
    Shape along(shape.size(), 1);
    along[*axis] = channels;
    add_tensor(scale, Type::Float32, along, to_bytes(quantized.scales));
    const std::string floats = fresh(tensor.name, "_f32");
    add_node("Cast", {name}, floats, {int_attribute("to", 1)});
    add_node("Mul", {floats, scale}, tensor.name, {});
  }

  static std::optional<size_t> channels_of(const std::vector<Use>& uses, size_t rank) {
    if (rank < 2) return std::nullopt;
    for (const Use& use : uses) {
      for (const WeightOperand& weight : kWeightOperands) {
        if (use.node->op_type != weight.op || use.operand != weight.operand) continue;
        const AttributeProto* transposed = use.node->attribute("transB");
        if (weight.op == "Gemm" && transposed != nullptr && transposed->integer != 0) return 0;
        return static_cast<size_t>(weight.axis + (weight.axis < 0 ? static_cast<int>(rank) : 0));
      }
    }
    return std::nullopt;
  }

  void add_int4(const TensorProto& tensor, const std::vector<Use>& uses,
                std::span<const float> values) {
    const Shape& shape = tensor.content.shape;
    const bool is_right = std::ranges::all_of(uses, [](const Use& use) {
      return !use.is_inside && use.operand == 1 && use.node->op_type == "MatMul" &&
             (use.node->domain.empty() || use.node->domain == "ai.onnx");
    });
    if (shape.size() != 2 || !is_right) return;
    const int64_t rows = shape[0], columns = shape[1], blocks = (rows + kBlock - 1) / kBlock;
    const Int4Weights quantized = quantize_int4(values, rows, columns);
    Packed packed{fresh(tensor.name, "_i4"), fresh(tensor.name, "_scale"), rows, columns};
    add_tensor(packed.values, Type::UInt8, {columns, blocks, kBlock / 2}, quantized.values);
    add_tensor(packed.scales, Type::Float32, {columns * blocks}, to_bytes(quantized.scales));
    packed_[tensor.name] = std::move(packed);
    needs_contrib_ = true;
  }

  static std::vector<std::byte> to_bytes(std::span<const float> values) {
    const auto bytes = std::as_bytes(values);
    return {bytes.begin(), bytes.end()};
  }

  void add_tensor(const std::string& name, Type type, const Shape& shape,
                  std::vector<std::byte> data) {
    added_ += data.size();
    ProtobufWriter tensor;
    tensor.packed(kTensorShape, shape);
    tensor.varint(kTensorType, static_cast<uint64_t>(type));
    tensor.string(kTensorName, name);
    data_.push_back(std::move(data));
    tensor.borrowed(kTensorRaw, data_.back());
    tensors_.push_back(std::move(tensor));
  }

  void add_node(std::string_view op, const std::vector<std::string>& inputs,
                const std::string& output, const std::vector<ProtobufWriter>& attributes) {
    ProtobufWriter node;
    for (const std::string& each : inputs) node.string(kNodeInput, each);
    node.string(kNodeOutput, output);
    node.string(kNodeName, concat(output, '/', op));
    node.string(kNodeOperator, op);
    for (const ProtobufWriter& each : attributes) node.message(kNodeAttribute, each);
    nodes_.push_back(std::move(node));
  }

  // The new nodes come first: all others may read their outputs.
  Result<ProtobufWriter> rewrite_graph(ProtobufReader in) {
    ProtobufWriter out;
    for (const ProtobufWriter& each : nodes_) out.message(kGraphNode, each);
    for (const ProtobufWriter& each : tensors_) out.message(kGraphInitializer, each);
    size_t number = 0;
    while (in.next()) {
      const uint32_t field = in.number();
      if (field == kGraphInitializer) {
        LATHE_TRY(rewrite_tensor(in, model_.graph.initializers[number++], out));
      } else if (field == kGraphNode) {
        LATHE_TRY(rewrite_node(in, out));
      } else if (field != kGraphInput || !replaced_.contains(name_of(in.message(), kValueName))) {
        copy_field(in, out);
      }
    }
    LATHE_TRY(in.status());
    return out;
  }

  // A graph inside a node, without replaced initializers.
  Result<ProtobufWriter> rewrite_inner(ProtobufReader in) {
    ProtobufWriter out;
    while (in.next()) {
      if (in.number() == kGraphNode) {
        LATHE_TRY(rewrite_node(in, out));
      } else if (in.number() != kGraphInitializer ||
                 !replaced_.contains(name_of(in.message(), kTensorName))) {
        copy_field(in, out);
      }
    }
    LATHE_TRY(in.status());
    return out;
  }

  Result<ProtobufWriter> rewrite_attribute(ProtobufReader in) {
    ProtobufWriter out;
    while (in.next()) {
      if (in.number() != kAttributeGraph && in.number() != kAttributeGraphs) {
        copy_field(in, out);
        continue;
      }
      LATHE_ASSIGN_OR_RETURN(const ProtobufWriter graph, rewrite_inner(in.message()));
      out.message(in.number(), graph);
    }
    LATHE_TRY(in.status());
    return out;
  }

  static std::string name_of(ProtobufReader in, uint32_t field) {
    std::string name;
    while (in.next()) {
      if (in.number() == field) name = in.string();
    }
    return name;
  }

  // An unchanged initializer, with external data embedded.
  Status rewrite_tensor(ProtobufReader& in, const TensorProto& read, ProtobufWriter& out) {
    if (replaced_.contains(read.name)) return {};
    ProtobufWriter tensor;
    bool is_external = false;
    ProtobufReader fields = in.message();
    while (fields.next()) {
      const uint32_t field = fields.number();
      is_external |= field == kTensorExternal;
      if (field != kTensorExternal && field != kTensorDataLocation) copy_field(fields, tensor);
    }
    LATHE_TRY(fields.status());
    if (is_external) {
      if (bits_of(read.content.type) % 8 != 0) {
        return fail(concat("initializer '", read.name, "': ", text(read.content.type),
                           " in another file cannot be moved into this one"));
      }
      tensor.borrowed(kTensorRaw, {read.content.data.data(), read.content.data.size()});
    }
    out.message(kGraphInitializer, tensor);
    return {};
  }

  Status rewrite_node(ProtobufReader& in, ProtobufWriter& out) {
    std::vector<std::string> inputs;
    bool is_replaced = false;  // a Constant node that was replaced
    ProtobufReader fields = in.message();
    while (fields.next()) {
      if (fields.number() == kNodeInput) inputs.emplace_back(fields.string());
      is_replaced |=
          fields.number() == kNodeOutput && replaced_.contains(std::string(fields.string()));
    }
    if (is_replaced) return {};
    const auto packed = inputs.size() == 2 ? packed_.find(inputs[1]) : packed_.end();
    ProtobufWriter node;
    if (packed == packed_.end()) {
      ProtobufReader all = in.message();
      while (all.next()) {
        if (all.number() != kNodeAttribute) {
          copy_field(all, node);
          continue;
        }
        LATHE_ASSIGN_OR_RETURN(const ProtobufWriter attribute, rewrite_attribute(all.message()));
        node.message(kNodeAttribute, attribute);
      }
      out.message(kGraphNode, node);
      return {};
    }
    const Packed& weights = packed->second;
    for (const std::string& each : {inputs[0], weights.values, weights.scales}) {
      node.string(kNodeInput, each);
    }
    node.string(kNodeOperator, "MatMulNBits");
    node.string(kNodeDomain, kContrib);
    node.message(kNodeAttribute, int_attribute("K", weights.rows));
    node.message(kNodeAttribute, int_attribute("N", weights.columns));
    node.message(kNodeAttribute, int_attribute("bits", 4));
    node.message(kNodeAttribute, int_attribute("block_size", kBlock));
    ProtobufReader fields_of_node = in.message();
    while (fields_of_node.next()) {
      const uint32_t field = fields_of_node.number();
      const bool is_overridden =
          field == kNodeInput || field == kNodeOperator || field == kNodeDomain;
      if (!is_overridden) copy_field(fields_of_node, node);
    }
    out.message(kGraphNode, node);
    return {};
  }

  struct Packed {
    std::string values, scales;
    int64_t rows, columns;
  };

  const SharedBytes& file_;
  const ModelProto& model_;
  WeightBits bits_;
  int64_t version_ = 0;
  bool needs_contrib_ = false;
  std::set<std::string> names_, outputs_, replaced_;
  std::map<std::string, int>
      producers_;  // number of initializers, nodes and nested graphs that define a name
  std::map<std::string, std::vector<Use>> uses_;
  std::map<std::string, Packed> packed_;
  std::deque<std::vector<std::byte>> data_;  // of new tensors
  std::vector<ProtobufWriter> tensors_, nodes_;
  uint64_t added_ = 0;
  QuantizedModel done_;
};

}  // namespace

std::optional<WeightBits> parse_weight_bits(std::string_view name) {
  if (name == "float16") return WeightBits::Float16;
  if (name == "int8") return WeightBits::Int8;
  if (name == "int4") return WeightBits::Int4;
  return std::nullopt;
}

Result<QuantizedModel> quantize_weights(const std::string& path, WeightBits bits) {
  LATHE_ASSIGN_OR_RETURN(const SharedBytes file, read_file_bytes(path));
  return quantize_weights(file, path, bits);
}

Result<QuantizedModel> quantize_weights(const SharedBytes& file, const std::string& path,
                                        WeightBits bits) {
  auto model = read_model(file);
  if (!model) return fail(concat(path, ": ", model.error().message));
  LATHE_TRY(load_external_files(*model, path));
  auto result = Rewriter(file, *model, bits).run();
  if (!result) return fail(concat(path, ": ", result.error().message));
  return result;
}

}  // namespace lathe::onnx
