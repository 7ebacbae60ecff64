// Gradients of every node kind against finite differences; composites are tested with ops.
#include "lathe/grad/gradient.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "lathe/graph/evaluate.h"
#include "lathe/ops/control.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::grad {
namespace {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Op;
using graph::Shape;
using graph::Tensor;

Tensor input(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::F32, std::move(shape));
}

using Arguments = std::span<const Tensor>;
using Tensors = std::vector<Tensor>;

Tensors product(Builder& b, Arguments args) { return {tanh(b.matmul(args[0], args[1]) * 0.5f)}; }
Tensors square(Builder&, Arguments args) { return {args[0] * args[0]}; }

// A different branch in the first step than in the following ones.
Tensors step_of_while(Builder& b, Arguments args) {
  const Tensor is_first = args[0] == b.full({}, scalar::Number::of(0));
  const Tensors next = ops::cond(is_first, {{args[1], args[2]}}, product, square);
  return {args[0] + 1.0f, next[0] + args[1]};
}

template <int kTimes, int kMaxTimes>
Tensor looped(Builder& b) {
  const Tensor x = input(b, "x", {2, 3}), w = input(b, "w", {3, 3});
  const Tensor zero = b.full({}, scalar::Number::of(0));
  const auto goes_on = [](Builder& inner, Arguments args) -> Tensors {
    return {args[0] < inner.full({}, scalar::Number::of(kTimes))};
  };
  return ops::while_loop(goes_on, step_of_while, {{zero, x}}, {{w}}, kMaxTimes)[1];
}

struct Case {
  const char* name;
  Tensor (*build)(Builder&);
};

Affine affine(std::vector<int64_t> coefficients, int64_t offset) {
  return {std::move(coefficients), offset};
}

// [n,h,c] by [k,c,f] with this stride, dilation and padding.
Tensor convolution(Builder& b, int64_t stride, int64_t dilation, int64_t padding, int64_t out) {
  const Tensor x = input(b, "x", {2, 6, 2}), w = b.state("w", DType::F32, {3, 2, 3});
  Contraction c;
  c.extents = {2, out, 3, 3, 2};  // n o f k c
  c.out = AffineMap::project(5, {0, 1, 2});
  c.lhs = AffineMap::project(5, {0, 1, 4});
  c.lhs.axes[1] = affine({0, stride, 0, dilation, 0}, -padding);
  c.rhs = AffineMap::project(5, {3, 4, 2});
  return b.contract(x, w, c, {2, out, 3});
}

// Reads the slice by a weight, too, and a carried value twice.
ops::ScanResult recurrent_step(const ops::ScanStep& step) {
  Builder& b = step.builder;
  const Tensor h = step.carried[0], c = step.carried[1], x = step.slices[0];
  const Tensor u = step.invariants[0];
  const Tensor z = b.matmul(h, u) * 0.25f + b.matmul(x, u, false, true) * 0.125f;
  const Tensor gate = sigmoid(z + step.invariants[1]);
  const Tensor next = gate * c + (1.0f - gate) * tanh(x * 0.5f);
  return {{tanh(next), next}, {h * next}};
}

// The same over the slices of a slice.
ops::ScanResult recurrent_loop(const ops::ScanStep& step) {
  const auto steps = step.slices[0].shape()[0];
  const auto inner =
      ops::scan(step.builder, {steps}, step.carried, step.slices, step.invariants, recurrent_step);
  return {inner.carried, {sum(inner.stacked[0], {0}) * 0.5f}};
}

