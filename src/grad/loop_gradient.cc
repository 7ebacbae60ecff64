// The gradient of a loop: a loop in the other direction whose body propagates the adjoints back
// through one step. Values of forward steps that it needs are stacked by the forward loop, or
// rematerialized from stacked values where that is cheap.
#include <algorithm>

#include "lathe/base/insert.h"
#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/grad/reverse.h"

namespace lathe::grad {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Tensor;
using graph::Value;

namespace {

using Adjoints = std::vector<std::optional<Tensor>>;

// Simple operations that cost less than a store and a load.
constexpr int kCheap = 4;

// Rematerialized rather than stacked.
bool is_cheap(const Node& node) {
  switch (node.kind) {
    case Kind::Constant:
    case Kind::Iota:
    case Kind::Cast:
    case Kind::Reshape:
    case Kind::Reindex:
      return true;
    case Kind::Map:
      return scalar::info(node.op).cost <= kCheap;
    default:
      return false;
  }
}

Shape stacked_shape(int64_t steps, Shape shape) {
  insert_at(shape, 0, steps);
  return shape;
}

// The map over an iteration space with one more dimension, the first, which is the first axis too
// where the tensor is stacked.
AffineMap over_steps(const AffineMap& map, bool stacked, size_t rank) {
  AffineMap result;
  if (stacked) {
    Affine step{std::vector<int64_t>(rank + 1, 0), 0};
    step.coefficients[0] = 1;
    result.axes.push_back(std::move(step));
  }
  for (Affine axis : map.axes) {
    insert_at(axis.coefficients, 0, 0);
    result.axes.push_back(std::move(axis));
  }
  return result;
}

class LoopGradient {
 public:
  LoopGradient(Builder& outer, Value loop, const Adjoints& adjoints)
      : outer_(outer),
        loop_(loop),
        node_(outer.graph()[loop]),
        steps_(node_.repetition.steps),
        carried_(static_cast<size_t>(node_.repetition.carried)),
        adjoints_(adjoints),
        size_(node_.body->nodes.size()),
        inputs_(inputs_of(*node_.body)),
        body_(*node_.body) {}

  // Calls accumulate(operand of the loop, part of its adjoint).
  template <class Accumulate>
  void run(const Accumulate& accumulate) {
    if (steps_ == graph::kUnboundedSteps) {
      outer_.error(
          "gradients: a loop bounded only by its condition is not differentiable; set "
          "maxIterations");
      return;
    }
    differentiate();
    if (!body_.ok()) {
      outer_.error(concat("in the body of a loop: ", body_.message()));
      return;
    }
    stack_needed();
    const std::vector<Tensor> results = reverse_loop();
    for (const Part& part : parts_) {
      accumulate(node_.operands[part.input], results[part.result]);
    }
    for (const Deferred& each : deferred_) {
      const auto input = std::ranges::find(inputs_, each.operand) - inputs_.begin();
      accumulate(node_.operands[input], contract(each, results));
    }
  }

 private:
  // A result of the reverse loop is a part of the adjoint of what this input of the body gets.
  struct Part {
    size_t input;
    int result;
  };
  struct Port {
    Value value;     // input of the extended body
    Tensor operand;  // of the reverse loop
  };

  Tensor body(Value value) { return {&body_, value}; }
  // A result of a nested loop of the forward steps, which the gradient of that loop may read.
  bool is_forward_item(const Node& node) const {
    return node.kind == Kind::Item && static_cast<size_t>(node.operands[0].id) < size_;
  }
  bool is_sliced(size_t input) const { return node_.repetition.is_sliced(input); }
  bool has_condition() const { return node_.repetition.has_condition(); }
  Value condition() const { return inputs_[node_.repetition.condition]; }
  bool is_float(Value value) const { return scalar::is_float(body_.graph()[value].dtype); }

  Port adjoint_input(std::string name, Value like, Tensor operand) {
    const Node node = body_.graph()[like];
    return {body_.input(concat("adjoint of ", name), node.dtype, node.shape).value, operand};
  }

