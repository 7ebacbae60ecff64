// The typing rules: one function per node kind.
#include "lathe/graph/infer.h"

#include <algorithm>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"

namespace lathe::graph {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;
constexpr size_t kMaxAxes = 32;  // as in NumPy; each is a loop in the next
// How far one dimension of an index leads: sums over all axes have no overflow.
constexpr int64_t kMaxReach = int64_t{1} << 56;

Status check_shape(std::string_view what, const Shape& shape) {
  if (shape.size() > kMaxAxes) {
    return fail(
        concat(what, ": no more than ", kMaxAxes, " axes are supported, got ", shape.size()));
  }
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0) return fail(concat(what, ": shape ", bracketed(shape), " has a negative size"));
    if (size > 0 && count > kMaxElements / size) {
      return fail(concat(what, ": shape ", bracketed(shape), " has too many elements"));
    }
    count *= std::max<int64_t>(size, 1);
  }
  return {};
}

// `index`: sizes of the iteration space of the map.
Status check_map(std::string_view what, const AffineMap& map, size_t axes, const Shape& index) {
  if (map.axes.size() != axes) {
    return fail(concat(what, ": the map has ", map.axes.size(), " axes, the tensor ", axes));
  }
  for (const Affine& axis : map.axes) {
    if (axis.coefficients.size() != index.size()) {
      return fail(concat(what, ": a map axis has ", axis.coefficients.size(),
                         " coefficients, the index ", index.size()));
    }
    const auto too_large = [](int64_t x, int64_t size) {
      const int64_t limit = std::min(kMaxCoefficient, kMaxReach / std::max<int64_t>(size, 1));
      return x > limit || x < -limit;
    };
    bool is_sound = !too_large(axis.offset, 1);
    for (size_t d = 0; d < index.size(); ++d) {
      is_sound = is_sound && !too_large(axis.coefficients[d], index[d]);
    }
    if (!is_sound) return fail(concat(what, ": a map coefficient is too large"));
  }
  return {};
}

Result<Type> infer_constant(const Node& node) {
  const uint64_t size = scalar::size_of(node.dtype);
  const uint64_t all = size * static_cast<uint64_t>(element_count(node.shape));
  if (node.data.size() != size && node.data.size() != all) {
    return fail(concat("constant: ", node.data.size(), " bytes do not fill ",
                       type_string(node.dtype, node.shape)));
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
    return fail(
        concat(info.text, ": expects ", info.arity, " operands, not ", node.operands.size()));
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
    return fail(concat(info.text, ": does not support (", got, "); cast the operands"));
  }
  return Type{*result, graph[node.operands[0]].shape};
}

Result<Type> infer_reduce(const Graph& graph, const Node& node) {
  const Node& operand = graph[node.operands[0]];
  const std::string what = concat("reduce ", scalar::info(node.op).text);
  const DType dtypes[] = {operand.dtype, operand.dtype, operand.dtype};
  if (scalar::info(node.op).fold == scalar::Fold::None)
    return fail(concat(what, ": is not a reduction"));
  const auto result = scalar::result_dtype(node.op, dtypes);
  if (!result) return fail(concat(what, ": does not support ", scalar::text(operand.dtype)));
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
  const Node &lhs = graph[node.operands[0]], &rhs = graph[node.operands[1]];
  if (!can_multiply(lhs.dtype, rhs.dtype)) {
    return fail(concat("contract: operands must be numbers computed in one type, not ",
                       scalar::text(lhs.dtype), " and ", scalar::text(rhs.dtype), "; cast them"));
  }
  LATHE_TRY(check_shape("contract extents", contraction.extents));
  LATHE_TRY(check_map("contract out", contraction.out, node.shape.size(), contraction.extents));
  LATHE_TRY(check_map("contract lhs", contraction.lhs, lhs.shape.size(), contraction.extents));
  LATHE_TRY(check_map("contract rhs", contraction.rhs, rhs.shape.size(), contraction.extents));
  return Type{scalar::computed(lhs.dtype), node.shape};
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
  LATHE_TRY(check_map("reindex", node.map, operand.shape.size(), node.shape));
  return Type{operand.dtype, node.shape};
}

// Indices of one axis that the map covers for a piece: low, low + step, …, high.
struct IndexRange {
  int64_t low, high, step;
};

// Each dimension moves one axis and each axis is moved by up to one dimension, so that no two
// elements of a piece have the same index.
Result<std::vector<IndexRange>> index_ranges(const AffineMap& map, const Shape& piece) {
  std::vector<IndexRange> result;
  std::vector<bool> used(piece.size());
  for (const Affine& axis : map.axes) {
    IndexRange& range = result.emplace_back(axis.offset, axis.offset, int64_t{0});
    for (size_t d = 0; d < piece.size(); ++d) {
      const int64_t step = axis.coefficients[d];
      if (step == 0 || piece[d] <= 1) continue;
      if (step < 0 || used[d] || range.step != 0)
        return fail("join: a map is not one step an axis");
      used[d] = true;
      range.step = step;
      range.high += step * (piece[d] - 1);
    }
  }
  for (size_t d = 0; d < piece.size(); ++d) {
    if (piece[d] > 1 && !used[d]) return fail("join: a map writes several elements to one index");
  }
  return result;
}

