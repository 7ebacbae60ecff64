// Builds a graph node by node and checks shapes and dtypes at each call. The first error is stored
// as a message that names the operation and the shapes; later calls then return invalid tensors,
// and finish() reports it.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

class Builder;

// A handle on a graph value. Cheap to copy; the builder must outlive it.
struct Tensor {
  Builder* builder = nullptr;
  Value value;

  const Shape& shape() const;
  DType dtype() const;
  int rank() const { return static_cast<int>(shape().size()); }
  bool valid() const { return value.valid(); }
};

class Builder {
 public:
  explicit Builder(std::string name);
  // Goes on with a graph that exists (for grad and passes).
  explicit Builder(Graph graph);

  Tensor input(std::string_view name, DType dtype, Shape shape);
  // The state of this name; repeated calls with the same shape and dtype return the same tensor.
  Tensor state(std::string_view name, DType dtype, Shape shape);
  Tensor constant(DType dtype, Shape shape, SharedBytes data);
  Tensor full(Shape shape, scalar::Number value);
  Tensor scalar(float value);
  Tensor iota(Shape shape, int axis);  // I32

  // Applies op to every element; operands broadcast to a common shape as in NumPy. `what` names the
  // operation in errors.
  Tensor map(Op op, std::span<const Tensor> operands, std::string_view what = {});
  Tensor cast(Tensor x, DType dtype);
  // As `cast`, but a float16 result may have more bits than its type (Node::loose).
  Tensor convert(Tensor x, DType dtype);
  // Marks the Cast or Nearest that computes x as Node::loose; returns x.
  Tensor loose(Tensor x);
  // Marks the Max or Min that computes x: the first of equal elements has the entire gradient.
  // Returns x.
  Tensor exclusive(Tensor x);
  // Negative axes count from the end; keepdims retains them with size 1.
  Tensor reduce(Op op, Tensor x, std::vector<int> axes, bool keepdims = false);
  Tensor contract(Tensor lhs, Tensor rhs, Contraction contraction, Shape out_shape);
  Tensor reshape(Tensor x, Shape shape);  // one dimension may be -1
  Tensor reindex(Tensor x, AffineMap map, Shape shape);
  // The k-th tensor is stored at the indices maps[k] of the result, which is zero elsewhere.
  Tensor join(std::span<const Tensor> tensors, std::vector<AffineMap> maps, Shape shape);
  // x and the I32 index have one shape but along the axis; so has the result, which has that of the
  // index.
  Tensor gather(Tensor x, Tensor index, int axis);
  // x and the I32 index have one shape; that of the result differs along the axis only.
  Tensor scatter(Tensor x, Tensor index, int axis, Shape shape, Op op = Op::Add);
  Tensor scan(Op op, Tensor x, int axis, bool exclusive = false, bool reverse = false);
  // The I32 indices along the axis that sort it (a stable argsort), the first `count` (-1: all).
  Tensor sort(Tensor x, int axis, bool descending = false, int64_t count = -1);
  // The results of a loop (Repetition in graph.h). Initial loop-carried values, tensors to slice
  // and invariants are the operands.
  std::vector<Tensor> loop(std::span<const Tensor> operands, Repetition repetition, bool reverse,
                           Graph body);
  // The nodes of a body as part of this graph, with these tensors, of the right types, as its
  // inputs; its outputs.
  std::vector<Tensor> inlined(const Graph& body, std::span<const Tensor> arguments);
  // Replaces the loop's body by one with more nodes at the end and also stacks these
  // values of the body; returns the stacks.
  std::vector<Tensor> add_loop_stacks(Value loop, Graph body, std::span<const Value> values);
  // The shape is copied, as everywhere here: that of a tensor moves while its graph grows.
  Tensor broadcast_to(Tensor x, Shape shape, std::string_view what = {});
  Tensor permute(Tensor x, const std::vector<int>& order);  // out axis k is x's axis order[k]
  // x [..., m, k] · y [..., k, n] -> [..., m, n]; transpose_* exchange the last two axes first.
  Tensor matmul(Tensor x, Tensor y, bool transpose_x = false, bool transpose_y = false);