  // Adds to the body the adjoints of its inputs, from those of its outputs.
  void differentiate() {
    const std::vector<graph::Output> outputs = body_.graph().outputs;
    std::vector<std::pair<Value, Value>> seeds;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Value value = outputs[k].value;
      if (!is_float(value)) continue;
      const Tensor zeros = k < carried_ ? zero(Tensor{&outer_, node_.operands[k]}) : Tensor{};
      if (k >= carried_ && !adjoints_[k]) continue;
      const Port port =
          adjoint_input(concat("output ", k), value, adjoints_[k] ? *adjoints_[k] : zeros);
      (k < carried_ ? carried_ports_ : sliced_ports_).push_back(port);
      seeds.emplace_back(value, port.value);
    }
    Reverse reverse(body_);
    // A contraction over all steps would read stacks of steps that did not run.
    if (!has_condition()) {
      const int first_invariant = node_.repetition.carried + node_.repetition.sliced;
      reverse.defer({inputs_.begin() + first_invariant, inputs_.end()});
    }
    for (const auto& [value, adjoint] : seeds) reverse.accumulate(value, body(adjoint));
    reverse.run({static_cast<int32_t>(size_) - 1});
    deferred_ = reverse.deferred();
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (!is_float(inputs_[k])) continue;
      const auto adjoint = reverse.adjoint(inputs_[k]);
      if (k < carried_) {
        add_carried(k, adjoint ? *adjoint : zero(body(inputs_[k])));
      } else if (adjoint && is_sliced(k)) {
        slices_.emplace_back(k, adjoint->value);
      } else if (adjoint) {
        const Tensor like = body(inputs_[k]);
        const Tensor zeros = outer_.full(like.shape(), scalar::Number::from(like.dtype(), 0));
        carried_ports_.push_back(adjoint_input(concat("input ", k), inputs_[k], zeros));
        add_carried(k, body(carried_ports_.back().value) + *adjoint);
      }
    }
    for (const auto& [k, value] : slices_) parts_.push_back({k, stack(value)});
    for (const Deferred& each : deferred_) stack(each.adjoint);
  }

  void add_carried(size_t input, Tensor next) {
    parts_.push_back({input, static_cast<int>(next_.size())});
    next_.push_back(next.value);
  }

  // The index of the reverse loop's result that stacks this value. The carried values are complete
  // by then.
  int stack(Value value) {
    const auto found = std::ranges::find(stacks_, value);
    const auto number = found - stacks_.begin();
    if (found == stacks_.end()) stacks_.push_back(value);
    return static_cast<int>(static_cast<std::ptrdiff_t>(next_.size()) + number);
  }

  // Marks what the reverse body computes; what it does not is a port.
  void stack_needed() {
    const Graph& graph = body_.graph();
    computed_.assign(graph.nodes.size(), false);
    Table<Value, bool> needed(graph.nodes.size());
    for (const std::vector<Value>* roots : {&next_, &stacks_}) {
      for (Value root : *roots) needed[root] = true;
    }
    if (has_condition()) needed[condition()] = true;
    std::vector<Value> saved;
    for (size_t id = graph.nodes.size(); id-- > 0;) {
      const Node& node = graph.nodes[id];
      if (!needed[id]) continue;
      if (node.kind == Kind::Input) {
        if (id < size_) input_port({static_cast<int32_t>(id)}, saved);
      } else if (is_forward_item(node) || (id < size_ && !is_cheap(node))) {
        saved.push_back({static_cast<int32_t>(id)});
      } else {
        computed_[id] = true;
        for (Value operand : node.operands) needed[operand] = true;
      }
    }
    const size_t ported = saved.size();
    for (const Deferred& each : deferred_) {
      const bool in_loop = graph[each.other].kind != Kind::Input ||
                           std::ranges::find(inputs_, each.other) - inputs_.begin() <
                               static_cast<std::ptrdiff_t>(carried_);
      if (in_loop && std::ranges::find(saved, each.other) == saved.end()) {
        saved.push_back(each.other);
      }
    }
    std::vector<Value> positions;
    Graph forward = forward_body(saved, positions);
    const std::vector<Tensor> stacks = outer_.add_loop_stacks(loop_, std::move(forward), positions);
    for (size_t i = 0; i < saved.size(); ++i) {
      saved_[saved[i]] = stacks[i];
      if (i < ported) sliced_ports_.push_back({saved[i], stacks[i]});
    }
  }

  // The body whose nested loops stack what their gradients read; `positions`: its nodes for
  // `values`.
  Graph forward_body(const std::vector<Value>& values, std::vector<Value>& positions) const {
    const Graph& extended = body_.graph();
    Graph forward = *node_.body;
    for (size_t id = 0; id < size_; ++id) {
      if (forward.nodes[id].kind == Kind::Loop) forward.nodes[id] = extended.nodes[id];
    }
    for (const Value value : values) {
      positions.push_back(value);
      if (static_cast<size_t>(value.id) < size_) continue;
      positions.back() = forward.nodes.push_back(extended[value]);
    }
    return forward;
  }