bool are_disjoint(const std::vector<IndexRange>& a, const std::vector<IndexRange>& b) {
  for (size_t axis = 0; axis < a.size(); ++axis) {
    const IndexRange &x = a[axis], &y = b[axis];
    if (x.high < y.low || y.high < x.low) return true;
    if (x.step == y.step && x.step > 0 && (x.low - y.low) % x.step != 0) return true;
  }
  return false;
}

// Whether each piece begins after the one before along one of the axes, as concatenated ones do:
// then no two of them need be compared.
bool ascend_along_one(const std::vector<std::vector<IndexRange>>& pieces) {
  for (size_t axis = 0; !pieces.empty() && axis < pieces[0].size(); ++axis) {
    size_t k = 1;
    while (k < pieces.size() && pieces[k - 1][axis].high < pieces[k][axis].low) ++k;
    if (k >= pieces.size()) return true;
  }
  return false;
}

Result<Type> infer_join(const Graph& graph, const Node& node) {
  if (node.operands.empty() || node.maps.size() != node.operands.size()) {
    return fail(
        concat("join: has ", node.operands.size(), " operands and ", node.maps.size(), " maps"));
  }
  const DType dtype = graph[node.operands[0]].dtype;
  std::vector<std::vector<IndexRange>> pieces;
  for (size_t k = 0; k < node.operands.size(); ++k) {
    const Node& piece = graph[node.operands[k]];
    if (piece.dtype != dtype) {
      return fail(concat("join: operands are ", scalar::text(dtype), " and ",
                         scalar::text(piece.dtype), "; cast them"));
    }
    LATHE_TRY(check_map("join", node.maps[k], node.shape.size(), piece.shape));
    if (element_count(piece.shape) == 0) continue;
    if (!always_inside(node.maps[k], piece.shape, node.shape)) {
      return fail(concat("join: operand ", bracketed(piece.shape), " is not inside ",
                         bracketed(node.shape)));
    }
    LATHE_ASSIGN_OR_RETURN(auto ranges, index_ranges(node.maps[k], piece.shape));
    pieces.push_back(std::move(ranges));
  }
  const size_t compared = ascend_along_one(pieces) ? 0 : pieces.size();
  for (size_t k = 1; k < compared; ++k) {
    for (size_t other = 0; other < k; ++other) {
      if (!are_disjoint(pieces[k], pieces[other])) return fail("join: two operands overlap");
    }
  }
  return Type{dtype, node.shape};
}

// Whether the shapes are equal but along the axis, which both have.
bool equal_but(const Shape& a, const Shape& b, const std::vector<int>& axes) {
  if (axes.size() != 1 || axes[0] < 0 || axes[0] >= static_cast<int>(a.size())) return false;
  Shape like = a;
  if (b.size() == a.size()) like[axes[0]] = b[axes[0]];
  return like == b;
}

Result<Type> infer_indexed(const Graph& graph, const Node& node) {
  const Node &x = graph[node.operands[0]], &index = graph[node.operands[1]];
  const std::string_view what = text(node.kind);
  if (!scalar::is_integer(index.dtype)) {
    return fail(concat(what, ": the index must be an integer, not ", scalar::text(index.dtype)));
  }
  const bool gathers = node.kind == Kind::Gather;
  const Shape& shape = gathers ? index.shape : node.shape;
  const bool fits = equal_but(x.shape, shape, node.axes) && (gathers || index.shape == x.shape);
  const Shape& indexed = gathers ? x.shape : node.shape;
  if (!fits || (indexed[node.axes[0]] == 0 && element_count(index.shape) > 0)) {
    return fail(concat(what, ": ", bracketed(x.shape), " by index ", bracketed(index.shape),
                       " along axis ", bracketed(node.axes), " does not yield ", bracketed(shape)));
  }
  if (!gathers && x.dtype == DType::Bool) return fail("scatter: does not add bool; cast it");
#ifndef __wasm__
  if (node.op != Op::Add && (node.op != Op::Max || !scalar::is_integer(x.dtype))) {
    return fail("scatter: supports sums, and the maximum of integers");
  }
#endif
  return Type{x.dtype, shape};
}

Result<Type> infer_scan(const Graph& graph, const Node& node) {
  const Node& x = graph[node.operands[0]];
  const std::string what = concat("scan ", scalar::info(node.op).text);
  const DType dtypes[] = {x.dtype, x.dtype, x.dtype};
  if (scalar::info(node.op).fold == scalar::Fold::None)
    return fail(concat(what, ": is not a reduction"));
  if (scalar::result_dtype(node.op, dtypes) != x.dtype) {
    return fail(concat(what, ": does not support ", scalar::text(x.dtype)));
  }
  if (node.axes.size() != 1 || node.axes[0] < 0 ||
      node.axes[0] >= static_cast<int>(x.shape.size())) {
    return fail(
        concat(what, ": axis ", bracketed(node.axes), " is not in shape ", bracketed(x.shape)));
  }
  return Type{x.dtype, x.shape};
}

