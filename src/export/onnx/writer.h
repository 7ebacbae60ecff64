// Appends ONNX nodes and infers the types and shapes of their results. Operations on constants that
// only move elements are folded.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/export/onnx/model.h"
#include "lathe/scalar/number.h"

namespace lathe::onnx_export {

// The result of a node, or a constant.
struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  Shape shape = {};

  int rank() const { return static_cast<int>(shape.size()); }
};

using Attributes = std::map<std::string, AttributeValue>;

// Names and constants shared by a graph and the bodies of its loops.
struct Shared {
  std::vector<Constant> constants;
  std::map<std::string, size_t> constant_indices;  // by name
  std::map<std::string, int> numbers;              // counters of names, by stem
  std::set<std::string> reserved_names;            // names visible to users
};

inline bool has(const std::vector<int>& list, int d) {
  return std::ranges::find(list, d) != list.end();
}
std::vector<int> identity_order(int rank);
bool is_identity(std::span<const int> order);
// inverse[order[k]] = k.
std::vector<int> inverse_order(std::span<const int> order);
std::vector<int> concat_lists(std::initializer_list<std::vector<int>> lists);
// As NumPy broadcasts.
Shape common_shape(std::initializer_list<const Shape*> shapes);

class Writer {
 public:
  Writer(Shared& shared, Graph& graph) : shared_(shared), graph_(graph) {}

  std::string fresh(std::string_view stem);
  Tensor node(std::string_view op, std::vector<Tensor> inputs, DType dtype, Shape shape,
              Attributes attributes = {});
  void add(Node node) { graph_.nodes.push_back(std::move(node)); }
  Node& last() { return graph_.nodes.back(); }

  // `weight`: the name of a weight; a number is appended if it is in use.
  Tensor constant(DType dtype, Shape shape, SharedBytes data, const std::string& weight = {});
  Tensor integers(const std::vector<int64_t>& values);  // i64, one axis
  Tensor number(const scalar::Number& value);           // no axes
  Tensor full(const scalar::Number& value, Shape shape);
  // Null if it is no constant.
  const Constant* find_constant(const Tensor& x) const;

  // Axis k of the result is axis order[k] of x.
  Tensor transpose(const Tensor& x, const std::vector<int>& order);
  Tensor reshape(const Tensor& x, Shape shape);
  Tensor expand(const Tensor& x, const Shape& shape);
  Tensor cast(const Tensor& x, DType dtype);
  // Indices starts, starts + steps, … of each axis, `shape` many.
  Tensor slice(const Tensor& x, const std::vector<int64_t>& starts,
               const std::vector<int64_t>& steps, const Shape& shape);
  Tensor pad(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
             const scalar::Number& value);
  // Gather: x with the axis replaced by the axes of `indices`.
  Tensor gather(const Tensor& x, const Tensor& indices, int axis);
  Tensor concatenate(const std::vector<Tensor>& parts, int axis);
  // An elementwise node on operands that broadcast.
  Tensor map(std::string_view op, std::initializer_list<Tensor> operands, DType dtype);
  Tensor map(std::string_view op, std::initializer_list<Tensor> operands) {
    return map(op, operands, operands.begin()->dtype);
  }
  // Removes the axes, which ascend.
  Tensor reduce(std::string_view op, const Tensor& x, const std::vector<int64_t>& axes);
  // 0, 1, … as i64.
  Tensor range(int64_t count);

 private:
  Shared& shared_;
  Graph& graph_;
  std::map<std::string, Tensor> reshaped_;  // what Reshape nodes of this graph read
};

}  // namespace lathe::onnx_export
