// The typing rules: one function per node kind.
#include "graph/infer.h"

#include <algorithm>

#include "base/text.h"

namespace lathe::graph {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr int64_t kMostCoefficient = int64_t{1} << 31;

Status check_shape(std::string_view what, const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0) return fail(concat(what, ": shape ", bracketed(shape), " has a negative size"));
    if (size > 0 && count > kMostElements / size) {
      return fail(concat(what, ": shape ", bracketed(shape), " has too many elements"));
    }
    count *= std::max<int64_t>(size, 1);
  }
  return {};
}

Status check_map(std::string_view what, const AffineMap& map, size_t axes, size_t rank) {
  if (map.axes.size() != axes) {
    return fail(concat(what, ": the map has ", map.axes.size(), " axes, the tensor ", axes));
  }
  for (const Affine& axis : map.axes) {
    if (axis.coefficients.size() != rank) {
      return fail(concat(what, ": a map axis has ", axis.coefficients.size(),
                         " coefficients, the index ", rank));
    }
    auto too_large = [](int64_t x) { return x > kMostCoefficient || x < -kMostCoefficient; };
    if (too_large(axis.offset) ||
        std::any_of(axis.coefficients.begin(), axis.coefficients.end(), too_large)) {
      return fail(concat(what, ": a map coefficient is too large"));
    }
  }
  return {};
}

Result<Type> infer_constant(const Node& node) {
  const size_t size = scalar::size_of(node.dtype);
  const size_t all = size * static_cast<size_t>(element_count(node.shape));
  if (node.data.size() != size && node.data.size() != all) {
    return fail(concat("constant: ", node.data.size(), " bytes do not fill ",
                       spell(node.dtype, node.shape)));
  }
  return Type{node.dtype, node.shape};
}

Result<Type> infer_iota(const Node& node) {
  const int rank = static_cast<int>(node.shape.size());
  if (node.dtype != DType::I32) return fail("iota: the dtype must be i32");
  if (node.axes.size() != 1 || node.axes[0] < 0 || node.axes[0] >= rank) {
    return fail(
        concat("iota: axis ", bracketed(node.axes), " is not in shape ", bracketed(node.shape)));
  }
  return Type{node.dtype, node.shape};
}

Result<Type> infer_map(const Graph& graph, const Node& node) {
  const scalar::OpInfo& info = scalar::info(node.op);
  if (static_cast<int>(node.operands.size()) != info.arity) {
    return fail(concat(info.text, ": takes ", info.arity, " operands, not ", node.operands.size()));
  }
  DType dtypes[scalar::kMaxArity];
  for (int i = 0; i < info.arity; ++i) {
    const Node& operand = graph[node.operands[i]];
    dtypes[i] = operand.dtype;
    if (operand.shape != graph[node.operands[0]].shape) {
      return fail(concat(info.text,
                         ": operand shapes differ: ", bracketed(graph[node.operands[0]].shape),
                         " and ", bracketed(operand.shape)));
    }
  }
  const auto result = scalar::result_dtype(node.op, dtypes);
  if (!result) {
    std::string got;
    for (int i = 0; i < info.arity; ++i) append(got, i > 0 ? ", " : "", scalar::text(dtypes[i]));
    return fail(concat(info.text, ": does not take (", got, "); cast the operands"));
  }
  return Type{*result, graph[node.operands[0]].shape};
}

Result<Type> infer_reduce(const Graph& graph, const Node& node) {
  const Node& operand = graph[node.operands[0]];
  const std::string what = concat("reduce ", scalar::info(node.op).text);
  const DType dtypes[] = {operand.dtype, operand.dtype, operand.dtype};
  if (!scalar::info(node.op).folds) return fail(concat(what, ": is not a reduction"));
  const auto result = scalar::result_dtype(node.op, dtypes);
  if (!result) return fail(concat(what, ": does not take ", scalar::text(operand.dtype)));
  Type type{*result, {}};
  size_t next = 0;
  for (size_t axis = 0; axis < operand.shape.size(); ++axis) {
    const bool reduced = next < node.axes.size() && node.axes[next] == static_cast<int>(axis);
    if (reduced) {
      ++next;
    } else {
      type.shape.push_back(operand.shape[axis]);
    }
  }
  if (next != node.axes.size()) {
    return fail(concat(what, ": axes ", bracketed(node.axes), " are not ascending axes of shape ",
                       bracketed(operand.shape)));
  }
  return type;
}

Result<Type> infer_contract(const Graph& graph, const Node& node) {
  const Contraction& contraction = node.contraction;
  const size_t rank = contraction.extents.size();
  const Node &lhs = graph[node.operands[0]], &rhs = graph[node.operands[1]];
  if (lhs.dtype != DType::F32 || rhs.dtype != DType::F32) {
    return fail(concat("contract: operands must be f32, not ", scalar::text(lhs.dtype), " and ",
                       scalar::text(rhs.dtype), "; cast them"));
  }
  TRY(check_shape("contract extents", contraction.extents));
  TRY(check_map("contract out", contraction.out, node.shape.size(), rank));
  TRY(check_map("contract lhs", contraction.lhs, lhs.shape.size(), rank));
  TRY(check_map("contract rhs", contraction.rhs, rhs.shape.size(), rank));
  return Type{DType::F32, node.shape};
}

Result<Type> infer_reshape(const Graph& graph, const Node& node) {
  const Node& operand = graph[node.operands[0]];
  if (element_count(operand.shape) != element_count(node.shape)) {
    return fail(concat("reshape: ", bracketed(operand.shape), " has ", element_count(operand.shape),
                       " elements, ", bracketed(node.shape), " has ", element_count(node.shape)));
  }
  return Type{operand.dtype, node.shape};
}

Result<Type> infer_reindex(const Graph& graph, const Node& node) {
  const Node& operand = graph[node.operands[0]];
  TRY(check_map("reindex", node.map, operand.shape.size(), node.shape.size()));
  return Type{operand.dtype, node.shape};
}

}  // namespace

std::string spell(DType dtype, const Shape& shape) {
  return concat(scalar::text(dtype), bracketed(shape));
}

Result<Type> infer(const Graph& graph, const Node& node) {
  TRY(check_shape(text(node.kind), node.shape));
  switch (node.kind) {
    case Kind::Input:
    case Kind::State:
      if (node.name.empty()) return fail(concat(text(node.kind), ": the name is empty"));
      return Type{node.dtype, node.shape};
    case Kind::Constant:
      return infer_constant(node);
    case Kind::Iota:
      return infer_iota(node);
    case Kind::Map:
      return infer_map(graph, node);
    case Kind::Cast:
      return Type{node.dtype, graph[node.operands[0]].shape};
    case Kind::Reduce:
      return infer_reduce(graph, node);
    case Kind::Contract:
      return infer_contract(graph, node);
    case Kind::Reshape:
      return infer_reshape(graph, node);
    case Kind::Reindex:
      return infer_reindex(graph, node);
  }
  return Type{};
}

}  // namespace lathe::graph