Result<Type> infer_sort(const Graph& graph, const Node& node) {
  const Node& x = graph[node.operands[0]];
  if (node.dtype != DType::I32) return fail("sort: the dtype must be i32");
  if (x.dtype == DType::Bool) return fail("sort: does not support bool; cast it");
  if (!equal_but(node.shape, x.shape, node.axes) ||
      node.shape[node.axes[0]] > x.shape[node.axes[0]]) {
    return fail(concat("sort: ", bracketed(x.shape), " along axis ", bracketed(node.axes),
                       " does not yield ", bracketed(node.shape)));
  }
  return Type{node.dtype, node.shape};
}

Type type_of(const Node& node) { return {node.dtype, node.shape}; }

Status check_loop_input(const Node& loop, size_t k, const Node& operand, const Node& input) {
  Type type = type_of(operand);
  if (loop.repetition.is_sliced(k)) {
    if (type.shape.empty() || type.shape[0] != loop.repetition.steps) {
      return fail(concat("loop: operand ", k, " is ", type_string(type), "; to be sliced in ",
                         loop.repetition.steps, " steps its first axis must have that size"));
    }
    type.shape.erase(type.shape.begin());
  }
  if (type == type_of(input)) return {};
  return fail(concat("loop: operand ", k, " passes the body ", type_string(type),
                     ", which expects ", type_string(type_of(input))));
}

Result<Type> infer_loop(const Graph& graph, const Node& node) {
  const Repetition& repetition = node.repetition;
  if (!node.body) return fail("loop: has no body");
  const Graph& body = *node.body;
  const std::vector<Value> inputs = inputs_of(body);
  if (repetition.steps < 0 || repetition.steps >= kMaxCoefficient || repetition.carried < 0 ||
      repetition.sliced < 0) {
    return fail("loop: a count is negative or too large");
  }
  if (node.operands.size() != inputs.size() ||
      inputs.size() < static_cast<size_t>(repetition.carried + repetition.sliced) ||
      body.outputs.size() < static_cast<size_t>(repetition.carried)) {
    return fail(concat("loop: ", node.operands.size(), " operands, of which ", repetition.carried,
                       " carried and ", repetition.sliced, " sliced, do not fit a body of ",
                       inputs.size(), " inputs and ", body.outputs.size(), " outputs"));
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    LATHE_TRY(check_loop_input(node, k, graph[node.operands[k]], body[inputs[k]]));
  }
  if (repetition.condition < -1 || repetition.condition >= static_cast<int>(inputs.size())) {
    return fail(concat("loop: there is no operand ", repetition.condition, " to be its condition"));
  }
  if (repetition.has_condition()) {
    const Type type = type_of(body[inputs[repetition.condition]]);
    if (type != Type{DType::Bool, {}}) {
      return fail(concat("loop: the condition must be bool[], not ", type_string(type)));
    }
  }
  for (size_t k = 0; k < static_cast<size_t>(repetition.carried); ++k) {
    const Type before = type_of(body[inputs[k]]), after = type_of(body[body.outputs[k].value]);
    if (before == after) continue;
    return fail(concat("loop: carried value ", k, " is ", type_string(before), ", after a step ",
                       type_string(after)));
  }
  return Type{DType::I32, {}};
}

Result<Type> infer_item(const Graph& graph, const Node& node) {
  const Node& loop = graph[node.operands[0]];
  if (loop.kind != Kind::Loop) return fail(concat("item: of ", text(loop.kind), ", not of a loop"));
  if (node.item < 0 || static_cast<size_t>(node.item) >= loop.body->outputs.size()) {
    return fail(concat("item: there is no ", node.item, " among the ", loop.body->outputs.size(),
                       " results of the loop"));
  }
  Type type = type_of((*loop.body)[loop.body->outputs[node.item].value]);
  if (node.item >= loop.repetition.carried) {
    insert_at(type.shape, 0, loop.repetition.steps);
    LATHE_TRY(check_shape("item", type.shape));
  }
  return type;
}

}  // namespace

std::string type_string(const Type& type) { return type_string(type.dtype, type.shape); }

std::string type_string(DType dtype, const Shape& shape) {
  return concat(scalar::text(dtype), bracketed(shape));
}

Result<Type> infer(const Graph& graph, const Node& node) {
  LATHE_TRY(check_shape(text(node.kind), node.shape));
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
    case Kind::Join:
      return infer_join(graph, node);
    case Kind::Gather:
    case Kind::Scatter:
      return infer_indexed(graph, node);
    case Kind::Scan:
      return infer_scan(graph, node);
    case Kind::Sort:
      return infer_sort(graph, node);
    case Kind::Loop:
      return infer_loop(graph, node);
    case Kind::Item:
      return infer_item(graph, node);
  }
  return Type{};
}

}  // namespace lathe::graph
