#include "lathe/models/onnx/sizes.h"

#include <algorithm>
#include <set>

#include "lathe/base/text.h"

namespace lathe::onnx {
namespace {

class Binder {
 public:
  Binder(const ModelProto& model, const GivenSizes& given)
      : model_(model), given_(given), sizes_(given.sizes.begin(), given.sizes.end()) {}

  Result<std::vector<Port>> run() {
    LATHE_TRY(check_names());
    for (const ValueInfo& each : model_.graph.inputs) {
      const auto shape = given_.shapes.find(each.name);
      if (shape != given_.shapes.end()) LATHE_TRY(bind(each, shape->second));
    }
    std::vector<Port> ports;
    for (const ValueInfo& each : model_.graph.inputs) {
      LATHE_ASSIGN_OR_RETURN(Port port, port_of(each));
      if (open_.empty()) LATHE_TRY(make_known(each.name, port));
      ports.push_back(std::move(port));
    }
    if (open_.empty()) return ports;
    return fail(concat("sizes of its inputs are open: ", open_));
  }

 private:
  // Every name that is given is one of the model.
  Status check_names() const {
    std::set<std::string> inputs, sizes;
    for (const ValueInfo& each : model_.graph.inputs) {
      inputs.insert(each.name);
      for (const Size& size : each.type.shape) {
        if (size.value < 0 && !size.name.empty()) sizes.insert(size.name);
      }
    }
    for (const auto& [name, shape] : given_.shapes) {
      if (!inputs.contains(name)) return unknown("input", name, inputs);
    }
    for (const auto& [name, values] : given_.values) {
      if (!inputs.contains(name)) return unknown("input", name, inputs);
    }
    for (const auto& [name, size] : given_.sizes) {
      if (!sizes.contains(name)) return unknown("size", name, sizes);
    }
    return {};
  }

  static std::unexpected<Error> unknown(std::string_view what, const std::string& name,
                                        const std::set<std::string>& known) {
    std::string all;
    for (const std::string& each : known) append(all, all.empty() ? "" : ", ", each);
    return fail(
        concat("the model has no ", what, " '", name, "'; known: ", all.empty() ? "none" : all));
  }

  // The shape of an input, and what it says of the names in it.
  Status bind(const ValueInfo& input, const Shape& shape) {
    const TypeProto& type = input.type;
    if (!type.has_shape) return {};
    const auto refuse = [&](std::string_view why) {
      return fail(concat("input '", input.name, "' takes ", shape_text(type), ", not ",
                         bracketed(shape), why));
    };
    if (type.shape.size() != shape.size()) return refuse("");
    for (size_t k = 0; k < shape.size(); ++k) {
      const Size& size = type.shape[k];
      if (size.value >= 0 && size.value != shape[k]) return refuse("");
      if (size.value >= 0 || size.name.empty()) continue;
      const int64_t before = sizes_.emplace(size.name, shape[k]).first->second;
      if (before != shape[k]) return refuse(concat(": ", size.name, " is ", before, " elsewhere"));
    }
    return {};
  }

  Result<Port> port_of(const ValueInfo& input) {
    using Kind = TypeProto::Kind;
    const TypeProto& type = input.type;
    if (type.kind == Kind::Optional) return Port{};
    if (type.kind != Kind::Tensor || type.type == Type::String) {
      return fail(concat("input '", input.name, "' is ", type_text(type),
                         "; only tensors of numbers can be given here"));
    }
    Port port{.kind = Value::Kind::Tensor, .type = type.type};
    if (const auto shape = given_.shapes.find(input.name); shape != given_.shapes.end()) {
      port.shape = shape->second;
      return port;
    }
    bool is_open = !type.has_shape;
    for (const Size& size : type.shape) {
      const auto known = size.name.empty() ? sizes_.end() : sizes_.find(size.name);
      is_open = is_open || (size.value < 0 && known == sizes_.end());
      port.shape.push_back(size.value < 0 && known != sizes_.end() ? known->second : size.value);
    }
    if (is_open) append(open_, open_.empty() ? "" : ", ", '\'', input.name, "' ", shape_text(type));
    return port;
  }

  // Gives the port the value that the input is to have always.
  Status make_known(const std::string& name, Port& port) const {
    const auto given = given_.values.find(name);
    if (given == given_.values.end()) return {};
    const bool is_whole = port.kind == Value::Kind::Tensor && bits_of(port.type) >= 8 &&
                          !scalar::is_float(dtype_of(port.type));
    if (!is_whole) return fail(concat("input '", name, "' does not take whole numbers"));
    if (graph::element_count(port.shape) != static_cast<int64_t>(given->second.size())) {
      return fail(concat("input '", name, "' of shape ", bracketed(port.shape), " does not take ",
                         given->second.size(), " values"));
    }
    port.known =
        std::make_shared<const Content>(integers_content(port.type, port.shape, given->second));
    return {};
  }

  const ModelProto& model_;
  const GivenSizes& given_;
  std::map<std::string, int64_t> sizes_;
  std::string open_;
};

}  // namespace

Result<std::vector<Port>> ports_of(const ModelProto& model, const GivenSizes& given) {
  return Binder(model, given).run();
}

std::string shape_text(const TypeProto& type) {
  if (!type.has_shape) return "any shape";
  std::string text;
  for (const Size& each : type.shape) {
    append(text, text.empty() ? "" : ",");
    if (each.value >= 0) {
      append(text, each.value);
    } else {
      append(text, each.name.empty() ? std::string("?") : each.name);
    }
  }
  return concat('[', text, ']');
}

std::string type_text(const TypeProto& type) {
  const std::string element = type.element ? type_text(*type.element) : std::string();
  switch (type.kind) {
    case TypeProto::Kind::Unknown:
      return "of unknown type";
    case TypeProto::Kind::Tensor:
      return concat(text(type.type), ' ', shape_text(type));
    case TypeProto::Kind::SparseTensor:
      return concat("sparse ", text(type.type), ' ', shape_text(type));
    case TypeProto::Kind::Sequence:
      return concat("sequence of ", element);
    case TypeProto::Kind::Optional:
      return concat("optional ", element);
    case TypeProto::Kind::Map:
      return concat("map from ", text(type.type), " to ", element);
  }
  return {};
}

}  // namespace lathe::onnx
