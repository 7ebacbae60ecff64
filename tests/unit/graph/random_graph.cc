#include "random_graph.h"

#include <cmath>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"

namespace lathe::graph {

namespace {

// Grows one graph: each step adds an operation over tensors that exist.
class Growth {
 public:
  Growth(RandomGraph& random, Builder& builder) : random_(random), b_(builder) {}

  void start() {
    add(b_.input("x", DType::F32, {2, 3}));
    add(b_.input("y", DType::F32, {3}));
    add(b_.input("z", DType::F32, {3, 4}));
    add(b_.input("n", DType::I32, {2, 3}));
    add(b_.state("s", DType::F32, {2, 3}));
    add(b_.state("t", DType::F32, {4}));
    const float numbers[] = {1, 0.5f, -2, 0, 3, 1};
    const auto bytes = std::as_bytes(std::span(numbers));
    add(b_.constant(DType::F32, {2, 3}, {bytes.begin(), bytes.end()}));
  }

  void step() {
    switch (random_.below(22)) {
      case 0:
      case 1:
      case 2:
        return binary();
      case 3:
      case 4:
        return unary();
      case 5:
        return reduce();
      case 6:
        return add(b_.reshape(floats(), {-1}));
      case 7:
        return permute();
      case 8:
        return slice_or_pad();
      case 9:
        return broadcast();
      case 10:
        return product();
      case 11:
        return choose();
      case 12:
        return casts();
      case 13:
        return with_number();
      case 14:
        return with_number();
      case 15:
        return add(b_.iota({2, 3}, random_.below(2)));
      case 16:
      case 17:
        return rows();
      case 18:
        return join();
      case 19:
        return gather();
      case 20:
        return scatter();
      case 21:
        return scan();
    }
  }

  void finish() {
    int outputs = 0;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (i + 1 == all_.size() || random_.below(6) == 0) b_.output(concat("o", outputs++), all_[i]);
    }
    const Tensor state = b_.state("s", DType::F32, {2, 3});
    for (const Tensor& tensor : all_) {
      if (tensor.dtype() != DType::F32 || tensor.shape() != state.shape()) continue;
      if (random_.below(3) != 0) continue;
      b_.update(state, tensor);
      return;
    }
  }

 private:
  void add(Tensor tensor) {
    if (element_count(tensor.shape()) <= 200) all_.push_back(tensor);
  }
  Tensor any() { return all_[random_.below(static_cast<int>(all_.size()))]; }
  // An f32 tensor with at least one axis.
  Tensor floats() {
    while (true) {
      const Tensor x = any();
      if (x.dtype() == DType::F32 && x.rank() > 0) return x;
    }
  }

  Tensor same_shape(Tensor x) {
    for (int i = 0; i < 20; ++i) {
      const Tensor y = any();
      if (y.dtype() == x.dtype() && y.shape() == x.shape()) return y;
    }
    return x;
  }

  void unary() {
    const Op ops[] = {Op::Neg, Op::Abs, Op::Floor, Op::Tanh, Op::Sigmoid, Op::Detach, Op::Neg};
    const Tensor x = floats();
    add(b_.map(ops[random_.below(7)], {{x}}));
  }

  void binary() {
    const Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::Add, Op::Sub};
    const Tensor x = floats(), y = same_shape(x);
    const Tensor result = b_.map(ops[random_.below(7)], {{x, y}});
    add(tanh(result));
    add(result * 0.25f);
  }

  // Arithmetic with a number that some rule looks for.
  void with_number() {
    const float numbers[] = {0, 1, -1, 2, 0.5f, 3};
    const Op ops[] = {Op::Add, Op::Sub, Op::Mul};
    const Tensor x = floats();
    const Tensor number = b_.full(x.shape(), scalar::Number::of(numbers[random_.below(6)]));
    const bool swap = random_.below(2) == 0;
    const Op op = ops[random_.below(3)];
    const Tensor result = swap ? b_.map(op, {{number, x}}) : b_.map(op, {{x, number}});
    add(random_.below(3) == 0 ? result / 4.0f : result);
  }

  void reduce() {
    const Op op = random_.below(2) == 0 ? Op::Add : Op::Max;
    const Tensor x = floats();
    add(b_.reduce(op, x, {random_.below(x.rank())}));
  }

  // Rows minus or times a reduction over all of them, as in normalization; the
  // reduction is an output, too.
  void rows() {
    const Tensor x = floats();
    const int first = random_.below(x.rank());
    std::vector<int> axes;
    for (int axis = first; axis < x.rank(); ++axis) axes.push_back(axis);
    const Op op = random_.below(2) == 0 ? Op::Add : Op::Max;
    Tensor row = b_.reduce(op, random_.below(2) == 0 ? x : x * x, axes, true);
    if (random_.below(2) == 0) row = tanh(row * 0.5f);
    const Tensor result = random_.below(2) == 0 ? x - row : x * row;
    add(random_.below(2) == 0 ? sigmoid(result) : result * 0.25f);
    if (random_.below(2) == 0) add(row);
  }

  void permute() {
    const Tensor x = floats();
    std::vector<int> order;
    for (int axis = x.rank(); axis-- > 0;) order.push_back(axis);
    add(b_.permute(x, order));
  }

