#include "lathe/api/onnx/json.h"

#include <algorithm>

#include "lathe/base/json.h"
#include "lathe/base/text.h"

namespace lathe::onnx {

namespace {

Json text_json(std::string_view text) { return Json::string(std::string(text)); }
Json number_json(int64_t number) { return Json::number(static_cast<double>(number)); }

Json shape_json(const Shape& shape) {
  Json sizes = Json::array();
  for (const int64_t each : shape) sizes.add(number_json(each));
  return sizes;
}

std::string_view kind_text(TypeProto::Kind kind) {
  switch (kind) {
    case TypeProto::Kind::Unknown:
      return "unknown";
    case TypeProto::Kind::Tensor:
      return "tensor";
    case TypeProto::Kind::SparseTensor:
      return "sparseTensor";
    case TypeProto::Kind::Sequence:
      return "sequence";
    case TypeProto::Kind::Optional:
      return "optional";
    case TypeProto::Kind::Map:
      return "map";
  }
  return "";
}

Json type_json(const TypeProto& type) {
  Json json = Json::object();
  json.add("kind", text_json(kind_text(type.kind)));
  using Kind = TypeProto::Kind;
  if (type.kind == Kind::Tensor || type.kind == Kind::SparseTensor) {
    json.add("type", text_json(text(type.type)));
    if (type.has_shape) {
      Json sizes = Json::array();
      for (const Size& each : type.shape) {
        sizes.add(each.value >= 0     ? number_json(each.value)
                  : each.name.empty() ? Json()
                                      : text_json(each.name));
      }
      json.add("shape", std::move(sizes));
    }
  }
  if (type.kind == Kind::Map) json.add("key", text_json(text(type.type)));
  if (type.element) json.add("element", type_json(*type.element));
  return json;
}

Json ports_json(const std::vector<ValueInfo>& ports) {
  Json all = Json::array();
  for (const ValueInfo& each : ports) {
    Json json = type_json(each.type);
    json.add("name", text_json(each.name));
    all.add(std::move(json));
  }
  return all;
}

Json port_json(const Port& port) {
  if (port.kind == Value::Kind::None) return {};
  Json json = Json::object();
  json.add("type", text_json(text(port.type)));
  if (port.kind == Value::Kind::Tensor) {
    json.add("kind", text_json("tensor"));
    json.add("shape", shape_json(port.shape));
    if (!port.name.empty()) json.add("name", text_json(port.name));
    if (!port.padded_axes.empty())
      json.add("paddedAxes", shape_json(Shape(port.padded_axes.begin(), port.padded_axes.end())));
    if (port.constant && port.type == Type::String) {
      Json strings = Json::array();
      for (const std::string& each : port.constant->strings) strings.add(text_json(each));
      json.add("strings", std::move(strings));
    }
    return json;
  }
  json.add("kind", text_json(port.kind == Value::Kind::Map ? "map" : "sequence"));
  Json elements = Json::array();
  for (const Port& each : port.elements) elements.add(port_json(each));
  json.add("elements", std::move(elements));
  return json;
}

Result<Type> read_type(const Json& json) {
  for (int64_t number = 0; number < 32; ++number) {
    const auto type = type_of(number);
    if (type && json.string() == text(*type)) return *type;
  }
  return fail(concat("there is no element type '", json.string(), '\''));
}

// A tensor's type, shape and, if specified, content.
Result<Content> read_content(const Json& json, std::span<const std::byte> data) {
  Content content;
  LATHE_ASSIGN_OR_RETURN(content.type, read_type(json.at("type")));
  for (const Json& each : json.at("shape").values()) {
    if (!each.is_count()) return fail("a shape must have sizes >= 0");
    content.shape.push_back(static_cast<int64_t>(each.number()));
  }
  if (content.type == Type::String) {
    for (const Json& each : json.at("strings").values()) content.strings.push_back(each.string());
    if (content.count() != static_cast<int64_t>(content.strings.size())) {
      return fail(concat("the shape ", bracketed(content.shape), " does not have ",
                         content.strings.size(), " strings"));
    }
    return content;
  }
  const auto& range = json.at("data").values();
  if (range.size() != 2) return content;
  const auto offset = static_cast<size_t>(range[0].number());
  const auto size = static_cast<size_t>(range[1].number());
  const auto expected =
      static_cast<size_t>(content.count()) * scalar::size_of(dtype_of(content.type));
  if (!range[0].is_count() || !range[1].is_count() || offset > data.size() ||
      size > data.size() - offset || size != expected) {
    return fail("the range of a content is outside of the data, or not of the size of its shape");
  }
  content.data = SharedBytes(data.begin() + static_cast<int64_t>(offset),
                             data.begin() + static_cast<int64_t>(offset + size));
  return content;
}

Result<Port> read_port(const Json& json, std::span<const std::byte> data) {
  Port port;
  if (json.is_null()) return port;
  const std::string& kind = json.at("kind").string();
  if (kind == "tensor") {
    LATHE_ASSIGN_OR_RETURN(Content content, read_content(json, data));
    port = {.kind = Value::Kind::Tensor, .type = content.type, .shape = content.shape};
    if (content.type == Type::String || json.find("data") != nullptr) {
      port.constant = std::make_shared<const Content>(std::move(content));
    }
    for (const Json& each : json.at("paddedAxes").values()) {
      if (!each.is_count()) return fail("paddedAxes: expects axes");
      port.padded_axes.push_back(static_cast<int>(each.number()));
    }
    return port;
  }
  if (kind != "sequence" && kind != "map") return fail(concat("an input cannot be a ", kind));
  port.kind = kind == "map" ? Value::Kind::Map : Value::Kind::Sequence;
  LATHE_ASSIGN_OR_RETURN(port.type, read_type(json.at("type")));
  for (const Json& each : json.at("elements").values()) {
    LATHE_ASSIGN_OR_RETURN(Port element, read_port(each, data));
    port.elements.push_back(std::move(element));
  }
  return port;
}

}  // namespace

std::string describe(const ModelProto& model, std::span<const std::string> external_files) {
  Json json = Json::object();
  json.add("inputs", ports_json(model.graph.inputs));
  json.add("outputs", ports_json(model.graph.outputs));
  Json metadata = Json::object();
  for (const auto& [key, value] : model.metadata) metadata.add(key, text_json(value));
  json.add("metadata", std::move(metadata));
  json.add("producer", text_json(model.producer));
  json.add("domain", text_json(model.domain));
  json.add("description", text_json(model.description));
  json.add("version", number_json(model.version));
  json.add("irVersion", number_json(model.ir_version));
  Json sets = Json::object();
  for (const auto& [domain, version] : model.sets) sets.add(domain, number_json(version));
  json.add("operatorSets", std::move(sets));
  Json files = Json::array();
  for (const std::string& each : external_files) files.add(text_json(each));
  json.add("externalFiles", std::move(files));
  return json.dump();
}

std::string describe(const Trace& trace, bool has_dependencies) {
  Json json = Json::object();
  if (has_dependencies) {
    Json all = Json::array();
    for (const std::vector<size_t>& inputs : result_dependencies(trace)) {
      Json list = Json::array();
      for (const size_t each : inputs) list.add(number_json(static_cast<int64_t>(each)));
      all.add(std::move(list));
    }
    json.add("dependencies", std::move(all));
  }
  json.add("isComplete", Json::boolean(trace.is_complete));
  Json weights = Json::array();
  for (const TensorProto* each : trace.weights) {
    Json weight = Json::object();
    weight.add("name", text_json(each->name));
    weight.add("type", text_json(text(each->content.type)));
    weight.add("shape", shape_json(each->content.shape));
    weights.add(std::move(weight));
  }
  json.add("weights", std::move(weights));
  json.add("quantizesJointly", Json::boolean(trace.quantizes_jointly));
  json.add("concatenatesCache", Json::boolean(trace.concatenates_cache));
  json.add("isCapacityIndependent", Json::boolean(trace.is_capacity_independent));
  Json inputs = Json::array(), breaks = Json::array();
  for (const size_t each : trace.required_inputs)
    inputs.add(number_json(static_cast<int64_t>(each)));
  for (const graph::Value each : trace.graph_breaks) breaks.add(number_json(each.id + 1));
  json.add("requiredContents", std::move(inputs));
  json.add("splitPoints", std::move(breaks));
  for (const auto& [key, ports] :
       {std::pair{"inputs", &trace.inputs}, {"results", &trace.results}}) {
    Json all = Json::array();
    for (const Port& each : *ports) all.add(port_json(each));
    json.add(key, std::move(all));
  }
  return json.dump();
}

Result<TraceRequest> read_request(std::string_view json, std::span<const std::byte> data) {
  LATHE_ASSIGN_OR_RETURN(const Json parsed, Json::parse(json));
  TraceRequest request;
  for (const Json& each : parsed.at("inputs").values()) {
    LATHE_ASSIGN_OR_RETURN(Port port, read_port(each, data));
    request.inputs.push_back(std::move(port));
  }
  for (const Json& each : parsed.at("breakValues").values()) {
    LATHE_ASSIGN_OR_RETURN(Content content, read_content(each, data));
    request.break_values.push_back(std::move(content));
  }
  for (const Json& each : parsed.at("cache").values()) {
    const auto& pair = each.values();
    const bool is_fit = !pair.empty() && pair.size() <= 3;
    if (!is_fit || !std::ranges::all_of(pair, &Json::is_count)) {
      return fail("cache: expects the index of an input each, of an output, and an axis");
    }
    CachePair& cached = request.cache.emplace_back(static_cast<size_t>(pair[0].number()));
    if (pair.size() > 1) cached.result = static_cast<size_t>(pair[1].number());
    if (pair.size() > 2) cached.axis = static_cast<int>(pair[2].number());
  }
  if (const Json& fresh = parsed.at("newRows"); fresh.is_count()) {
    request.new_rows = static_cast<int64_t>(fresh.number());
  }
  if (const Json& mask = parsed.at("mask"); mask.is_count()) {
    request.mask = static_cast<size_t>(mask.number());
  }
  request.has_dependencies = parsed.find("dependencies") != nullptr;
  for (const Json& each : parsed.at("results").values()) request.results.push_back(each.string());
  if (const Json* weights = parsed.find("weightInputs")) {
    const std::string& which = weights->string();
    if (which != "trained" && which != "large") return fail("weightInputs: trained or large");
    request.weights = which == "large" ? WeightInputs::Large : WeightInputs::Trained;
  }
  return request;
}

}  // namespace lathe::onnx
