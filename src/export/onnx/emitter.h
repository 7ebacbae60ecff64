// One graph, or the body of one loop, on its way into ONNX: what stands for each value. Layouts are
// lazy: what an operator gives in its own order of axes stays so until somebody wants another.
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

// A value whose axis k is axis order[k] of what is stored. Axes that have one element there repeat
// it, and fewer axes are its last ones; then the order is that of the value.
struct Held {
  Tensor stored;
  std::vector<int> order;

  static Held plain(Tensor stored) {
    std::vector<int> order = identity_order(stored.rank());
    return {std::move(stored), std::move(order)};
  }
  // Axis j of what is stored is axis axes[j] of the value.
  static Held of(Tensor stored, const std::vector<int>& axes) {
    return {std::move(stored), inverse_order(axes)};
  }
};

class Emitter {
 public:
  Emitter(Shared& names, const graph::Graph& from, Graph& out)
      : writer(names, out), source(from), shared(names), held_(from.nodes.size()) {}

  const graph::Node& operator[](Value value) const { return source[value]; }
  const Held& held(Value value) const { return held_[value.id]; }
  void hold(Value value, Held held) { held_[value.id] = std::move(held); }

  // The value with all its axes in order.
  Tensor plain(Value value) { return ordered(value, identity_order(rank_of(value))); }
  // Axis j of the result is axis axes[j] of the value.
  Tensor ordered(Value value, const std::vector<int>& axes);
  // The same; what repeats may have one element there, or no axis at all where the order is plain.
  Tensor broadcastable(Value value, const std::vector<int>& axes);
  // The number that the value is everywhere, if it is a constant.
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
  std::map<std::string, Mean> means;  // by the name of a sum of as many numbers

 private:
  std::vector<Held> held_;
  std::map<std::pair<std::string, std::vector<int>>, Tensor> reordered_;
  std::map<std::pair<std::string, Shape>, Tensor> expanded_;
};

// What the nodes of each kind become. Errors: what ONNX cannot say.
Status emit_nodes(Emitter& emitter);
Result<Held> emit_map(Emitter& emitter, const graph::Node& node);
Held emit_cast(Emitter& emitter, const graph::Node& node);
Held emit_reshape(Emitter& emitter, const graph::Node& node);
Held emit_reindex(Emitter& emitter, const graph::Node& node);
Held emit_join(Emitter& emitter, const graph::Node& node);
Held emit_reduce(Emitter& emitter, const graph::Node& node);
Held emit_gather(Emitter& emitter, const graph::Node& node);
Held emit_scatter(Emitter& emitter, const graph::Node& node);
Result<Held> emit_scan(Emitter& emitter, const graph::Node& node);
Held emit_sort(Emitter& emitter, const graph::Node& node);
Held emit_contract(Emitter& emitter, const graph::Node& node);
Status emit_loop(Emitter& emitter, Value loop);

// x[map(i)] for every i of the shape, zero outside x: stored in any order of axes.
Held reindexed(Emitter& emitter, Value x, const graph::AffineMap& map, const Shape& shape);
// What is stored where axis j is dimension labels[j] of a result of this shape, or none (-1, one
// element); the other dimensions repeat it.
Held labelled(Writer& writer, const Tensor& x, const std::vector<int>& labels, const Shape& shape);
// Where map(i) lies among all elements of a tensor of this shape, for every i in extents, as i64
// that broadcasts: behind its end where it is outside.
struct Places {
  Tensor flat;
  std::optional<Tensor> inside = {};  // where some are outside
};
Places places_inside(Writer& writer, const graph::AffineMap& map, const Shape& extents,
                     const Shape& shape);
// As operators with windows, or nothing.
// A copy of x with the same number around it, however it is written down; as Pad, or nothing.
struct Padded {
  Value x;
  std::vector<int64_t> before, after;
  scalar::Number number;
};
std::optional<Padded> padded_of(const Emitter& emitter, const graph::Node& node);
std::optional<Held> emit_padded(Emitter& emitter, const graph::Node& node);
std::optional<Held> emit_pool(Emitter& emitter, const graph::Node& node);
std::optional<Held> emit_convolution(Emitter& emitter, const graph::Node& node);

}  // namespace lathe::onnx_export
