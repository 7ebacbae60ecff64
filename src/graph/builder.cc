// Adds nodes one by one; every kind has one function here, and infer() decides what it may be.
#include "lathe/graph/builder.h"

#include <algorithm>

#include "lathe/base/insert.h"
#include "lathe/base/sort.h"
#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/infer.h"

namespace lathe::graph {

namespace {

// Ascending axes of a shape of this rank, or nothing where one is out of range or repeated.
std::optional<std::vector<int>> normal_axes(std::vector<int> axes, int rank) {
  for (int& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  sort_ascending(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return std::nullopt;
  return axes;
}

}  // namespace

const Shape& Tensor::shape() const {
  static const Shape kNone;
  return valid() ? builder->graph()[value].shape : kNone;
}

DType Tensor::dtype() const { return valid() ? builder->graph()[value].dtype : DType::F32; }

Builder::Builder(std::string name) { graph_.name = std::move(name); }
Builder::Builder(Graph graph) : graph_(std::move(graph)) {
  for (const Node& node : graph_.nodes) {
    if (node.kind == Kind::Input) input_names_.insert(node.name);
  }
  for (const Output& output : graph_.outputs) output_names_.insert(output.name);
}

Tensor Builder::error(std::string message) {
  if (message_.empty()) message_ = std::move(message);
  return {this, {}};
}

Result<Graph> Builder::finish() && {
  if (!ok()) return fail(std::move(message_));
  return std::move(graph_);
}

bool Builder::accepts(const Tensor& tensor) {
#ifndef __wasm__  // pages name tensors by graph
  if (tensor.builder != this) {
    error(concat(graph_.name, ": a tensor is ", tensor.builder ? "of another graph" : "none"));
  }
#endif
  return ok() && tensor.valid();
}

bool Builder::accepts_all(std::span<const Tensor> tensors) {
  return ok() && std::ranges::all_of(tensors, [this](const Tensor& each) { return accepts(each); });
}

Tensor Builder::add(Node node) {
  if (!ok()) return {this, {}};
  auto type = infer(graph_, node);
  if (!type) return error(std::move(type.error().message));
  node.dtype = type->dtype;
  node.shape = std::move(type->shape);
  node.part = part_;
  if (records_equations_ && !part_.name.empty()) name_equation(node);
  return {this, graph_.nodes.push_back(std::move(node))};
}

void Builder::begin_part(std::string_view phase, std::string_view layer) {
  if (records_parts_) part_ = {concat(phase, ' ', layer), {}};
}

void Builder::begin_equation(std::string_view name) {
  if (records_equations_ && !part_.name.empty()) part_.equation = name;
}

void Builder::begin_gradient_of(Value value) {
  const auto& [name, equation] = graph_[value].part;
  if (records_parts_ && !name.empty()) {
    part_ = {concat("backward", name.substr(name.find(' '))), equation};
  }
}

// A product is called "x·kernel"; what else is of no equation after the weight that it reads, or
// after its operation.
void Builder::name_equation(Node& node) const {
  std::string& equation = node.part.equation;
  const bool is_product = node.kind == Kind::Contract;
  if (!equation.empty() && !is_product) return;
  equation.clear();
  for (const Value operand : node.operands) {
    const Node* from = &graph_[operand];
    while (from->kind == Kind::Reshape || from->kind == Kind::Reindex || from->kind == Kind::Cast)
      from = &graph_[from->operands[0]];
    std::string_view symbol = graph_[operand].part.name.starts_with('b') ? "dy" : "x";
    const bool is_weight = from->kind == Kind::State;
    if (is_weight) symbol = std::string_view(from->name).substr(from->name.rfind('/') + 1);
    if (is_weight || is_product) append(equation, equation.empty() ? "" : "·", symbol);
  }
  if (equation.empty()) {
    const bool folds = node.kind == Kind::Map || node.kind == Kind::Reduce;
    equation = folds ? scalar::info(node.op).text : text(node.kind);
  }
}

Tensor Builder::input(std::string_view name, DType dtype, Shape shape) {
  if (!input_names_.emplace(name).second) {
    return error(concat("input: the name \"", name, "\" is already used"));
  }
  Node node{.kind = Kind::Input, .dtype = dtype, .shape = std::move(shape)};
  node.name = name;
  return add(std::move(node));
}

Tensor Builder::state(std::string_view name, DType dtype, Shape shape) {
  for (size_t id = 0; id < graph_.nodes.size(); ++id) {
    const Node& node = graph_.nodes[id];
    if (node.kind != Kind::State || node.name != name) continue;
    if (node.dtype == dtype && node.shape == shape) return {this, {static_cast<int32_t>(id)}};
    return error(concat("state: \"", name, "\" is ", type_string(node.dtype, node.shape),
                        ", requested as ", type_string(dtype, shape)));
  }
  Node node{.kind = Kind::State, .dtype = dtype, .shape = std::move(shape)};
  node.name = name;
  return add(std::move(node));
}

Tensor Builder::constant(DType dtype, Shape shape, SharedBytes data) {
  Node node{.kind = Kind::Constant, .dtype = dtype, .shape = std::move(shape)};
  node.data = std::move(data);
  return add(std::move(node));
}

Tensor Builder::full(Shape shape, scalar::Number value) {
  return constant(value.dtype, std::move(shape), bytes_of(value));
}

Tensor Builder::scalar(float value) { return full({}, scalar::Number::of(value)); }

// Axes below 0 count from the end of the rank.
Tensor Builder::add_along(Node node, int axis, int rank) {
  node.axes = {axis < 0 ? axis + rank : axis};
  return add(std::move(node));
}

Tensor Builder::iota(Shape shape, int axis) {
  const int rank = static_cast<int>(shape.size());
  return add_along({.kind = Kind::Iota, .dtype = DType::I32, .shape = std::move(shape)}, axis,
                   rank);
}

Tensor Builder::map(Op op, std::span<const Tensor> operands, std::string_view what) {
  if (!accepts_all(operands)) return {this, {}};
  if (what.empty()) what = scalar::info(op).text;
  Shape common;
  for (const Tensor& operand : operands) {
    const Shape& shape = operand.shape();
    while (common.size() < shape.size()) insert_at(common, 0, 1);
    for (size_t k = 0; k < shape.size(); ++k) {
      int64_t& size = common[common.size() - shape.size() + k];
      if (size == 1) size = shape[k];
      if (shape[k] == 1 || shape[k] == size) continue;
      std::string shapes;
      for (const Tensor& each : operands) append(shapes, ' ', bracketed(each.shape()));
      return error(concat(what, ": shapes", shapes, " do not broadcast (", size, " against ",
                          shape[k], "; sizes must be equal or 1)"));
    }
  }
  Node node{.kind = Kind::Map, .op = op};
  for (const Tensor& operand : operands) {
    node.operands.push_back(broadcast_to(operand, common, what).value);
  }
  return add(std::move(node));
}

Tensor Builder::cast(Tensor x, DType dtype) {
  if (!accepts(x)) return {this, {}};
  if (x.dtype() == dtype) return x;
  return add({.kind = Kind::Cast, .dtype = dtype, .operands = {x.value}});
}

Tensor Builder::convert(Tensor x, DType dtype) {
  const Tensor result = cast(x, dtype);
  return result.value == x.value || !scalar::is_half(dtype) ? result : loose(result);
}

Tensor Builder::loose(Tensor x) {
  if (accepts(x)) graph_.nodes[x.value].loose = true;
  return x;
}

Tensor Builder::exclusive(Tensor x) {
  if (!accepts(x)) return x;
  Node* node = &graph_.nodes[x.value];
  if (node->kind == Kind::Reshape) {  // of a reduction that leaves axes of size 1
    node = &graph_.nodes[node->operands[0]];
  }
  if (node->op == Op::Max || node->op == Op::Min) node->exclusive = true;
  return x;
}

Tensor Builder::reduce(Op op, Tensor x, std::vector<int> axes, bool keepdims) {
  if (!accepts(x)) return {this, {}};
  const auto normal = normal_axes(axes, x.rank());
  if (!normal) {
    return error(concat("reduce ", scalar::info(op).text, ": axes ", bracketed(axes),
                        " do not name axes of shape ", bracketed(x.shape()), " once each"));
  }
  Shape reduced_shape = x.shape();
  for (int axis : *normal) reduced_shape[axis] = 1;
  Tensor result = x;
  if (!normal->empty()) {
    Node node{.kind = Kind::Reduce, .operands = {x.value}, .op = op};
    node.axes = *normal;
    result = add(std::move(node));
  }
  return keepdims ? reshape(result, std::move(reduced_shape)) : result;
}

Tensor Builder::contract(Tensor lhs, Tensor rhs, Contraction contraction, Shape out_shape) {
  if (!accepts(lhs) || !accepts(rhs)) return {this, {}};
  Node node{.kind = Kind::Contract, .operands = {lhs.value, rhs.value}};
  node.shape = std::move(out_shape);
  node.contraction = std::move(contraction);
  return add(std::move(node));
}

Tensor Builder::reindex(Tensor x, AffineMap map, Shape shape) {
  if (!accepts(x)) return {this, {}};
  Node node{.kind = Kind::Reindex, .operands = {x.value}};
  node.shape = std::move(shape);
  node.map = std::move(map);
  return add(std::move(node));
}

Tensor Builder::join(std::span<const Tensor> tensors, std::vector<AffineMap> maps, Shape shape) {
  if (!accepts_all(tensors)) return {this, {}};
  Node node{.kind = Kind::Join, .shape = std::move(shape)};
  for (const Tensor& each : tensors) node.operands.push_back(each.value);
  node.maps = std::move(maps);
  return add(std::move(node));
}

Tensor Builder::gather(Tensor x, Tensor index, int axis) {
  if (!accepts(x) || !accepts(index)) return {this, {}};
  return add_along({.kind = Kind::Gather, .operands = {x.value, index.value}}, axis, x.rank());
}

Tensor Builder::scatter(Tensor x, Tensor index, int axis, Shape shape, Op op) {
  if (!accepts(x) || !accepts(index)) return {this, {}};
  Node node{.kind = Kind::Scatter, .shape = std::move(shape), .operands = {x.value, index.value}};
  node.op = op;
  return add_along(std::move(node), axis, x.rank());
}

Tensor Builder::scan(Op op, Tensor x, int axis, bool exclusive, bool reverse) {
  if (!accepts(x)) return {this, {}};
  Node node{.kind = Kind::Scan, .operands = {x.value}, .op = op};
  node.exclusive = exclusive;
  node.reverse = reverse;
  return add_along(std::move(node), axis, x.rank());
}

Tensor Builder::sort(Tensor x, int axis, bool descending, int64_t count) {
  if (!accepts(x)) return {this, {}};
  Node node{.kind = Kind::Sort, .dtype = DType::I32, .shape = x.shape(), .operands = {x.value}};
  node.axes = {axis < 0 ? axis + x.rank() : axis};
  node.reverse = descending;
  const auto at = static_cast<size_t>(node.axes[0]);
  if (count >= 0 && at < node.shape.size()) node.shape[at] = count;
  return add(std::move(node));
}

std::vector<Tensor> Builder::loop(std::span<const Tensor> operands, Repetition repetition,
                                  bool reverse, Graph body) {
  std::vector<Tensor> items(body.outputs.size(), Tensor{this, {}});
  if (!accepts_all(operands)) return items;
  Node node{.kind = Kind::Loop};
  for (const Tensor& operand : operands) node.operands.push_back(operand.value);
  node.repetition = repetition;
  node.reverse = reverse;
  node.body = std::make_shared<const Graph>(std::move(body));
  const Value loop = add(std::move(node)).value;
  for (size_t k = 0; k < items.size() && ok(); ++k) items[k] = item(loop, static_cast<int>(k));
  return items;
}

std::vector<Tensor> Builder::inlined(const Graph& body, std::span<const Tensor> arguments) {
  std::vector<Tensor> results(body.outputs.size(), Tensor{this, {}});
  if (!accepts_all(arguments)) return results;
  Table<Value, Value> moved;
  for (size_t input = 0; const Node& each : body.nodes) {
    if (each.kind == Kind::Input) {
      moved.push_back(arguments[input++].value);
      continue;
    }
    Node node = each;
    for (Value& operand : node.operands) operand = moved[operand];
    moved.push_back(add(std::move(node)).value);
  }
  for (size_t k = 0; k < results.size(); ++k) {
    results[k].value = moved[body.outputs[k].value];
  }
  return results;
}

Tensor Builder::item(Value loop, int number) {
  Node node{.kind = Kind::Item, .operands = {loop}};
  node.item = number;
  return add(std::move(node));
}

std::vector<Tensor> Builder::add_loop_stacks(Value loop, Graph body,
                                             std::span<const Value> values) {
  Node& node = graph_.nodes[loop];
  std::vector<size_t> numbers;
  for (Value value : values) {
    auto number = static_cast<size_t>(node.repetition.carried);
    while (number < body.outputs.size() && body.outputs[number].value != value) ++number;
    if (number == body.outputs.size()) {
      std::string name = concat("stack", number);
      const auto is_used = [&](const Output& output) { return output.name == name; };
      while (std::ranges::any_of(body.outputs, is_used)) name += '\'';
      body.outputs.push_back({std::move(name), value});
    }
    numbers.push_back(number);
  }
  node.body = std::make_shared<const Graph>(std::move(body));
  std::vector<Tensor> stacks;
  for (size_t number : numbers) stacks.push_back(item(loop, static_cast<int>(number)));
  return stacks;
}

void Builder::output(std::string_view name, Tensor value) {
  if (!accepts(value)) return;
  const bool is_used = input_names_.contains(name) || output_names_.contains(name);
  if (name.empty() || is_used) {
    error(concat("output: the name \"", name, "\" is ", is_used ? "already used" : "empty"));
    return;
  }
  output_names_.emplace(name);
  graph_.outputs.push_back({std::string(name), value.value});
}

void Builder::update(Tensor state, Tensor value) {
  if (!accepts(state) || !accepts(value)) return;
  const Node &target = graph_[state.value], &source = graph_[value.value];
  if (target.kind != Kind::State) {
    error(concat("update: the target must be a state, not ", text(target.kind)));
    return;
  }
  if (target.shape != source.shape || target.dtype != source.dtype) {
    error(concat("update: state \"", target.name, "\" is ", type_string(target.dtype, target.shape),
                 ", its new value ", type_string(source.dtype, source.shape)));
    return;
  }
  for (const Update& other : graph_.updates) {
    if (other.state == state.value) {
      error(concat("update: state \"", target.name, "\" is updated twice"));
      return;
    }
  }
  graph_.updates.push_back({state.value, value.value});
}

}  // namespace lathe::graph
