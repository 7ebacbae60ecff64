#include "fuzz/onnx_survive.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lathe/base/check.h"
#include "lathe/graph/binary.h"
#include "lathe/graph/elements.h"
#include "lathe/import/onnx/trace/run.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

namespace {

constexpr int64_t kMaxInputElements = 1 << 12;
constexpr int64_t kMaxWork = 1 << 17;

// A value of this type, with 2 for unknown sizes.
Data data_of(const TypeProto& type) {
  using Kind = TypeProto::Kind;
  Data data;
  if (type.kind == Kind::Optional && type.element) return data_of(*type.element);
  if (type.kind == Kind::Sequence && type.element) {
    data.kind = Value::Kind::Sequence;
    data.type = type.element->type;
    data.elements = {data_of(*type.element)};
    // Sequences of sequences would double at each level.
    if (type.element->kind == TypeProto::Kind::Tensor) data.elements.resize(2, data.elements[0]);
    return data;
  }
  Content content{.type = type.type};
  int64_t count = 1;
  for (const Size& each : type.shape) {
    const int64_t size =
        each.value < 0 ? 2 : std::min(each.value, kMaxInputElements / std::max<int64_t>(count, 1));
    content.shape.push_back(size);
    count *= size;
  }
  if (type.type == Type::String) {
    for (int64_t k = 0; k < count; ++k)
      content.strings.push_back(std::string(1, static_cast<char>('a' + k % 3)));
    return Value(std::move(content));
  }
  const DType dtype = dtype_of(type.type);
  std::vector<std::byte> bytes(static_cast<size_t>(count) * scalar::size_of(dtype));
  for (int64_t k = 0; k < count; ++k) {
    graph::store(bytes, k, scalar::cast(scalar::Number::of(k % 7 - 2), dtype));
  }
  content.data = std::move(bytes);
  return Value(std::move(content));
}

Port port_of(const Data& data) {
  Port port{.kind = data.kind, .type = data.type};
  if (data.is_tensor()) {
    port.shape = data.shape();
    if (data.type == Type::String) port.constant = data.constant;
  }
  for (const Data& each : data.elements) port.elements.push_back(port_of(each));
  return port;
}

// The graph that goes to the core: the model traced without any content.
void hand_over(const ModelProto& model, const std::vector<Data>& inputs) {
  std::vector<Port> ports;
  for (const Data& each : inputs) ports.push_back(port_of(each));
  const auto trace = onnx::trace(model, ports, {});
  if (!trace) return;
  const graph::Encoded encoded = graph::encode(trace->graph);
  const auto graph = graph::decode(encoded.bytes, encoded.constants);
  LATHE_CHECK(graph.has_value());
}

}  // namespace

void survive(std::span<const std::byte> file) {
  auto model = read_model(SharedBytes(file.begin(), file.end()));
  if (!model || !check_operators(*model)) return;
  for (const std::string& each : external_files(*model)) {
    if (!add_external_file(*model, each, SharedBytes(file.begin(), file.end()))) return;
  }
  std::vector<Data> inputs;
  for (const ValueInfo& each : model->graph.inputs) inputs.push_back(data_of(each.type));
  hand_over(*model, inputs);
  (void)run(*model, inputs, kMaxWork);
}

}  // namespace lathe::onnx