  void input_port(Value value, std::vector<Value>& saved) {
    const auto k = static_cast<size_t>(std::ranges::find(inputs_, value) - inputs_.begin());
    if (k < carried_) {
      saved.push_back(value);
    } else {
      (is_sliced(k) ? sliced_ports_ : invariant_ports_)
          .push_back({value, {&outer_, node_.operands[k]}});
    }
  }

  std::vector<Tensor> reverse_loop() {
    const Graph& from = body_.graph();
    Graph graph;
    graph.name = from.name + "'";
    Table<Value, Value> moved(from.nodes.size());
    const auto add = [&](size_t id, Node node) {
      for (Value& operand : node.operands) operand = moved[operand];
      moved[id] = graph.nodes.push_back(std::move(node));
    };
    std::vector<Tensor> operands;
    for (const auto* ports : {&carried_ports_, &sliced_ports_, &invariant_ports_}) {
      for (const Port& port : *ports) {
        const Node& like = from[port.value];
        Node input{.kind = Kind::Input, .dtype = like.dtype, .shape = like.shape};
        input.name = concat("in", operands.size());
        operands.push_back(port.operand);
        add(static_cast<size_t>(port.value.id), std::move(input));
      }
    }
    for (size_t id = 0; id < from.nodes.size(); ++id) {
      if (computed_[id]) add(id, from.nodes[id]);
    }
    for (const std::vector<Value>* roots : {&next_, &stacks_}) {
      for (Value root : *roots) {
        graph.outputs.push_back({concat("out", graph.outputs.size()), moved[root]});
      }
    }
    graph::Repetition repetition{steps_, static_cast<int>(carried_ports_.size()),
                                 static_cast<int>(sliced_ports_.size())};
    if (has_condition()) repetition.condition = moved[condition()].id;
    return outer_.loop(operands, repetition, !node_.reverse, std::move(graph));
  }

  // The contraction's gradient of its invariant operand, summed over all steps.
  Tensor contract(const Deferred& each, const std::vector<Tensor>& results) {
    const Contraction& c = each.contraction;
    const Tensor adjoint = results[stack(each.adjoint)];
    const auto saved = saved_.find(each.other);
    const auto input =
        static_cast<size_t>(std::ranges::find(inputs_, each.other) - inputs_.begin());
    const Tensor other =
        saved != saved_.end() ? saved->second : Tensor{&outer_, node_.operands[input]};
    const bool stacked = saved != saved_.end() || is_sliced(input);
    const size_t rank = c.extents.size();
    const AffineMap of_adjoint = over_steps(c.out, true, rank);
    const AffineMap of_other = over_steps(each.is_lhs ? c.rhs : c.lhs, stacked, rank);
    const AffineMap of_operand = over_steps(each.is_lhs ? c.lhs : c.rhs, false, rank);
    const Shape extents = stacked_shape(steps_, c.extents);
    const Shape shape = body(each.operand).shape();
    return each.is_lhs
               ? outer_.contract(adjoint, other, {extents, of_operand, of_adjoint, of_other}, shape)
               : outer_.contract(other, adjoint, {extents, of_operand, of_other, of_adjoint},
                                 shape);
  }

  Builder& outer_;
  Value loop_;
  const Node node_;
  const int64_t steps_;
  const size_t carried_;
  const Adjoints& adjoints_;  // of the results
  const size_t size_;         // of the body before it was extended
  const std::vector<Value> inputs_;
  Builder body_;
  std::vector<std::pair<size_t, Value>> slices_;  // adjoint of the slice that an input gets
  std::vector<Value> next_, stacks_;              // carried and stacked values of the reverse body
  std::vector<Port> carried_ports_, sliced_ports_, invariant_ports_;
  std::vector<Part> parts_;
  std::vector<Deferred> deferred_;
  Table<Value, bool> computed_;  // by node of the extended body
  std::map<Value, Tensor> saved_;
};

}  // namespace

void Reverse::item(const Node& node, Tensor g) {
  if (!scalar::is_float(node.dtype)) return;
  const Value loop = node.operands[0];
  Adjoints& adjoints = results_[loop];
  adjoints.resize(builder_.graph()[loop].body->outputs.size());
  auto& adjoint = adjoints[node.item];
  adjoint = adjoint ? *adjoint + g : g;
}

void Reverse::loop(Value loop, const Adjoints& adjoints) {
  LoopGradient(builder_, loop, adjoints).run([&](Value operand, Tensor part) {
    accumulate(operand, part);
  });
}

}  // namespace lathe::grad
