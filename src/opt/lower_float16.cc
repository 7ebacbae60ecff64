#include "lathe/opt/lower_float16.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lathe/graph/rewriter.h"
#include "lathe/scalar/expand_float16.h"

namespace lathe::opt {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;
using scalar::DType;
using scalar::Number;
using scalar::Op;
using scalar::expand::bhalf_of_f32;
using scalar::expand::f32_of_bhalf;
using scalar::expand::f32_of_half;
using scalar::expand::half_of_f32;
using scalar::expand::odd_f32;
using scalar::expand::odd_f32_of_integer;

namespace {

class Lowering final : public graph::Rewriter {
 public:
  explicit Lowering(bool keeps_f16) : keeps_f16_(keeps_f16) {}

  DType dtype_of(Value value) const { return (*this)[value].dtype; }
  Value like(Value value, const Number& number) { return splat(number, (*this)[value].shape); }

  Value apply(Op op, std::vector<Value> operands) {
    DType dtypes[scalar::kMaxArity];
    for (size_t i = 0; i < operands.size(); ++i) dtypes[i] = dtype_of(operands[i]);
    const Value value = map(op, std::move(operands));
    graph_.nodes[value].dtype = *scalar::result_dtype(op, dtypes);
    return value;
  }

  Value cast(Value x, DType dtype) {
    const Node& from = (*this)[x];
    if (from.dtype == dtype) return x;
    return add({.kind = Kind::Cast, .dtype = dtype, .shape = from.shape, .operands = {x}});
  }

 private:
  Value replace(Node node) override;
  Value expand_cast(Value value, DType to);
  bool is_lowered(DType dtype) const {
    return scalar::is_half(dtype) && !(keeps_f16_ && dtype == DType::F16);
  }

  bool keeps_f16_;
  std::map<Value, DType> types_;  // the original types of values that are bits now
};

// A node as the value type of scalar expansions.
struct Handle {
  Lowering* speller;
  Value value;

  DType dtype() const { return speller->dtype_of(value); }
  Handle like(const Number& number) const { return {speller, speller->like(value, number)}; }
  Handle like(float number) const { return like(Number::of(number)); }
  Handle like_i32(int32_t number) const { return like(Number::of(number)); }
};

template <class... Rest>
Handle apply(Op op, const Handle& first, const Rest&... rest) {
  return {first.speller, first.speller->apply(op, {first.value, rest.value...})};
}
Handle cast(const Handle& x, DType dtype) { return {x.speller, x.speller->cast(x.value, dtype)}; }

// As f32 that rounds to `half` as x does. Integers below 2^24 are exact, greater ones are infinite
// as float16.
Handle odd(const Handle& x, DType half) {
  const DType dtype = x.dtype();
  if (scalar::size_of(dtype) == 8) return odd_f32(cast(x, DType::F64));
  const bool is_long = scalar::is_integer(dtype) && scalar::size_of(dtype) == 4;
  if (is_long && half == DType::BF16) return odd_f32_of_integer(x);
  return cast(x, DType::F32);
}

Value Lowering::replace(Node node) {
  const DType dtype = node.dtype;
  if (is_lowered(dtype)) node.dtype = DType::U16;
  const Value value =
      node.kind == Kind::Cast ? expand_cast(node.operands[0], dtype) : add(std::move(node));
  if (is_lowered(dtype)) types_[value] = dtype;
  return value;
}

Value Lowering::expand_cast(Value value, DType to) {
  Handle x{this, value};
  const auto half = types_.find(value);
  if (half != types_.end()) {
    const Handle bits = lathe::opt::cast(x, DType::I32);
    x = half->second == DType::F16 ? f32_of_half(bits) : f32_of_bhalf(bits);
  }
  if (!is_lowered(to)) return cast(x.value, to);
  x = odd(x, to);
  const Handle bits = to == DType::F16 ? half_of_f32(x) : bhalf_of_f32(x);
  return cast(bits.value, DType::U16);
}

}  // namespace

Graph lower_float16(Graph graph) {
  const bool has_float16 = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return scalar::is_half(node.dtype); });
  return has_float16 ? Lowering(false).run(std::move(graph)) : graph;
}

Graph lower_bfloat16(Graph graph) {
  const bool has_bfloat16 =
      std::ranges::any_of(graph.nodes, [](const Node& node) { return node.dtype == DType::BF16; });
  return has_bfloat16 ? Lowering(true).run(std::move(graph)) : graph;
}

}  // namespace lathe::opt