constexpr Case kCases[] = {
    {"broadcast of both operands",
     [](Builder& b) {
       return input(b, "x", {2, 1, 3}) * input(b, "y", {4, 1});
     }},
    {"broadcast of a scalar", [](Builder& b) { return input(b, "x", {}) * input(b, "y", {3}); }},
    {"one value used twice",
     [](Builder& b) {
       const Tensor x = input(b, "x", {3});
       return x * x + x;
     }},
    {"chain of maps",
     [](Builder& b) {
       return tanh(exp(input(b, "x", {2, 3}) * 0.5f) - 1.0f) / 3.0f;
     }},
    {"select",
     [](Builder& b) {
       const Tensor x = input(b, "x", {6}), y = input(b, "y", {6});
       return select(x < y + 0.01f, x * 2.0f, y * y);
     }},
    {"sum",
     [](Builder& b) {
       return sum(input(b, "x", {2, 3, 4}), {0, 2});
     }},
    {"sum with keepdims",
     [](Builder& b) {
       return sum(input(b, "x", {2, 3}), {1}, true);
     }},
    {"mean",
     [](Builder& b) {
       return mean(input(b, "x", {2, 3}), {-1});
     }},
    {"max",
     [](Builder& b) {
       return max(input(b, "x", {4, 5}), {1});
     }},
    {"min",
     [](Builder& b) {
       return b.reduce(Op::Min, input(b, "x", {4, 5}), {0});
     }},
    {"product",
     [](Builder& b) {
       return b.reduce(Op::Mul, input(b, "x", {2, 3}), {1});
     }},
    {"product over two axes, not the last",
     [](Builder& b) {
       return b.reduce(Op::Mul, input(b, "x", {2, 2, 3, 2}), {0, 2});
     }},
    {"scan of products",
     [](Builder& b) {
       return b.scan(Op::Mul, input(b, "x", {2, 4, 2}), 1);
     }},
    {"gradient of a scan of products",
     [](Builder& b) {
       const Tensor x = input(b, "x", {3, 2});
       const Tensor wrt[] = {x};
       return gradients(b, sum(b.scan(Op::Mul, x, 0, true, true) * x, {0, 1}), wrt)[0];
     }},
    {"reshape",
     [](Builder& b) {
       return tanh(b.reshape(input(b, "x", {2, 3}), {3, 2}));
     }},
    {"permute",
     [](Builder& b) {
       return b.permute(input(b, "x", {2, 3, 4}), {2, 0, 1});
     }},
    {"broadcast_to",
     [](Builder& b) {
       return b.broadcast_to(input(b, "x", {3, 1}), {2, 3, 4});
     }},
    {"pad",
     [](Builder& b) {
       const Tensor x = input(b, "x", {2, 3});
       return b.reindex(x, {{affine({1, 0}, -1), affine({0, 1}, -2)}}, {4, 6});
     }},
    {"slice with a step",
     [](Builder& b) { return b.reindex(input(b, "x", {7}), {{affine({2}, 1)}}, {3}); }},
    {"flip", [](Builder& b) { return b.reindex(input(b, "x", {5}), {{affine({-1}, 4)}}, {5}); }},
    {"diagonal",
     [](Builder& b) {
       return b.reindex(input(b, "x", {3, 3}), {{affine({1}, 0), affine({1}, 0)}}, {3});
     }},
    {"prefix of an axis",
     [](Builder& b) {
       return b.reindex(input(b, "x", {5}), {{affine({0, 1}, 0)}}, {2, 3});
     }},
    {"windows",
     [](Builder& b) {
       return b.reindex(input(b, "x", {6}), {{affine({1, 1}, 0)}}, {4, 3});
     }},
    {"matmul",
     [](Builder& b) {
       return b.matmul(input(b, "x", {3, 4}), input(b, "y", {4, 2}));
     }},
    {"matmul of transposes",
     [](Builder& b) {
       return b.matmul(input(b, "x", {4, 3}), input(b, "y", {2, 4}), true, true);
     }},
    {"matmul of batches",
     [](Builder& b) {
       return b.matmul(input(b, "x", {2, 3, 4}), input(b, "y", {2, 4, 2}));
     }},
    {"matmul of a broadcast batch",
     [](Builder& b) {
       return b.matmul(input(b, "x", {2, 3, 4}), input(b, "y", {4, 2}));
     }},
    {"matmul with itself",
     [](Builder& b) {
       const Tensor x = input(b, "x", {3, 3});
       return b.matmul(x, x);
     }},
    {"convolution", [](Builder& b) { return convolution(b, 1, 1, 0, 4); }},
    {"padded convolution", [](Builder& b) { return convolution(b, 1, 1, 1, 6); }},
    {"strided convolution", [](Builder& b) { return convolution(b, 2, 1, 1, 3); }},
    {"dilated convolution", [](Builder& b) { return convolution(b, 1, 2, 2, 6); }},
    {"loop",
     [](Builder& b) {
       const Tensor initial[] = {input(b, "h", {2, 3}), input(b, "c", {2, 3})};
       const Tensor xs[] = {input(b, "x", {4, 2, 3})};
       const Tensor invariants[] = {input(b, "u", {3, 3}), input(b, "b", {3})};
       const auto result = ops::scan(b, {4, true}, initial, xs, invariants, recurrent_step);
       return sum(result.stacked[0], {0}) * result.carried[0] + result.carried[1];
     }},
    {"loop of which only the stack is used",
     [](Builder& b) {
       const Tensor initial[] = {input(b, "h", {2, 3}), input(b, "c", {2, 3})};
       const Tensor xs[] = {input(b, "x", {3, 2, 3})};
       const Tensor invariants[] = {input(b, "u", {3, 3}), input(b, "b", {3})};
       return ops::scan(b, {3}, initial, xs, invariants, recurrent_step).stacked[0];
     }},
    {"loop in a loop",
     [](Builder& b) {
       const Tensor initial[] = {input(b, "h", {2, 3}), input(b, "c", {2, 3})};
       const Tensor xs[] = {input(b, "x", {2, 4, 2, 3})};
       const Tensor invariants[] = {input(b, "u", {3, 3}), input(b, "b", {3})};
       const auto result = ops::scan(b, {2}, initial, xs, invariants, recurrent_loop);
       return sum(result.stacked[0], {0}) * result.carried[0] + result.carried[1];
     }},
    {"three loops",
     [](Builder& b) {
       const Tensor initial[] = {input(b, "h", {2, 3}), input(b, "c", {2, 3})};
       const Tensor xs[] = {input(b, "x", {2, 2, 3, 2, 3})};
       const Tensor invariants[] = {input(b, "u", {3, 3}), input(b, "b", {3})};
       const auto result = ops::scan(
           b, {2}, initial, xs, invariants, [](const ops::ScanStep& each) -> ops::ScanResult {
             const auto inner = ops::scan(each.builder, {2, true}, each.carried, each.slices,
                                          each.invariants, recurrent_loop);
             return {inner.carried, {sum(inner.stacked[0], {0})}};
           });
       return sum(result.stacked[0], {0}) * result.carried[0] + result.carried[1];
     }},
    {"first branch",
     [](Builder& b) {
       const Tensor x = input(b, "x", {2, 3}), w = input(b, "w", {3, 3});
       const Tensor least = -sum(absolute(x), {0, 1});
       return ops::cond(least < b.scalar(0), {{x, w}}, product, square)[0];
     }},
    {"second branch",
     [](Builder& b) {
       const Tensor x = input(b, "x", {2, 3}), w = input(b, "w", {3, 3});
       const Tensor least = -sum(absolute(x), {0, 1});
       return ops::cond(least > b.scalar(0), {{x, w}}, product, square)[0];
     }},
    {"while", looped<2, 4>},
    {"while that its bound ends", looped<3, 2>},
    {"while that never begins", looped<0, 3>},
    {"transposed convolution",
     [](Builder& b) {
       Contraction c{{3, 3}, {}, AffineMap::project(2, {0}), AffineMap::project(2, {1})};
       c.out.axes = {affine({2, 1}, -1)};
       return b.contract(input(b, "x", {3}), input(b, "w", {3}), c, {6});
     }},
};

