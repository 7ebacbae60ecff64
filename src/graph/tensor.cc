// The operators and functions on Tensor: each is one builder call.
#include "lathe/graph/builder.h"

namespace lathe::graph {

namespace {

Builder* builder_of(Tensor x, Tensor y) { return x.builder != nullptr ? x.builder : y.builder; }

Tensor unary(Op op, Tensor x) { return x.builder == nullptr ? x : x.builder->map(op, {{x}}); }

Tensor binary(Op op, Tensor x, Tensor y) {
  Builder* builder = builder_of(x, y);
  return builder == nullptr ? x : builder->map(op, {{x, y}});
}

bool is_constant(Tensor x) {
  return x.valid() && x.builder->graph()[x.value].kind == Kind::Constant;
}

// Bounds have no gradient.
Tensor extreme(Op op, Tensor x, Tensor y) {
  const Tensor result = binary(op, x, y);
  const bool is_bounded = result.valid() && (is_constant(x) || is_constant(y));
  return is_bounded ? result.builder->exclusive(result) : result;
}

// The number as a tensor of the other operand's shape and dtype.
Tensor like(Tensor x, float value) {
  if (!x.valid()) return x;
  return x.builder->full(x.shape(), scalar::Number::from(x.dtype(), value));
}

}  // namespace

Tensor operator+(Tensor x, Tensor y) { return binary(Op::Add, x, y); }
Tensor operator-(Tensor x, Tensor y) { return binary(Op::Sub, x, y); }
Tensor operator*(Tensor x, Tensor y) { return binary(Op::Mul, x, y); }
Tensor operator/(Tensor x, Tensor y) { return binary(Op::Div, x, y); }
Tensor operator-(Tensor x) { return unary(Op::Neg, x); }
Tensor operator+(float x, Tensor y) { return like(y, x) + y; }
Tensor operator-(float x, Tensor y) { return like(y, x) - y; }
Tensor operator*(float x, Tensor y) { return like(y, x) * y; }
Tensor operator/(float x, Tensor y) { return like(y, x) / y; }
Tensor operator+(Tensor x, float y) { return x + like(x, y); }
Tensor operator-(Tensor x, float y) { return x - like(x, y); }
Tensor operator*(Tensor x, float y) { return x * like(x, y); }
Tensor operator/(Tensor x, float y) { return x / like(x, y); }
Tensor operator==(Tensor x, Tensor y) { return binary(Op::Eq, x, y); }
Tensor operator<(Tensor x, Tensor y) { return binary(Op::Lt, x, y); }
Tensor operator<=(Tensor x, Tensor y) { return binary(Op::Le, x, y); }
Tensor operator>(Tensor x, Tensor y) { return binary(Op::Gt, x, y); }
Tensor operator>=(Tensor x, Tensor y) { return binary(Op::Ge, x, y); }
Tensor maximum(Tensor x, Tensor y) { return extreme(Op::Max, x, y); }
Tensor minimum(Tensor x, Tensor y) { return extreme(Op::Min, x, y); }
Tensor absolute(Tensor x) { return unary(Op::Abs, x); }
Tensor sqrt(Tensor x) { return unary(Op::Sqrt, x); }
Tensor exp(Tensor x) { return unary(Op::Exp, x); }
Tensor expm1(Tensor x) { return unary(Op::Expm1, x); }
Tensor log(Tensor x) { return unary(Op::Log, x); }
Tensor log1p(Tensor x) { return unary(Op::Log1p, x); }
Tensor tanh(Tensor x) { return unary(Op::Tanh, x); }
Tensor sigmoid(Tensor x) { return unary(Op::Sigmoid, x); }
Tensor sin(Tensor x) { return unary(Op::Sin, x); }
Tensor cos(Tensor x) { return unary(Op::Cos, x); }
Tensor sinh(Tensor x) { return unary(Op::Sinh, x); }
Tensor cosh(Tensor x) { return unary(Op::Cosh, x); }
Tensor erf(Tensor x) { return unary(Op::Erf, x); }
Tensor pow(Tensor x, Tensor y) { return binary(Op::Pow, x, y); }
Tensor floor(Tensor x) { return unary(Op::Floor, x); }
Tensor detach(Tensor x) { return unary(Op::Detach, x); }

Tensor select(Tensor condition, Tensor x, Tensor y) {
  Builder* builder = builder_of(condition, x);
  return builder == nullptr ? x : builder->map(Op::Select, {{condition, x, y}});
}

Tensor zero(Tensor like_x) { return like(like_x, 0); }

Tensor sum(Tensor x, std::vector<int> axes, bool keepdims) {
  return x.builder == nullptr ? x : x.builder->reduce(Op::Add, x, std::move(axes), keepdims);
}

Tensor max(Tensor x, std::vector<int> axes, bool keepdims) {
  return x.builder == nullptr ? x : x.builder->reduce(Op::Max, x, std::move(axes), keepdims);
}

// float16 is averaged in f32: its sums overflow early.
Tensor mean(Tensor x, std::vector<int> axes, bool keepdims) {
  if (x.valid() && scalar::is_half(x.dtype())) {
    const Tensor wide = mean(x.builder->cast(x, DType::F32), std::move(axes), keepdims);
    return x.builder->convert(wide, x.dtype());
  }
  const Tensor total = sum(x, std::move(axes), keepdims);
  if (!total.valid() || element_count(total.shape()) == 0) return total;
  const int64_t count = element_count(x.shape()) / element_count(total.shape());
  const auto share = scalar::Number::from(total.dtype(), 1.0 / static_cast<double>(count));
  return total * total.builder->full(total.shape(), share);
}

}  // namespace lathe::graph
