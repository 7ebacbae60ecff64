// Builder calls that only move elements (reshape, broadcast, permute), and matmul.
#include <algorithm>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"

namespace lathe::graph {

Tensor Builder::reshape(Tensor x, Shape shape) {
  if (!ok() || !x.valid()) return {this, {}};
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    int64_t rest = 1;
    for (int64_t size : shape) rest *= size == -1 ? 1 : size;
    const int64_t count = element_count(x.shape());
    if (rest <= 0 || count % rest != 0) {
      return error(concat("reshape: ", bracketed(x.shape()), " with ", count,
                          " elements does not fit ", bracketed(shape)));
    }
    *open = count / rest;
  }
  if (shape == x.shape()) return x;
  Node node{.kind = Kind::Reshape, .operands = {x.value}};
  node.shape = std::move(shape);
  return add(std::move(node));
}

Tensor Builder::broadcast_to(Tensor x, Shape shape, std::string_view what) {
  if (!ok() || !x.valid()) return {this, {}};
  const Shape& from = x.shape();
  if (from == shape) return x;
  const int rank = static_cast<int>(shape.size()), lead = rank - x.rank();
  bool fits = lead >= 0;
  AffineMap map;
  for (int k = 0; fits && k < x.rank(); ++k) {
    fits = from[k] == 1 || from[k] == shape[lead + k];
    Affine axis{std::vector<int64_t>(rank, 0), 0};
    if (from[k] != 1) axis.coefficients[lead + k] = 1;
    map.axes.push_back(std::move(axis));
  }
  if (!fits) {
    return error(concat(what.empty() ? "broadcast_to" : what, ": shape ", bracketed(from),
                        " does not broadcast to ", bracketed(shape)));
  }
  const Node& node = graph_[x.value];
  if (is_splat(node)) return full(std::move(shape), splat_value(node));
  return reindex(x, std::move(map), std::move(shape));
}

Tensor Builder::permute(Tensor x, const std::vector<int>& order) {
  if (!ok() || !x.valid()) return {this, {}};
  std::vector<int> identity(x.rank()), inverse(x.rank(), -1);
  std::iota(identity.begin(), identity.end(), 0);
  if (!std::is_permutation(order.begin(), order.end(), identity.begin(), identity.end())) {
    return error(concat("permute: ", bracketed(order), " is not an order of the axes of ",
                        bracketed(x.shape())));
  }
  if (order == identity) return x;
  Shape shape;
  for (size_t k = 0; k < order.size(); ++k) {
    shape.push_back(x.shape()[order[k]]);
    inverse[order[k]] = static_cast<int>(k);
  }
  return reindex(x, AffineMap::project(x.rank(), inverse), std::move(shape));
}

namespace {

// One axis of a matmul operand: dimension d of the iteration space, or always 0 where it
// broadcasts.
Affine axis_of(int rank, int d, bool broadcast) {
  Affine axis{std::vector<int64_t>(rank, 0), 0};
  if (!broadcast) axis.coefficients[d] = 1;
  return axis;
}

// Map of an operand with `batch` leading axes, aligned to the last of `out_batch`, then two more.
AffineMap operand_map(const Shape& shape, const Shape& out_batch, int first, int second) {
  const int rank = static_cast<int>(out_batch.size()) + 3;
  const int batch = static_cast<int>(shape.size()) - 2;
  const int lead = static_cast<int>(out_batch.size()) - batch;
  AffineMap map;
  for (int k = 0; k < batch; ++k) {
    map.axes.push_back(axis_of(rank, lead + k, shape[k] != out_batch[lead + k]));
  }
  map.axes.push_back(axis_of(rank, first, false));
  map.axes.push_back(axis_of(rank, second, false));
  return map;
}

std::optional<Shape> common_batch(const Shape& x, const Shape& y) {
  const size_t rank = std::max(x.size(), y.size()) - 2;
  Shape batch(rank, 1);
  for (const Shape* shape : {&x, &y}) {
    for (size_t k = 0; k + 2 < shape->size(); ++k) {
      int64_t& size = batch[rank - (shape->size() - 2) + k];
      if (size != 1 && (*shape)[k] != 1 && size != (*shape)[k]) return std::nullopt;
      if (size == 1) size = (*shape)[k];
    }
  }
  return batch;
}

}  // namespace

Tensor Builder::matmul(Tensor x, Tensor y, bool transpose_x, bool transpose_y) {
  if (!ok() || !x.valid() || !y.valid()) return {this, {}};
  const Shape &a = x.shape(), &b = y.shape();
  const std::string shapes =
      concat(bracketed(a), transpose_x ? "^T" : "", " x ", bracketed(b), transpose_y ? "^T" : "");
  if (a.size() < 2 || b.size() < 2) {
    return error(concat("matmul: operands must have at least 2 axes: ", shapes));
  }
  if (!can_multiply(x.dtype(), y.dtype())) {
    return error(concat("matmul: operands must be numbers computed in one type, not ",
                        scalar::text(x.dtype()), " and ", scalar::text(y.dtype()), "; cast them"));
  }
  const int64_t m = a[a.size() - (transpose_x ? 1 : 2)], k = a[a.size() - (transpose_x ? 2 : 1)];
  const int64_t n = b[b.size() - (transpose_y ? 2 : 1)], l = b[b.size() - (transpose_y ? 1 : 2)];
  if (k != l) {
    return error(concat("matmul: inner dimensions differ: ", shapes, " (", k, " is not ", l, ")"));
  }
  const auto batch = common_batch(a, b);
  if (!batch) return error(concat("matmul: batch dimensions do not broadcast: ", shapes));
  const int dm = static_cast<int>(batch->size()), dn = dm + 1, dk = dm + 2;
  Shape shape = *batch;
  shape.push_back(m);
  shape.push_back(n);
  Contraction contraction;
  contraction.extents = shape;
  contraction.extents.push_back(k);
  contraction.out = operand_map(shape, *batch, dm, dn);
  contraction.lhs = operand_map(a, *batch, transpose_x ? dk : dm, transpose_x ? dm : dk);
  contraction.rhs = operand_map(b, *batch, transpose_y ? dn : dk, transpose_y ? dk : dn);
  return contract(x, y, std::move(contraction), std::move(shape));
}

}  // namespace lathe::graph
