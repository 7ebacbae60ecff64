// The tensor graph: nodes in topological order with static shapes, independent of device and
// target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/shared_bytes.h"
#include "lathe/base/table.h"
#include "lathe/scalar/op.h"

namespace lathe::graph {

using scalar::DType;
using scalar::Op;
using Shape = std::vector<int64_t>;  // row-major; [] is a scalar

int64_t element_count(const Shape& shape);

// The largest coefficient of an index; repetitions have fewer steps.
inline constexpr int64_t kMaxCoefficient = int64_t{1} << 31;

// sum over d of coefficients[d] * i[d], plus offset.
struct Affine {
  std::vector<int64_t> coefficients;
  int64_t offset = 0;

  int64_t at(const std::vector<int64_t>& index) const;
  // The single d with index = i[d] exactly, or -1.
  int single_dimension() const;
  bool operator==(const Affine&) const = default;
};

// One Affine per axis of the tensor that is addressed.
struct AffineMap {
  std::vector<Affine> axes;

  // Axis k is dimension dimensions[k] of a `rank`-dimensional iteration space.
  static AffineMap project(int rank, const std::vector<int>& dimensions);
  bool is_projection() const;  // every axis is a single dimension, none twice
  bool operator==(const AffineMap&) const = default;
};

// Whether map(i) is inside a tensor of this shape for every i in extents (true where there is
// none).
bool always_inside(const AffineMap& map, const std::vector<int64_t>& extents, const Shape& shape);
// i -> outer(inner(i)).
AffineMap compose(const AffineMap& outer, const AffineMap& inner, int rank);

// out = 0; for every i in extents where all three maps are inside their tensors:
//   out[maps[0](i)] += lhs[maps[1](i)] * rhs[maps[2](i)].
// Matrix products, batched products, convolutions of every kind and all their gradients have this
// form; exchanging the roles of the three maps yields the gradient.
// They are computed in one type, which is the result's.
struct Contraction {
  std::vector<int64_t> extents;
  AffineMap out, lhs, rhs;
  bool operator==(const Contraction&) const = default;
};

// Whether tensors of these types may be multiplied: numbers that are computed in one type.
constexpr bool can_multiply(DType x, DType y) {
  return scalar::is_number(x) && scalar::computed(x) == scalar::computed(y);
}

enum class Kind : uint8_t {
#define LATHE_NODE(name_, ...) name_,
#include "lathe/graph/nodes.def"
};

std::string_view text(Kind kind);
std::optional<Kind> kind_of(std::string_view text);

// A Loop's operands and the inputs of its body, in this order: loop-carried values, tensors that
// are sliced along axis 0 (the body sees one slice at each step), and invariants. The outputs of
// the body are the carried values of the next step, then what is stacked along a new axis 0. Its
// results are the last carried values and the stacks. `reverse` begins with the last slice.
//
// With a condition only those steps run for which that input of the body, a bool without axes, is
// true: a carried one ends the loop, a slice chooses single steps, an invariant runs all or none.
// A step that does not run leaves the carried values unchanged and stacks zeros.
struct Repetition {
  int64_t steps = 0;
  int carried = 0, sliced = 0;
  int condition = -1;  // number of the operand, or -1

  bool has_condition() const { return condition >= 0; }
  bool is_carried(size_t operand) const { return std::cmp_less(operand, carried); }
  bool is_sliced(size_t operand) const {
    return !is_carried(operand) && std::cmp_less(operand, carried + sliced);
  }
  bool operator==(const Repetition&) const = default;
};

// Steps of a loop that only its condition ends.
constexpr int64_t kUnboundedSteps = (int64_t{1} << 31) - 1;

struct Graph;

// What a node is part of, for profiling: "backward dense_1", and perhaps which equation,
// "x·kernel"; no name: not recorded. All parts compare equal, since they do not affect semantics.
struct Part {
  std::string name = {};
  std::string equation = {};
  bool operator==(const Part&) const { return true; }
};

struct Value {
  int32_t id = -1;
  bool valid() const { return id >= 0; }
  auto operator<=>(const Value&) const = default;
};

struct Node {
  Kind kind = Kind::Input;
  DType dtype = DType::F32;
  Shape shape = {};
  std::vector<Value> operands = {};

  // Which of these mean something depends on the kind: see nodes.def. The rest stay empty.
  Op op = Op::Add;
  std::vector<int> axes = {};  // ascending
  std::string name = {};
  SharedBytes data = {};  // little-endian elements
  AffineMap map = {};
  std::vector<AffineMap> maps = {};  // one per operand
  Contraction contraction = {};
  bool exclusive = false, reverse = false;
  // Of a Cast and of Map nearest: the rounding is no part of the function. A float16 result may
  // have more bits, and gradients pass straight through, also where the result is an integer.
  bool loose = false;
  Repetition repetition = {};
  std::shared_ptr<const Graph> body = {};  // has no states and is never changed
  int item = 0;
  Part part = {};

  bool operator==(const Node&) const = default;
};

struct Output {
  std::string name;
  Value value;
};

// After a call, the content of `state` is `value`. All updates happen at once, after every read.
struct Update {
  Value state;
  Value value;
};

// One entry point of a module.
struct Graph {
  std::string name;
  Table<Value, Node> nodes;  // operands come before their users
  std::vector<Output> outputs;
  std::vector<Update> updates;

  const Node& operator[](Value value) const { return nodes[value]; }
};

// First content of a state, little-endian; states without one start as zeros.
struct StateContent {
  std::string name;
  SharedBytes data;
};

// The entry points that share one memory: States of the same name are the same buffer.
struct Program {
  std::vector<Graph> entries;
  // Further metadata of the module: members of a JSON object, or nothing.
  std::string notes = {};
};

std::vector<Value> inputs_of(const Graph& graph);  // its Input nodes

// Nodes from `first` on without a part become part of this: a pass calls it for the nodes that
// replace one node.
void join_part(Graph& graph, size_t first, const Part& part);

// The pass on a graph and, before, on its loop bodies.
template <Graph (*run)(Graph)>
Graph with_bodies(Graph graph) {
  for (Node& node : graph.nodes) {
    if (node.body) node.body = std::make_shared<const Graph>(with_bodies<run>(*node.body));
  }
  return run(std::move(graph));
}

bool is_splat(const Node& node);               // a Constant that stores one element
scalar::Number splat_value(const Node& node);  // that element

}  // namespace lathe::graph
