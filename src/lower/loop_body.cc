#include "lathe/lower/loop_body.h"

#include "lathe/base/table.h"
#include "lathe/base/text.h"

namespace lathe::lower {

using graph::AffineMap;
using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;

namespace {

class Rebuild {
 public:
  Rebuild(const Graph& graph, Value loop)
      : graph_(graph), loop_(graph[loop]), body_(*loop_.body), moved_(body_.nodes.size()) {
    result_.name = concat(graph.name, ".loop", loop.id);
  }

  Graph run(const std::vector<bool>& used) {
    step_ = leaf(Kind::State, DType::I32, {}, std::string(kStepName));
    const std::vector<Value> inputs = inputs_of(body_);
    for (size_t k = 0; k < inputs.size(); ++k) moved(inputs[k]) = input(k, body_[inputs[k]]);
    for (size_t id = 0; id < body_.nodes.size(); ++id) {
      Node node = body_.nodes[id];
      if (node.kind == Kind::Input) continue;
      for (Value& operand : node.operands) operand = moved(operand);
      moved_[id] = add(std::move(node));
    }
    const auto carried = static_cast<size_t>(loop_.repetition.carried);
    for (size_t k = 0; k < body_.outputs.size(); ++k) {
      const Value value = moved(body_.outputs[k].value),
                  before = k < carried ? moved(inputs[k]) : Value{};
      if (k < carried) {
        if (value != before) result_.updates.push_back({before, value});
      } else if (used[k]) {
        result_.outputs.push_back({concat(k), value});
      }
    }
    return std::move(result_);
  }

 private:
  Value& moved(Value value) { return moved_[value]; }

  Value add(Node node) { return result_.nodes.push_back(std::move(node)); }

  Value leaf(Kind kind, DType dtype, Shape shape, std::string name) {
    Node node{.kind = kind, .dtype = dtype, .shape = std::move(shape)};
    node.name = std::move(name);
    return add(std::move(node));
  }

  Value input(size_t k, const Node& input) {
    const Node& operand = graph_[loop_.operands[k]];
    const auto carried = static_cast<size_t>(loop_.repetition.carried);
    if (k < carried) return leaf(Kind::State, input.dtype, input.shape, operand_name(k));
    if (graph::is_splat(operand)) {
      return add({.kind = Kind::Constant,
                  .dtype = input.dtype,
                  .shape = input.shape,
                  .data = operand.data});
    }
    const Value all = leaf(Kind::Input, operand.dtype, operand.shape, operand_name(k));
    return k < carried + static_cast<size_t>(loop_.repetition.sliced) ? slice(all) : all;
  }

  Value slice(Value all) {
    const DType dtype = result_[all].dtype;
    Shape shape = result_[all].shape;
    shape[0] = 1;
    Node lookup_index{
        .kind = Kind::Reindex, .dtype = DType::I32, .shape = shape, .operands = {step_}};
    const Value step_index = add(std::move(lookup_index));
    Node gather{
        .kind = Kind::Gather, .dtype = dtype, .shape = shape, .operands = {all, step_index}};
    gather.axes = {0};
    const Value row = add(std::move(gather));
    shape.erase(shape.begin());
    return add(
        {.kind = Kind::Reshape, .dtype = dtype, .shape = std::move(shape), .operands = {row}});
  }

  const Graph& graph_;
  const Node& loop_;
  const Graph& body_;
  Table<Value, Value> moved_;  // by node of the body
  Value step_;
  Graph result_;
};

}  // namespace

std::string operand_name(size_t k) { return concat("operand", k); }

Graph body_entry(const Graph& graph, Value loop, const std::vector<bool>& used) {
  return Rebuild(graph, loop).run(used);
}

}  // namespace lathe::lower
