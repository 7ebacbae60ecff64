#include "lathe/opt/widen_types.h"

#include <algorithm>
#include <map>

#include "lathe/graph/rewriter.h"

namespace lathe::opt {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;
using scalar::DType;
using scalar::Number;
using scalar::Op;

namespace {

class Widener final : public graph::Rewriter {
  Value replace(Node node) override {
    switch (node.kind) {
      case Kind::Map:
        return map_node(std::move(node));
      case Kind::Reduce:
      case Kind::Scan:
        return computed(std::move(node));
      case Kind::Contract:
        for (Value& operand : node.operands) operand = wide(operand);
        return add(std::move(node));
      case Kind::Gather:
        node.operands[1] = index(node.operands[1], (*this)[node.operands[0]].shape[axis(node)]);
        return add(std::move(node));
      case Kind::Scatter:
        node.operands[1] = index(node.operands[1], node.shape[axis(node)]);
        return computed(std::move(node));
      case Kind::Sort:
        return sort(std::move(node));
      case Kind::Input:
      case Kind::State:
      case Kind::Constant:
      case Kind::Iota:
      case Kind::Cast:
      case Kind::Reshape:
      case Kind::Reindex:
      case Kind::Join:
      case Kind::Loop:
      case Kind::Item:
        return add(std::move(node));
    }
    return add(std::move(node));
  }

  static size_t axis(const Node& node) { return static_cast<size_t>(node.axes[0]); }

  Value cast(Value value, DType dtype) {
    const Node& from = (*this)[value];
    if (from.dtype == dtype) return value;
    return add({.kind = Kind::Cast, .dtype = dtype, .shape = from.shape, .operands = {value}});
  }

  Value like(Value value, const Number& number) { return splat(number, (*this)[value].shape); }

  // The value in the type that it is computed in; all users share one cast.
  Value wide(Value value) {
    const DType dtype = scalar::computed((*this)[value].dtype);
    if (dtype == (*this)[value].dtype) return value;
    const auto [entry, fresh] = wide_.try_emplace(value);
    if (fresh) entry->second = cast(value, dtype);
    return entry->second;
  }

  // On operand 0 in the type that it is computed in.
  Value computed(Node node) {
    const DType dtype = node.dtype;
    node.operands[0] = wide(node.operands[0]);
    node.dtype = scalar::computed(dtype);
    const bool picks = node.kind != Kind::Scatter && node.dtype != dtype &&
                       scalar::info(node.op).fold == scalar::Fold::Pick;
    const Op op = node.op;
    Value value = add(std::move(node));
    if (picks) {  // the identity is the minimum or maximum of the type, not of the wider one
      const Number nothing = scalar::fold_identity(op, dtype);
      value = map(op, {value, like(value, scalar::cast(nothing, scalar::computed(dtype)))});
    }
    return cast(value, dtype);
  }

  Value map_node(Node node) {
    if (scalar::info(node.op).signature == scalar::Signature::Choose) return add(std::move(node));
    for (Value& operand : node.operands) operand = wide(operand);
    const DType dtype = node.dtype;
    node.dtype = scalar::computed(dtype);
    return cast(add(std::move(node)), dtype);
  }

  // Moved inside an axis of this size before it loses bits.
  Value index(Value value, int64_t size) {
    const DType dtype = (*this)[value].dtype;
    if (scalar::computed(dtype) == DType::I32) return cast(value, DType::I32);
    if (scalar::is_signed(dtype)) {
      value = map(Op::Max, {value, like(value, Number::integer(dtype, 0))});
    }
    const int64_t last = std::max<int64_t>(size - 1, 0);
    return cast(map(Op::Min, {value, like(value, Number::integer(dtype, last))}), DType::I32);
  }

  Value sort(Node node) {
    const Value key = wide(node.operands[0]);
    const DType dtype = (*this)[key].dtype;
    if (dtype == DType::U32) {
      node.operands[0] = cast(flipped(key), DType::I32);
    } else if (scalar::size_of(dtype) == 8) {
      return sort_by_words(std::move(node), signed_key(key, node.reverse));
    } else {
      node.operands[0] = key;
    }
    return add(std::move(node));
  }

  // An integer with its highest bit flipped maps the order of unsigned integers to that of signed
  // ones.
  Value flipped(Value key) {
    const DType dtype = (*this)[key].dtype;
    const int bits = 8 * scalar::size_of(dtype);
    const Number highest = Number::from_bits(dtype, uint64_t{1} << (bits - 1));
    return map(Op::BitXor, {key, like(key, highest)});
  }

  // Numbers of 64 bits as i64 in the same order: of floats -0 is 0 and NaN the last one.
  Value signed_key(Value key, bool reverse) {
    const DType dtype = (*this)[key].dtype;
    if (dtype == DType::U64) return cast(flipped(key), DType::I64);
    if (dtype == DType::I64) return key;
    const Value number = map(Op::Add, {key, like(key, Number::of(0.0))});
    const Value bits = map(Op::ToBits, {number}, DType::I64);
    const Number largest = Number::highest(DType::I64);
    const Value is_negative = map(Op::Lt, {bits, like(bits, Number::of(int64_t{0}))}, DType::Bool);
    const Value sign_flipped = map(Op::BitXor, {bits, like(bits, largest)});
    const Value ordered = map(Op::Select, {is_negative, sign_flipped, bits}, DType::I64);
    const Value is_nan = map(Op::Ne, {key, key}, DType::Bool);
    const Value last = like(bits, reverse ? Number::lowest(DType::I64) : largest);
    return map(Op::Select, {is_nan, last, ordered}, DType::I64);
  }

  // By the lower words, then by the upper ones: equal elements stay in order (stable).
  Value sort_by_words(Node node, Value key) {
    const Number half = Number::of(int64_t{32});
    const Value upper = cast(map(Op::ShiftRight, {key, like(key, half)}), DType::I32);
    const Value lower = flipped(cast(key, DType::I32));
    Node first = node;
    first.shape = (*this)[key].shape;
    first.operands = {lower};
    const Value order = add(std::move(first));
    node.operands = {gather(upper, order, node)};
    const Node sorted = node;
    return gather(order, add(std::move(node)), sorted);
  }

  Value gather(Value x, Value indices, const Node& along) {
    Node node{.kind = Kind::Gather, .dtype = (*this)[x].dtype, .shape = (*this)[indices].shape};
    node.operands = {x, indices};
    node.axes = along.axes;
    return add(std::move(node));
  }

  using Rewriter::map;
  Value map(Op op, std::vector<Value> operands, DType dtype) {
    const Value value = Rewriter::map(op, std::move(operands));
    graph_.nodes[value].dtype = dtype;
    return value;
  }

  std::map<Value, Value> wide_;
};

}  // namespace

Graph widen_types(Graph graph) {
  const bool is_plain = std::ranges::all_of(graph.nodes, [](const Node& node) {
    return node.dtype == DType::Bool || node.dtype == DType::I32 || node.dtype == DType::F32;
  });
  return is_plain ? graph : Widener().run(std::move(graph));
}

}  // namespace lathe::opt