TEST(Gradient, OfEveryNodeKindAgreesWithFiniteDifferences) {
  for (const Case& test : kCases) check_gradients(test.name, test.build);
}

// Of a step that runs and one that does not.
TEST(Gradient, OfGradientsOfLoopsThatDataEnds) {
  check_gradients("gradient of while", [](Builder& b) {
    const Tensor result = looped<2, 3>(b);
    const Tensor wrt[] = {Tensor{&b, inputs_of(b.graph())[0]}};
    return gradients(b, sum(result * result, {0, 1}), wrt)[0];
  });
}

TEST(Gradient, NeedsABoundOfLoopsThatDataEnds) {
  Builder b("test");
  const Tensor x = input(b, "x", {});
  const auto goes_on = [](Builder& inner, Arguments args) -> Tensors {
    return {args[0] < inner.scalar(9)};
  };
  const auto step = [](Builder&, Arguments args) -> Tensors { return {args[0] * 2.0f}; };
  const Tensor wrt[] = {x};
  gradients(b, ops::while_loop(goes_on, step, {{x}}, {})[0], wrt);
  EXPECT_FALSE(b.ok());
  EXPECT_NE(b.message().find("maxIterations"), std::string::npos) << b.message();
}

// The gradient of the sum of result * weights by x.
std::vector<float> gradient_at(const graph::Array& x, Tensor (*build)(Tensor),
                               const std::vector<float>& weights) {
  Builder b("test");
  const Tensor in = input(b, "x", x.shape), out = build(in);
  const Tensor factors = input(b, "w", out.shape());
  std::vector<int> axes;
  for (int axis = 0; axis < out.rank(); ++axis) axes.push_back(axis);
  const Tensor wrt[] = {in};
  b.output("g", gradients(b, sum(out * factors, axes), wrt)[0]);
  const graph::Array w = graph::Array::of(out.shape(), weights);
  const auto graph = std::move(b).finish();
  EXPECT_TRUE(graph) << graph.error().message;
  std::map<std::string, graph::Array> states;
  const auto outputs = graph::evaluate(*graph, {{"x", x}, {"w", w}}, states);
  EXPECT_TRUE(outputs) << outputs.error().message;
  std::vector<float> result;
  for (int64_t i = 0; i < graph::element_count(x.shape); ++i) {
    result.push_back(outputs->at("g")[i].f);
  }
  return result;
}