  // Shifts along every axis, so that some elements fall outside, or flips.
  void slice_or_pad() {
    const Tensor x = floats();
    AffineMap map = AffineMap::project(x.rank(), {});
    Shape shape = x.shape();
    for (int axis = 0; axis < x.rank(); ++axis) {
      Affine affine{std::vector<int64_t>(x.rank()), random_.below(3) - 1};
      affine.coefficients[axis] = 1;
      if (random_.below(4) == 0) {
        affine.coefficients[axis] = -1;
        affine.offset = x.shape()[axis] - 1;
      }
      map.axes.push_back(affine);
    }
    if (random_.below(2) == 0 && shape[0] > 1) --shape[0];
    add(b_.reindex(x, map, shape));
  }

  void broadcast() {
    const Tensor x = floats();
    Shape shape = x.shape();
    shape.insert(shape.begin(), 2);
    add(b_.broadcast_to(x, shape));
  }

  void product() {
    const Tensor x = floats();
    const int64_t inner = x.shape().back();
    const Tensor left = b_.reshape(x, {-1, inner});
    const Tensor right = b_.reshape(x, {inner, -1});
    add(tanh(b_.matmul(left, random_.below(2) == 0 ? right : b_.permute(left, {1, 0}))));
  }

  // Up to six small tensors, or two others, one after the other along an axis; one time in four
  // each is one number.
  void join() {
    const Tensor x = floats();
    const int limit = element_count(x.shape()) < 32 ? 5 : 1;
    const int axis = random_.below(x.rank()), count = 2 + random_.below(limit);
    const bool are_numbers = random_.below(4) == 0;
    std::vector<int> all(x.shape().size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Tensor> parts;
    std::vector<AffineMap> maps;
    for (int k = 0; k < count; ++k) {
      const auto number = scalar::Number::of(static_cast<float>(random_.below(3)));
      parts.push_back(are_numbers ? b_.full(x.shape(), number) : same_shape(x));
      maps.push_back(AffineMap::project(x.rank(), all));
      maps.back().axes[axis].offset = k * x.shape()[axis];
    }
    Shape shape = x.shape();
    shape[axis] *= count;
    add(b_.join(parts, maps, shape));
  }

  void gather() {
    const Tensor x = floats();
    const int axis = random_.below(x.rank());
    add(b_.gather(x, b_.cast(x, DType::I32), axis));
  }

  void scatter() {
    const Tensor x = floats();
    const int axis = random_.below(x.rank());
    Shape shape = x.shape();
    shape[axis] = 1 + random_.below(4);
    add(b_.scatter(x, b_.cast(x * 2.0f, DType::I32), axis, shape) * 0.25f);
  }

  void scan() {
    const Op ops[] = {Op::Add, Op::Max, Op::Min};
    const Tensor x = floats();
    add(b_.scan(ops[random_.below(3)], x, random_.below(x.rank()), random_.below(2) == 0,
                random_.below(2) == 0) *
        0.25f);
  }

  void choose() {
    const Tensor x = floats(), y = same_shape(x);
    const Tensor condition = x < y;
    add(select(random_.below(2) == 0 ? condition : b_.map(Op::Not, {{condition}}), x, y));
    add(b_.cast(condition, DType::F32));
  }

  void casts() {
    const Tensor x = any();
    add(b_.cast(b_.cast(x, DType::I32), DType::F32));
  }

  RandomGraph& random_;
  Builder& b_;
  std::vector<Tensor> all_;
};

}  // namespace

Graph RandomGraph::make(int operations) {
  Builder builder("random");
  Growth growth(*this, builder);
  growth.start();
  for (int i = 0; i < operations; ++i) growth.step();
  growth.finish();
  return *std::move(builder).finish();
}

std::map<std::string, Array> RandomGraph::values(const Graph& graph, Kind kind) {
  std::map<std::string, Array> values;
  for (const Node& node : graph.nodes) {
    if (node.kind != kind) continue;
    Array array = Array::zeros(node.dtype, node.shape);
    for (int64_t i = 0; i < element_count(node.shape); ++i) {
      const float value = node.dtype == DType::F32 ? unit() : static_cast<float>(below(9) - 4);
      store(array.data, i, scalar::Number::from(node.dtype, value));
    }
    values[node.name] = std::move(array);
  }
  return values;
}

std::string difference(const std::map<std::string, Array>& x, const std::map<std::string, Array>& y,
                       double tolerance) {
  if (x.size() != y.size()) return "other names";
  for (const auto& [name, left] : x) {
    const auto found = y.find(name);
    if (found == y.end()) return concat(name, " is missing");
    const Array& right = found->second;
    if (left.dtype != right.dtype || left.shape != right.shape) return concat(name, ": other type");
    for (int64_t i = 0; i < element_count(left.shape); ++i) {
      const double a = left[i].as_double(), b = right[i].as_double();
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (std::fabs(a - b) <= tolerance * (1 + std::fabs(a))) continue;
      return concat(name, "[", i, "]: ", a, " and ", b);
    }
  }
  return {};
}

}  // namespace lathe::graph