  // From now on nodes record their profiling part, and with `equations` their equation; before,
  // begin_part does nothing.
  void record_parts(bool equations = false) {
    records_parts_ = true;
    records_equations_ = equations;
  }
  // What is added next is the `phase` ("forward", "backward", "update") of this layer.
  void begin_part(std::string_view phase, std::string_view layer);
  // What is added next, up to the next part, is of the equation of this name; products have
  // equations named after their operands.
  void begin_equation(std::string_view name);
  // What is added next is the gradient of this node.
  void begin_gradient_of(Value value);

  void output(std::string_view name, Tensor value);
  void update(Tensor state, Tensor value);

  // Records the first error; returns an invalid tensor.
  Tensor error(std::string message);
  bool ok() const { return message_.empty(); }
  const std::string& message() const { return message_; }
  // Clears and returns the error, so that building can continue without the failed operation.
  std::string pop_error() { return std::exchange(message_, {}); }
  const Graph& graph() const { return graph_; }
  Result<Graph> finish() &&;

 private:
  // Whether it is a tensor of this graph, which has no error. Otherwise records the error.
  bool accepts(const Tensor& tensor);
  bool accepts_all(std::span<const Tensor> tensors);
  Tensor add(Node node);
  Tensor add_along(Node node, int axis, int rank);
  Tensor item(Value loop, int number);
  void name_equation(Node& node) const;

  Graph graph_;
  std::set<std::string, std::less<>> input_names_, output_names_;
  std::string message_;
  bool records_parts_ = false, records_equations_ = false;
  Part part_;
};

// Free functions and operators, used by the VJP column of scalar/ops.def and by composites.
Tensor operator+(Tensor x, Tensor y);
Tensor operator-(Tensor x, Tensor y);
Tensor operator*(Tensor x, Tensor y);
Tensor operator/(Tensor x, Tensor y);
Tensor operator-(Tensor x);
Tensor operator+(float x, Tensor y);
Tensor operator-(float x, Tensor y);
Tensor operator*(float x, Tensor y);
Tensor operator/(float x, Tensor y);
Tensor operator+(Tensor x, float y);
Tensor operator-(Tensor x, float y);
Tensor operator*(Tensor x, float y);
Tensor operator/(Tensor x, float y);
Tensor operator==(Tensor x, Tensor y);
Tensor operator<(Tensor x, Tensor y);
Tensor operator<=(Tensor x, Tensor y);
Tensor operator>(Tensor x, Tensor y);
Tensor operator>=(Tensor x, Tensor y);
// The gradient of equal operands: half to each, all to the first where one is a constant.
Tensor maximum(Tensor x, Tensor y);
Tensor minimum(Tensor x, Tensor y);
Tensor absolute(Tensor x);
Tensor sqrt(Tensor x);
Tensor exp(Tensor x);
Tensor expm1(Tensor x);
Tensor log(Tensor x);
Tensor log1p(Tensor x);
Tensor tanh(Tensor x);
Tensor sigmoid(Tensor x);
Tensor sin(Tensor x);
Tensor cos(Tensor x);
Tensor sinh(Tensor x);
Tensor cosh(Tensor x);
Tensor erf(Tensor x);
Tensor pow(Tensor x, Tensor y);
Tensor floor(Tensor x);
Tensor detach(Tensor x);
Tensor select(Tensor condition, Tensor x, Tensor y);
Tensor zero(Tensor like);  // zeros of the same shape and dtype
Tensor sum(Tensor x, std::vector<int> axes, bool keepdims = false);
Tensor max(Tensor x, std::vector<int> axes, bool keepdims = false);
Tensor mean(Tensor x, std::vector<int> axes, bool keepdims = false);

}  // namespace lathe::graph
