#include "lathe/models/onnx/input_ports.h"

#include <algorithm>
#include <set>

#include "lathe/base/text.h"

namespace lathe::onnx {
namespace {

class Binder {
 public:
  Binder(const ModelProto& model, const InputBindings& bindings)
      : model_(model), bindings_(bindings), sizes_(bindings.sizes.begin(), bindings.sizes.end()) {}

  Result<std::vector<Port>> run() {
    LATHE_TRY(check_names());
    for (const ValueInfo& each : model_.graph.inputs) {
      const auto shape = bindings_.shapes.find(each.name);
      if (shape != bindings_.shapes.end()) LATHE_TRY(bind(each, shape->second));
    }
    std::vector<Port> ports;
    for (const ValueInfo& each : model_.graph.inputs) {
      LATHE_ASSIGN_OR_RETURN(Port port, port_of(each));
      if (open_.empty()) LATHE_TRY(make_constant(each.name, port));
      ports.push_back(std::move(port));
    }
    if (open_.empty()) return ports;
    return fail(concat("sizes of its inputs are open: ", open_));
  }

 private:
  // Every bound name must be one of the model.
  Status check_names() const {
    std::set<std::string> inputs, sizes;
    for (const ValueInfo& each : model_.graph.inputs) {
      inputs.insert(each.name);
      for (const Size& size : each.type.shape) {
        if (size.value < 0 && !size.name.empty()) sizes.insert(size.name);
      }
    }
    for (const auto& [name, shape] : bindings_.shapes) {
      if (!inputs.contains(name)) return unknown("input", name, inputs);
    }
    for (const auto& [name, values] : bindings_.values) {
      if (!inputs.contains(name)) return unknown("input", name, inputs);
    }
    for (const auto& [name, size] : bindings_.sizes) {
      if (!sizes.contains(name)) return unknown("size", name, sizes);
    }
    return {};
  }

  static std::unexpected<Error> unknown(std::string_view what, const std::string& name,
                                        const std::set<std::string>& names) {
    std::string all;
    for (const std::string& each : names) append(all, all.empty() ? "" : ", ", each);
    return fail(
        concat("the model has no ", what, " '", name, "'; known: ", all.empty() ? "none" : all));
  }

  // Binds the shape of an input, and with it the symbolic sizes of the input.
  Status bind(const ValueInfo& input, const Shape& shape) {
    const TypeProto& type = input.type;
    if (!type.has_shape) return {};
    const auto mismatch = [&](std::string_view why) {
      return fail(concat("input '", input.name, "' expects ", shape_text(type), ", not ",
                         bracketed(shape), why));
    };
    if (type.shape.size() != shape.size()) return mismatch("");
    for (size_t k = 0; k < shape.size(); ++k) {
      const Size& size = type.shape[k];
      if (size.value >= 0 && size.value != shape[k]) return mismatch("");
      if (size.value >= 0 || size.name.empty()) continue;
      const int64_t before = sizes_.emplace(size.name, shape[k]).first->second;
      if (before != shape[k])
        return mismatch(concat(": ", size.name, " is ", before, " elsewhere"));
    }
    return {};
  }

  Result<Port> port_of(const ValueInfo& input) {
    using Kind = TypeProto::Kind;
    const TypeProto& type = input.type;
    if (type.kind == Kind::Optional) return Port{};
    if (type.kind != Kind::Tensor || type.type == Type::String) {
      return fail(concat("input '", input.name, "' is ", type_text(type),
                         "; only numeric tensors are supported here"));
    }
    Port port{.kind = Value::Kind::Tensor, .type = type.type};
    if (const auto shape = bindings_.shapes.find(input.name); shape != bindings_.shapes.end()) {
      port.shape = shape->second;
      return port;
    }
    bool is_open = !type.has_shape;
    for (const Size& size : type.shape) {
      const auto size_of_name = size.name.empty() ? sizes_.end() : sizes_.find(size.name);
      is_open = is_open || (size.value < 0 && size_of_name == sizes_.end());
      port.shape.push_back(size.value < 0 && size_of_name != sizes_.end() ? size_of_name->second
                                                                          : size.value);
    }
    if (is_open) append(open_, open_.empty() ? "" : ", ", '\'', input.name, "' ", shape_text(type));
    return port;
  }

  // Makes the input of the port a constant if a value is bound to it.
  Status make_constant(const std::string& name, Port& port) const {
    const auto value = bindings_.values.find(name);
    if (value == bindings_.values.end()) return {};
    const bool is_integer = port.kind == Value::Kind::Tensor && bits_of(port.type) >= 8 &&
                            !scalar::is_float(dtype_of(port.type));
    if (!is_integer)
      return fail(concat("input '", name, "' has no integer type, so it cannot be constant"));
    if (graph::element_count(port.shape) != static_cast<int64_t>(value->second.size())) {
      return fail(concat("input '", name, "' of shape ", bracketed(port.shape),
                         " cannot be bound to ", value->second.size(), " values"));
    }
    port.constant =
        std::make_shared<const Content>(integers_content(port.type, port.shape, value->second));
    return {};
  }

  const ModelProto& model_;
  const InputBindings& bindings_;
  std::map<std::string, int64_t> sizes_;
  std::string open_;
};

}  // namespace

Result<std::vector<Port>> ports_of(const ModelProto& model, const InputBindings& bindings) {
  return Binder(model, bindings).run();
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
