// Emits one graph, or the body of one loop, as ONNX nodes; maps each value to a tensor. Layouts are
// lazy: a result stays in the axis order of its operator until a consumer requires another.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lathe/export/onnx/writer.h"
#include "lathe/graph/graph.h"

namespace lathe::onnx_export {

using graph::Value;

// A value whose axis k is axis order[k] of the stored tensor. Stored axes of one element broadcast,
// and fewer stored axes are the last ones of the value, in its order.
struct PermutedTensor {
  Tensor stored;
  std::vector<int> order;

  static PermutedTensor plain(Tensor stored) {
    std::vector<int> order = identity_order(stored.rank());
    return {std::move(stored), std::move(order)};
  }
  // Axis j of the stored tensor is axis axes[j] of the value.
  static PermutedTensor of(Tensor stored, const std::vector<int>& axes) {
    return {std::move(stored), inverse_order(axes)};
  }
};

class Emitter {
 public:
  Emitter(Shared& names, const graph::Graph& from, Graph& out)
      : writer(names, out), source(from), shared(names), values_(from.nodes.size()) {}

  const graph::Node& operator[](Value value) const { return source[value]; }
  const PermutedTensor& tensor_of(Value value) const { return values_[value.id]; }
  void set(Value value, PermutedTensor tensor) { values_[value.id] = std::move(tensor); }

  // The value with all its axes, in order.
  Tensor plain(Value value) { return ordered(value, identity_order(rank_of(value))); }
  // Axis j of the result is axis axes[j] of the value.
  Tensor ordered(Value value, const std::vector<int>& axes);
  // The same; broadcast axes may have one element, or be absent if the order is plain.
  Tensor broadcastable(Value value, const std::vector<int>& axes);
  // The value of all elements, if it is a constant with equal ones.
  std::optional<scalar::Number> splat(Value value) const;
  int rank_of(Value value) const { return static_cast<int>(source[value].shape.size()); }

  Writer writer;
  const graph::Graph& source;
  Shared& shared;
  std::map<int32_t, std::vector<Tensor>> loops;  // their results
  struct Mean {
    Tensor mean;
    double count;
  };
  std::map<std::string, Mean> means;  // by the name of the sum over `count` terms

 private:
  std::vector<PermutedTensor> values_;
  std::map<std::pair<std::string, std::vector<int>>, Tensor> reordered_;
  std::map<std::pair<std::string, Shape>, Tensor> expanded_;
};

// Emit the nodes of each kind. Errors: operations without an operator in ONNX.
Status emit_nodes(Emitter& emitter);
Result<PermutedTensor> emit_map(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_cast(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_reshape(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_reindex(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_join(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_reduce(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_gather(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_scatter(Emitter& emitter, const graph::Node& node);
Result<PermutedTensor> emit_scan(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_sort(Emitter& emitter, const graph::Node& node);
PermutedTensor emit_contract(Emitter& emitter, const graph::Node& node);
Status emit_loop(Emitter& emitter, Value loop);

// x[map(i)] for every i of the shape, zero outside x: stored in any order of axes.
PermutedTensor reindexed(Emitter& emitter, Value x, const graph::AffineMap& map,
                         const Shape& shape);
// x as a value of this shape, where axis j of x is dimension labels[j] of it, or none (-1, one
// element); the other dimensions are broadcast.
PermutedTensor labeled(Writer& writer, const Tensor& x, const std::vector<int>& labels,
                       const Shape& shape);
// The linear index of map(i) in a tensor of this shape, for every i in extents, as broadcastable
// i64; the element count where map(i) is outside.
struct LinearIndices {
  Tensor flat;
  std::optional<Tensor> inside = {};  // if some are outside
};
LinearIndices linear_indices(Writer& writer, const graph::AffineMap& map, const Shape& extents,
                             const Shape& shape);
// Operators for windows and padding; nothing if the node does not match.
// x padded with a constant.
struct Padded {
  Value x;
  std::vector<int64_t> before, after;
  scalar::Number number;
};
std::optional<Padded> padded_of(const Emitter& emitter, const graph::Node& node);
std::optional<PermutedTensor> emit_padded(Emitter& emitter, const graph::Node& node);
std::optional<PermutedTensor> emit_pool(Emitter& emitter, const graph::Node& node);
std::optional<PermutedTensor> emit_convolution(Emitter& emitter, const graph::Node& node);

}  // namespace lathe::onnx_export