using Floats = std::vector<float>;

TEST(Gradient, OfProductsDividesNothingByZeros) {
  const auto x = graph::Array::of({4, 3}, Floats{2, 0, 3, 0, 5, 0, 2, -3, 4, 0, 0, 0});
  EXPECT_EQ(gradient_at(x, [](Tensor t) { return t.builder->reduce(Op::Mul, t, {1}); },
                        {1, 10, 100, 1000}),
            (Floats{0, 6, 0, 0, 0, 0, -1200, 800, -600, 0, 0, 0}));
  EXPECT_EQ(gradient_at(graph::Array::of({2, 2, 2}, Floats{2, 1, 0, 2, 3, 1, 4, 5}),
                        [](Tensor t) {
                          return t.builder->reduce(Op::Mul, t, {0, 2});
                        },
                        {1, 1}),
            (Floats{3, 6, 40, 0, 2, 6, 0, 0}));
}

template <bool kExclusive, bool kReverse>
void check_gradient_of_scan() {
  const Floats x = {2, 0, 3, -1, 0, 5}, w = {1, 2, 4, 8, 16, 32};
  const int size = static_cast<int>(x.size());
  const auto contains = [](int result, int each) {
    return (kReverse ? each > result : each < result) || (!kExclusive && each == result);
  };
  Floats expected;
  for (int i = 0; i < size; ++i) {
    float sum = 0;
    for (int k = 0; k < size; ++k) {
      float product = contains(k, i) ? w[static_cast<size_t>(k)] : 0;
      for (int j = 0; j < size; ++j) {
        if (j != i && contains(k, j)) product *= x[static_cast<size_t>(j)];
      }
      sum += product;
    }
    expected.push_back(sum);
  }
  const auto scan = [](Tensor t) { return t.builder->scan(Op::Mul, t, 0, kExclusive, kReverse); };
  EXPECT_EQ(gradient_at(graph::Array::of({size}, x), scan, w), expected);
}

TEST(Gradient, OfScannedProductsDividesNothingByZeros) {
  check_gradient_of_scan<false, false>();
  check_gradient_of_scan<false, true>();
  check_gradient_of_scan<true, false>();
  check_gradient_of_scan<true, true>();
}

TEST(Gradient, StopsAtDetachCastAndComparison) {
  Builder b("test");
  const Tensor x = input(b, "x", {});
  const Tensor truncated = b.cast(b.cast(x, DType::I32), DType::F32);
  const Tensor step = b.cast(x > zero(x), DType::F32);
  const Tensor wrt[] = {x};
  const Tensor gradient = gradients(b, detach(x) + truncated + step + floor(x), wrt)[0];
  EXPECT_TRUE(is_splat(b.graph()[gradient.value]));
  EXPECT_EQ(splat_value(b.graph()[gradient.value]).f, 0);
}

TEST(GradientErrors, NameTheCause) {
  const auto message_of = [](Tensor (*loss)(Builder&), Tensor (*by)(Builder&)) {
    Builder b("test");
    const Tensor wrt[] = {by(b)};
    gradients(b, loss(b), wrt);
    return b.message();
  };
  EXPECT_EQ(message_of([](Builder& b) { return b.full({3}, scalar::Number::of(1.0f)); },
                       [](Builder& b) { return input(b, "x", {3}); }),
            "gradients: the loss must be one float, not f32[3]");
  EXPECT_EQ(message_of([](Builder& b) { return b.scalar(1); },
                       [](Builder& b) { return b.input("x", DType::I32, {3}); }),
            "gradients: expected floats to differentiate by, not i32[3]");
}

}  // namespace
}  // namespace lathe::grad
