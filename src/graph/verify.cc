// The invariants, one function each.
#include "lathe/graph/verify.h"

#include <set>

#include "lathe/base/text.h"
#include "lathe/graph/infer.h"

namespace lathe::graph {

namespace {

#ifndef __wasm__

constexpr int kOperands[] = {
#define LATHE_NODE(name_, text_, operands_) operands_,
#include "lathe/graph/nodes.def"
};

Status check_operands(const Graph& graph, int32_t id) {
  const Node& node = graph.nodes[id];
  const int expected = kOperands[static_cast<int>(node.kind)];
  if (expected >= 0 && static_cast<int>(node.operands.size()) != expected) {
    return fail(concat("%", id, " ", text(node.kind), ": has ", node.operands.size(),
                       " operands, expected ", expected));
  }
  for (Value operand : node.operands) {
    if (operand.id < 0 || operand.id >= id) {
      return fail(concat("%", id, " ", text(node.kind), ": operand %", operand.id,
                         " does not come before it"));
    }
  }
  return {};
}

bool is_pick(Op op) { return scalar::info(op).fold == scalar::Fold::Pick; }

// Sets to empty what the kind uses; the rest must be empty already.
bool unused_attributes_are_empty(const Node& node) {
  Node rest = node;
  switch (node.kind) {
    case Kind::Input:
    case Kind::State:
      rest.name.clear();
      break;
    case Kind::Constant:
      rest.data = {};
      break;
    case Kind::Iota:
      rest.axes.clear();
      break;
    case Kind::Map:
      if (rest.op == Op::Nearest) rest.loose = false;
      if (is_pick(rest.op)) rest.exclusive = false;
      rest.op = Op::Add;
      break;
    case Kind::Reduce:
      if (is_pick(rest.op)) rest.exclusive = false;
      rest.op = Op::Add;
      rest.axes.clear();
      break;
    case Kind::Contract:
      rest.contraction = {};
      break;
    case Kind::Reindex:
      rest.map = {};
      break;
    case Kind::Join:
      rest.maps.clear();
      break;
    case Kind::Gather:
      rest.axes.clear();
      break;
    case Kind::Scatter:
      rest.op = Op::Add;
      rest.axes.clear();
      break;
    case Kind::Scan:
      rest.op = Op::Add;
      rest.axes.clear();
      rest.exclusive = rest.reverse = false;
      break;
    case Kind::Sort:
      rest.axes.clear();
      rest.reverse = false;
      break;
    case Kind::Loop:
      rest.repetition = {};
      rest.body = {};
      rest.reverse = false;
      break;
    case Kind::Item:
      rest.item = 0;
      break;
    case Kind::Cast:
      rest.loose = false;
      break;
    case Kind::Reshape:
      break;
  }
  return rest.op == Op::Add && rest.axes.empty() && rest.name.empty() && rest.data.size() == 0 &&
         rest.map == AffineMap{} && rest.maps.empty() && rest.contraction == Contraction{} &&
         !rest.exclusive && !rest.reverse && !rest.loose && rest.repetition == Repetition{} &&
         !rest.body && rest.item == 0;
}

Status check_body(const Node& node, int32_t id) {
  if (!node.body) return fail(concat("%", id, " loop: has no body"));
  for (const Node& each : node.body->nodes) {
    if (each.kind == Kind::State) return fail(concat("%", id, " loop: its body has a state"));
  }
  if (const Status sound = verify(*node.body); !sound) {
    return fail(concat("in the body of %", id, " loop: ", sound.error().message));
  }
  return {};
}

Status check_node(const Graph& graph, int32_t id) {
  const Node& node = graph.nodes[id];
  LATHE_TRY(check_operands(graph, id));
  if (node.kind == Kind::Loop) LATHE_TRY(check_body(node, id));
  auto type = infer(graph, node);
  if (!type) return fail(concat("%", id, " ", type.error().message));
  if (*type != Type{node.dtype, node.shape}) {
    return fail(concat("%", id, " ", text(node.kind), ": is ", type_string(node.dtype, node.shape),
                       ", its operands yield ", type_string(type->dtype, type->shape)));
  }
  if (!unused_attributes_are_empty(node)) {
    return fail(concat("%", id, " ", text(node.kind), ": has an attribute of another kind"));
  }
  return {};
}

#endif

Status check_names(const Graph& graph) {
  std::set<std::string_view> ports, states;
  for (const Node& node : graph.nodes) {
    if (node.kind != Kind::Input && node.kind != Kind::State) continue;
    if (!(node.kind == Kind::Input ? ports : states).insert(node.name).second) {
      return fail(concat("two ", text(node.kind), "s have the name \"", node.name, "\""));
    }
  }
  for (const Output& output : graph.outputs) {
    if (output.name.empty()) return fail("an output has no name");
    if (!ports.insert(output.name).second) {
      return fail(concat("the output name \"", output.name, "\" is already used"));
    }
  }
  return {};
}

Status check_results(const Graph& graph) {
  const auto inside = [&](Value value) {
    return value.id >= 0 && value.id < static_cast<int32_t>(graph.nodes.size());
  };
  for (const Output& output : graph.outputs) {
    if (!inside(output.value)) return fail(concat("output \"", output.name, "\" has no node"));
  }
  std::set<Value> updated;
  for (const Update& update : graph.updates) {
    if (!inside(update.state) || !inside(update.value)) return fail("an update has no node");
    const Node &state = graph[update.state], &value = graph[update.value];
    if (state.kind != Kind::State) {
      return fail(concat("update %", update.state.id, ": is not a state"));
    }
    if (state.dtype != value.dtype || state.shape != value.shape) {
      return fail(concat("update of state \"", state.name,
                         "\": ", type_string(state.dtype, state.shape), " gets ",
                         type_string(value.dtype, value.shape)));
    }
    if (!updated.insert(update.state).second) {
      return fail(concat("state \"", state.name, "\" is updated twice"));
    }
  }
  return {};
}

}  // namespace

Status verify(const Graph& graph) {
#ifndef __wasm__
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    LATHE_TRY(check_node(graph, static_cast<int32_t>(id)));
  }
#endif
  LATHE_TRY(check_names(graph));
  return check_results(graph);
}

}  // namespace lathe::graph
