#include "lathe/opt/widen_float16.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "lathe/base/check.h"
#include "lathe/base/table.h"
#include "lathe/graph/rewriter.h"

namespace lathe::opt {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Output;
using graph::Update;
using graph::Value;
using scalar::DType;
using scalar::is_half;

namespace {

bool is_select(const Node& node) {
  return node.kind == Kind::Map && scalar::info(node.op).signature == scalar::Signature::Choose;
}

// Whether its results are unmodified elements of its operands; of a Gather, of operand 0.
bool moves(const Node& node) {
  switch (node.kind) {
    case Kind::Reshape:
    case Kind::Reindex:
    case Kind::Join:
    case Kind::Gather:
      return true;
    case Kind::Map:
      return is_select(node);
    default:
      return false;
  }
}

// What becomes a state or an output and has parts of inputs or states as they are, such as a cache
// with a new row: it is stored as it is, and so are those that it is moved from. Else the cache
// would be converted entirely. By node.
Table<Value, bool> find_stored(const Graph& graph) {
  Table<Value, bool> has_stored(graph.nodes.size()), stored(graph.nodes.size());
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (!is_half(node.dtype)) continue;
    has_stored[id] = node.kind == Kind::Input || node.kind == Kind::State ||
                     (moves(node) && std::ranges::any_of(node.operands, [&](Value operand) {
                        return has_stored[operand];
                      }));
  }
  for (const Output& output : graph.outputs) stored[output.value] = true;
  for (const Update& update : graph.updates) stored[update.value] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    stored[id] = stored[id] && has_stored[id];
    if (!stored[id]) continue;
    for (const Value operand : graph.nodes[id].operands) stored[operand] = true;
  }
  return stored;
}

// The interface of a body: the types of its inputs, in order; its first outputs are loop-carried,
// in f32.
struct Boundary {
  std::vector<DType> inputs;
  size_t carried = 0;
};

class Float16Widener final : public graph::Rewriter {
 public:
  // `boundary`: of a body; null for a graph, whose outputs have the same types as before.
  Float16Widener(const Graph& graph, const Boundary* boundary, bool keeps_constants)
      : boundary_(boundary), keeps_constants_(keeps_constants) {
    if (boundary == nullptr) stored_ = find_stored(graph);
  }

  Graph run_all(Graph graph) {
    std::vector<DType> outputs, updates;
    for (const Output& output : graph.outputs) outputs.push_back(graph[output.value].dtype);
    for (const Update& update : graph.updates) updates.push_back(graph[update.value].dtype);
    graph_ = run(std::move(graph));
    std::vector<Output> results = std::move(graph_.outputs);
    for (size_t k = 0; k < results.size(); ++k) {
      Value& value = results[k].value;
      if (boundary_ == nullptr) value = narrow(value, outputs[k]);
      if (boundary_ != nullptr && k < boundary_->carried) value = wide(value);
    }
    graph_.outputs = std::move(results);
    for (size_t k = 0; k < updates.size(); ++k) {
      const Value value = narrow(graph_.updates[k].value, updates[k]);
      graph_.updates[k].value = value;
    }
    return std::move(graph_);
  }

 private:
  Value replace(Node node) override {
    const size_t id = id_++;
    if (node.kind == Kind::Input && boundary_ != nullptr) {
      node.dtype = boundary_->inputs[inputs_++];
      return add(std::move(node));
    }
    if (node.kind == Kind::Item) {
      const Graph& body = *(*this)[node.operands[0]].body;
      node.dtype = body[body.outputs[node.item].value].dtype;
      return add(std::move(node));
    }
    if (node.kind == Kind::Loop) return loop(std::move(node));
    if (node.kind == Kind::Contract) {
      for (Value& operand : node.operands) operand = of_constant(operand);
      return add(std::move(node));
    }
    if (!is_half(node.dtype)) return reader(std::move(node));
    if (moves(node)) return move(std::move(node), id < stored_.size() && stored_[id]);
    switch (node.kind) {
      case Kind::Map:
      case Kind::Reduce:
      case Kind::Scan:
        for (Value& operand : node.operands) operand = wide(operand);
        break;
      case Kind::Scatter:
        node.operands[0] = wide(node.operands[0]);
        break;
      case Kind::Cast:
        return node.loose ? as_f32(node.operands[0]) : add(std::move(node));
      default:
        return add(std::move(node));
    }
    node.dtype = DType::F32;
    return add(std::move(node));
  }

  // Of numbers that are no float16, which it may read.
  Value reader(Node node) {
    if (node.kind == Kind::Map) {
      for (Value& operand : node.operands) operand = wide(operand);
    }
    if (node.kind == Kind::Cast) {
      const Value operand = of_constant(node.operands[0]);
      if ((*this)[operand].dtype == node.dtype) return operand;
      node.operands[0] = operand;
    }
    return add(std::move(node));
  }

  // In f32 where one of the operands is, or as it is stored.
  Value move(Node node, bool is_stored) {
    const auto is_number = [&](Value value) {
      return is_half((*this)[value].dtype) || (*this)[value].dtype == DType::F32;
    };
    const bool is_wide = !is_stored && std::ranges::any_of(node.operands, [&](Value operand) {
      return (*this)[operand].dtype == DType::F32;
    });
    for (Value& operand : node.operands) {
      if (is_number(operand)) operand = is_wide ? wide(operand) : narrow(operand, node.dtype);
    }
    if (is_wide) node.dtype = DType::F32;
    return add(std::move(node));
  }

  // Nothing is rounded on the way into the body, between its steps and out of it.
  Value loop(Node node) {
    const std::vector<Value> inputs = inputs_of(*node.body);
    Boundary boundary{{}, static_cast<size_t>(node.repetition.carried)};
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (node.repetition.is_carried(k)) node.operands[k] = wide(node.operands[k]);
      boundary.inputs.push_back((*this)[node.operands[k]].dtype);
    }
    node.body = std::make_shared<const Graph>(
        Float16Widener(*node.body, &boundary, keeps_constants_).run_all(Graph(*node.body)));
    return add(std::move(node));
  }

  Value cast(Value value, DType dtype) {
    const Node& from = (*this)[value];
    return add({.kind = Kind::Cast,
                .dtype = dtype,
                .shape = from.shape,
                .operands = {value},
                .part = from.part});
  }

  Value as_f32(Value value) {
    value = wide(value);
    return (*this)[value].dtype == DType::F32 ? value : cast(value, DType::F32);
  }

  // f32 instead of float16; one conversion serves all.
  Value wide(Value value) {
    if (!is_half((*this)[value].dtype)) return value;
    const auto [at, is_new] = wide_.try_emplace(value);
    if (is_new) {
      const Value constant = of_constant(value);
      at->second = constant == value ? cast(value, DType::F32) : constant;
    }
    return at->second;
  }

  Value narrow(Value value, DType dtype) {
    if ((*this)[value].dtype == dtype || !is_half(dtype)) return value;
    const auto [at, is_new] = narrow_.try_emplace({value, dtype});
    if (is_new) at->second = cast(value, dtype);
    return at->second;
  }

  // A constant of float16, possibly moved, converted to f32: reading twice the bytes
  // is faster than converting them in each call. Anything else as it is.
  Value of_constant(Value value) {
    Node node = (*this)[value];
    if (node.dtype != DType::F16 || keeps_constants_) return value;
    const bool is_view = node.kind == Kind::Reshape || node.kind == Kind::Reindex;
    if (!is_view && node.kind != Kind::Constant) return value;
    if (const auto found = constants_.find(value); found != constants_.end()) return found->second;
    node.dtype = DType::F32;
    if (is_view) {
      const Value operand = of_constant(node.operands[0]);
      if (operand == node.operands[0]) return value;
      node.operands[0] = operand;
    } else {
      node.data = f32_of_f16(node.data);
    }
    return constants_[value] = add(std::move(node));
  }

  const Boundary* boundary_;
  bool keeps_constants_;
  std::vector<bool> stored_;
  size_t id_ = 0, inputs_ = 0;
  std::map<Value, Value> wide_, constants_;
  std::map<std::pair<Value, DType>, Value> narrow_;
};

bool has_float16(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return is_half(node.dtype) || (node.body && has_float16(*node.body));
  });
}

}  // namespace

// A vector would write zeros before, byte by byte in code made small.
SharedBytes f32_of_f16(const SharedBytes& float16s) {
  const size_t bytes = 2 * float16s.size();
  const std::shared_ptr<std::byte> floats(static_cast<std::byte*>(std::malloc(bytes)), std::free);
  LATHE_CHECK(floats != nullptr || bytes == 0);
  for (size_t at = 0; at < float16s.size(); at += 2) {
    uint16_t half;
    std::memcpy(&half, float16s.data() + at, 2);
    const uint32_t magnitude = (half & 0x7fffu) << 13;
    const float finite = std::bit_cast<float>(magnitude) * 0x1p112f;
    const bool is_finite = magnitude < 0x0f800000u;
    const uint32_t bits = is_finite ? std::bit_cast<uint32_t>(finite) : magnitude | 0x7f800000u;
    const uint32_t result = bits | (half & 0x8000u) << 16;
    std::memcpy(floats.get() + 2 * at, &result, 4);
  }
  return {floats, bytes};
}

Graph widen_float16(Graph graph) {
  if (!has_float16(graph)) return graph;
  return Float16Widener(graph, nullptr, /*keeps_constants=*/false).run_all(std::move(graph));
}

Graph widen_float16_but_constants(Graph graph) {
  if (!has_float16(graph)) return graph;
  return Float16Widener(graph, nullptr, /*keeps_constants=*/true).run_all(std::move(graph));
}

}  // namespace lathe::opt
