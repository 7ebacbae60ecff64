#include "cases.h"

#include <algorithm>
#include <array>

#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/nn/losses.h"
#include "lathe/ops/operations.h"
#include "lathe/ops/random.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::ops_tests {

using graph::AffineMap;
using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;
using graph::Tensor;

namespace {

template <Op kOp>
void unary(Builder& b) {
  const Tensor x = floats(b, "x", {5, 7});
  b.output("y", b.map(kOp, std::array{x}));
}

template <Op kOp>
void positive_unary(Builder& b) {
  const Tensor x = floats(b, "x", {5, 7});
  const Tensor positive = x * x + 0.5f;
  b.output("y", b.map(kOp, std::array{positive}));
}

template <Op kOp>
void bounded_unary(Builder& b) {
  const Tensor bounded = 0.45f * floats(b, "x", {5, 7});
  b.output("y", b.map(kOp, std::array{bounded}));
}

template <Op kOp>
void binary(Builder& b) {
  const Tensor x = floats(b, "x", {5, 7}), y = floats(b, "y", {5, 7});
  b.output("z", b.map(kOp, std::array{x, y}));
}

// A formula of ops/operations.def.
void formula(Builder& b, std::string_view name) {
  constexpr const char* kNames[] = {"x", "y", "z"};
  const ops::Operation& operation =
      *std::ranges::find(ops::operations(), name, &ops::Operation::name);
  std::vector<Tensor> operands;
  for (size_t i = 0; i < operation.parameters.size(); ++i) {
    operands.push_back(floats(b, kNames[i], {5, 7}));
  }
  b.output("out", ops::add_operation(b, operation, operands, {}));
}

template <Op kOp>
void int_binary(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {33}), y = b.input("y", DType::I32, {33});
  b.output("z", b.map(kOp, std::array{x, y}));
}

void acosh(Builder& b) {
  const Tensor x = floats(b, "x", {5, 7});
  b.output("y", b.map(Op::Acosh, std::array{x * x + 1.25f}));
}

void power(Builder& b) {
  const Tensor x = floats(b, "x", {5, 7}), y = floats(b, "y", {5, 7});
  b.output("z", graph::pow(x * x + 0.25f, y));
  b.output("squares", graph::pow(x, b.full(x.shape(), scalar::Number::of(2.0f))));
}

// Of numbers with either sign and of zero.
template <Op kOp>
void int_quotient(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {33}), y = b.input("y", DType::I32, {33});
  b.output("z", b.map(kOp, std::array{5.0f * x - 7.0f, y - 2.0f}));
}

void int_sign(Builder& b) {
  b.output("y", b.map(Op::Sign, std::array{b.input("x", DType::I32, {33}) - 1.0f}));
}

// Of 1, of both infinities and of NaN, from their bits.
void kinds_of_numbers(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {37});
  const auto bits = [&](uint32_t value) {
    return b.full({37}, scalar::Number::of(static_cast<int32_t>(value)));
  };
  const auto is = [&](int32_t value) { return x == b.full({37}, scalar::Number::of(value)); };
  const Tensor infinite = select(is(0), bits(0x7f800000), bits(0xff800000));
  const Tensor others = select(is(1), bits(0x7fc00000), bits(0x3f800000));
  const Tensor chosen =
      select(x < bits(2), select(is(0), infinite, others), select(is(3), infinite, others));
  const Tensor y = b.map(Op::FromBits, std::array{chosen});
  b.output("nan", b.map(Op::IsNan, std::array{y}));
  b.output("finite", b.map(Op::IsFinite, std::array{y}));
  b.output("infinite", b.map(Op::IsInf, std::array{y}));
}

void divide(Builder& b) {
  const Tensor x = floats(b, "x", {37}), y = floats(b, "y", {37});
  b.output("z", x / (y * y + 1.0f));
}

void logic(Builder& b) {
  const Tensor x = b.input("x", DType::Bool, {21}), y = b.input("y", DType::Bool, {21});
  b.output("and", b.map(Op::And, std::array{x, y}));
  b.output("or", b.map(Op::Or, std::array{x, y}));
  b.output("not", b.map(Op::Not, std::array{x}));
}

void choose(Builder& b) {
  const Tensor c = b.input("c", DType::Bool, {3, 9});
  b.output("z", graph::select(c, floats(b, "x", {3, 9}), floats(b, "y", {3, 9})));
}

void casts(Builder& b) {
  const Tensor x = floats(b, "x", {19});
  const Tensor i = b.cast(x * 10.0f, DType::I32);
  const Tensor c = x > b.scalar(0);
  b.output("i", i);
  b.output("f", b.cast(i, DType::F32));
  b.output("c", c);
  b.output("cf", b.cast(c, DType::F32));
  b.output("ci", b.cast(c, DType::I32));
  b.output("ic", b.cast(i, DType::Bool));
}

void broadcast(Builder& b) {
  const Tensor x = floats(b, "x", {4, 1, 6}), y = floats(b, "y", {5, 1}), z = floats(b, "z", {});
  b.output("w", (x + y) * z);
}

template <int kRows, int kInner, int kColumns, bool kTransposeX, bool kTransposeY>
void product(Builder& b) {
  const Tensor x = floats(b, "x", kTransposeX ? Shape{kInner, kRows} : Shape{kRows, kInner});
  const Tensor y = floats(b, "y", kTransposeY ? Shape{kColumns, kInner} : Shape{kInner, kColumns});
  b.output("z", b.matmul(x, y, kTransposeX, kTransposeY));
}

void batched_product(Builder& b) {
  b.output("z", b.matmul(floats(b, "x", {3, 5, 7}), floats(b, "y", {3, 7, 9})));
}

void product_of_broadcast(Builder& b) {
  b.output("z", b.matmul(floats(b, "x", {3, 5, 7}), floats(b, "y", {1, 7, 9})));
}

void dense_layer(Builder& b) {
  const Tensor x = floats(b, "x", {6, 11}), w = floats(b, "w", {11, 13}), c = floats(b, "c", {13});
  b.output("y", graph::sigmoid(b.matmul(x, w) + c));
}

void hidden_values_are_preserved(Builder& b) {
  const Tensor h = b.matmul(floats(b, "x", {6, 11}), floats(b, "w", {11, 13})) + 1.0f;
  const Tensor t = graph::tanh(h);
  b.output("h", h);
  b.output("t", t);
  b.output("sum", graph::sum(t * h, {0, 1}));
}

template <Op kOp, int kAxis>
void fold(Builder& b) {
  b.output("y", b.reduce(kOp, floats(b, "x", {6, 10, 9}), {kAxis}));
}

template <int kCount>
void total(Builder& b) {
  b.output("y", graph::sum(floats(b, "x", {kCount}), {0}));
}

void fold_logic(Builder& b) {
  const Tensor x = b.input("x", DType::Bool, {4, 9});
  b.output("all", b.reduce(Op::And, x, {1}));
  b.output("any", b.reduce(Op::Or, x, {0}));
}

void fold_ints(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {5, 12});
  b.output("most", b.reduce(Op::Max, x, {1}));
  b.output("least", b.reduce(Op::Min, x, {0}));
  b.output("sum", b.reduce(Op::Add, x, {0, 1}));
}

void mean_and_spread(Builder& b) {
  const Tensor x = floats(b, "x", {8, 20});
  const Tensor centered = x - graph::mean(x, {1}, true);
  b.output("y", centered / graph::sqrt(graph::mean(centered * centered, {1}, true) + 0.1f));
}

void softmax(Builder& b) { b.output("y", ops::softmax(floats(b, "x", {5, 10}), -1)); }
void softmax_first_axis(Builder& b) { b.output("y", ops::softmax(floats(b, "x", {6, 8}), 0)); }
void relu(Builder& b) { b.output("y", ops::relu(floats(b, "x", {50}))); }
void leaky_relu(Builder& b) { b.output("y", ops::leaky_relu(floats(b, "x", {50}), 0.3f)); }
void elu(Builder& b) { b.output("y", ops::elu(floats(b, "x", {50}), 1.0f)); }

void softmax_loss(Builder& b) {
  const Tensor labels = ops::softmax(floats(b, "y", {7, 10}), -1);
  b.output("loss", ops::softmax_cross_entropy(floats(b, "x", {7, 10}), labels));
}

void sparse_softmax_loss(Builder& b) {
  const Tensor labels = ops::one_hot(b.input("y", DType::I32, {7}), 10);
  b.output("loss", ops::softmax_cross_entropy(floats(b, "x", {7, 10}), labels));
}

void sigmoid_loss(Builder& b) {
  b.output("loss", ops::sigmoid_cross_entropy(floats(b, "x", {7, 5}), floats(b, "y", {7, 5})));
}

void argmax(Builder& b) { b.output("y", ops::argmax(floats(b, "x", {7, 11}), -1)); }

// The logarithms of negative numbers; one row has none, the first nothing else.
void argmax_among_nans(Builder& b) {
  const Tensor x =
      log(floats(b, "x", {9, 12}) + 0.5f * b.cast(b.iota({9, 12}, 0), DType::F32) - 2.0f);
  b.output("most", ops::argmax(x, -1));
  b.output("least", ops::argmin(x, -1));
  b.output("columns", ops::argmax(x, 0));
  b.output("top", ops::topk_indices(x, 5));
}

void reshape_and_permute(Builder& b) {
  const Tensor x = floats(b, "x", {4, 6, 5});
  b.output("reshaped", b.reshape(x * 2.0f, {8, 15}) + 1.0f);
  b.output("permuted", b.permute(x, {2, 0, 1}));
  b.output("squeezed", b.reshape(b.reshape(x, {4, 1, 30}), {120}));
}

// out[i, j] = x[1 - i + j, 2j - 1], zero outside: flips, slices and pads at once.
void reindex_outside(Builder& b) {
  AffineMap map;
  map.axes = {{{-1, 1}, 1}, {{0, 2}, -1}};
  b.output("y", b.reindex(floats(b, "x", {5, 6}), map, {4, 5}));
}

void reindex_of_map(Builder& b) {
  AffineMap map;
  map.axes = {{{1}, -2}};
  b.output("y", b.reindex(graph::exp(floats(b, "x", {9})), map, {13}));
}

void iota_and_constant(Builder& b) {
  std::vector<std::byte> data(12 * sizeof(float));
  for (int i = 0; i < 12; ++i) {
    const float value = 0.25f * static_cast<float>(i);
    std::copy_n(reinterpret_cast<const std::byte*>(&value), sizeof value,
                data.begin() + static_cast<std::ptrdiff_t>(i * sizeof value));
  }
  const Tensor table = b.constant(DType::F32, {3, 4}, std::move(data));
  b.output("y", table * floats(b, "x", {3, 4}) + b.cast(b.iota({3, 4}, 1), DType::F32));
  b.output("iota", b.iota({2, 9}, 0));
}

void leaves_as_outputs(Builder& b) {
  b.output("same", floats(b, "x", {3, 3}));
  b.output("seven", b.full({5}, scalar::Number::of(7.0f)));
}

void states_swap(Builder& b) {
  const Tensor p = b.state("p", DType::F32, {10}), q = b.state("q", DType::F32, {10});
  b.update(p, q);
  b.update(q, p + floats(b, "x", {10}));
  b.output("p", p);
}

// The step reads the weights transposed after they could have been overwritten.
void weights_step(Builder& b) {
  const Tensor w = b.state("w", DType::F32, {8, 9}), v = b.state("v", DType::F32, {8, 9});
  const Tensor x = floats(b, "x", {6, 8}), g = floats(b, "g", {6, 9});
  const Tensor speed = 0.9f * v + b.matmul(x, g, true, false);
  b.update(v, speed);
  b.update(w, w - 0.1f * (0.9f * speed + v));
  b.output("back", b.matmul(g, w, false, true));
}

void wide_row(Builder& b) {
  b.output("y", b.matmul(floats(b, "x", {1, 40}), floats(b, "w", {40, 70})));
}

void random_numbers(Builder& b) {
  const Tensor seed = b.input("seed", DType::I32, {2});
  b.output("uniform", ops::random_uniform(seed, {5, 7}, -1, 2));
  b.output("normal", ops::random_normal(seed, {37}, 1, 2));
  b.output("truncated", ops::truncated_normal(seed, {4, 3}, 0, 1));
}

const Case kCases[] = {
    {"add", binary<Op::Add>},
    {"sub", binary<Op::Sub>},
    {"mul", binary<Op::Mul>},
    {"div", divide},
    {"max", binary<Op::Max>},
    {"min", binary<Op::Min>},
    {"neg", unary<Op::Neg>},
    {"abs", unary<Op::Abs>},
    {"sqrt", positive_unary<Op::Sqrt>},
    {"floor", unary<Op::Floor>, false},
    {"ceil", unary<Op::Ceil>, false},
    {"trunc", unary<Op::Trunc>, false},
    {"nearest", unary<Op::Nearest>, false},
    {"sign", unary<Op::Sign>, false},
    {"exp", unary<Op::Exp>},
    {"expm1", unary<Op::Expm1>},
    {"log", positive_unary<Op::Log>},
    {"log1p", positive_unary<Op::Log1p>},
    {"sin", unary<Op::Sin>},
    {"cos", unary<Op::Cos>},
    {"tan", bounded_unary<Op::Tan>},
    {"asin", bounded_unary<Op::Asin>},
    {"acos", bounded_unary<Op::Acos>},
    {"atan", unary<Op::Atan>},
    {"atan2", binary<Op::Atan2>},
#define FORMULA(text_, ...) {text_, [](Builder& b) { formula(b, text_); }},
#include "lathe/ops/operations.def"
    {"sinh", unary<Op::Sinh>},
    {"cosh", unary<Op::Cosh>},
    {"tanh", unary<Op::Tanh>},
    {"asinh", unary<Op::Asinh>},
    {"acosh", acosh},
    {"atanh", bounded_unary<Op::Atanh>},
    {"sigmoid", unary<Op::Sigmoid>},
    {"erf", unary<Op::Erf>},
    {"pow", power},
    {"mod", binary<Op::Mod>},
    {"floor_div", binary<Op::FloorDiv>, false},
    {"kinds_of_numbers", kinds_of_numbers, false},
    {"lt", binary<Op::Lt>, false},
    {"ge", binary<Op::Ge>, false},
    {"int_add", int_binary<Op::Add>, false},
    {"int_mul", int_binary<Op::Mul>, false},
    {"int_max", int_binary<Op::Max>, false},
    {"int_min", int_binary<Op::Min>, false},
    {"int_sign", int_sign, false},
    {"int_mod", int_quotient<Op::Mod>, false},
    {"int_floor_div", int_quotient<Op::FloorDiv>, false},
    {"int_and", int_binary<Op::BitAnd>, false},
    {"int_or", int_binary<Op::BitOr>, false},
    {"int_xor", int_binary<Op::BitXor>, false},
    {"int_eq", int_binary<Op::Eq>, false},
    {"logic", logic, false},
    {"choose", choose},
    {"casts", casts, false},
    {"broadcast", broadcast},
    {"product_4x4x8", product<4, 4, 8, false, false>},
    {"product_64x32x16", product<64, 32, 16, false, false>},
    {"product_5x7x9", product<5, 7, 9, false, false>},
    {"product_5x7x10", product<5, 7, 10, false, false>},
    {"product_7x5x3", product<7, 5, 3, false, false>},
    {"product_1x1x1", product<1, 1, 1, false, false>},
    {"product_3x8x31", product<3, 8, 31, false, false>},
    {"product_transposed_x", product<5, 7, 12, true, false>},
    {"product_transposed_y", product<6, 9, 13, false, true>},
    {"product_transposed_both", product<6, 9, 11, true, true>},
    {"batched_product", batched_product},
    {"product_of_broadcast", product_of_broadcast},
    {"wide_row", wide_row},
    {"dense_layer", dense_layer},
    {"hidden_values_are_preserved", hidden_values_are_preserved},
    {"sum_axis_0", fold<Op::Add, 0>},
    {"sum_axis_1", fold<Op::Add, 1>},
    {"sum_axis_2", fold<Op::Add, 2>},
    {"max_axis_2", fold<Op::Max, 2>},
    {"min_axis_0", fold<Op::Min, 0>},
    {"total_3", total<3>},
    {"total_4", total<4>},
    {"total_23", total<23>},
    {"total_130", total<130>},
    {"fold_logic", fold_logic, false},
    {"fold_ints", fold_ints, false},
    {"mean_and_spread", mean_and_spread},
    {"softmax", softmax},
    {"softmax_first_axis", softmax_first_axis},
    {"relu", relu},
    {"leaky_relu", leaky_relu},
    {"elu", elu},
    {"softmax_loss", softmax_loss},
    {"sparse_softmax_loss", sparse_softmax_loss},
    {"sigmoid_loss", sigmoid_loss},
    {"argmax", argmax, false},
    {"argmax_among_nans", argmax_among_nans, false},
    {"random_numbers", random_numbers, false},
    {"reshape_and_permute", reshape_and_permute},
    {"reindex_outside", reindex_outside},
    {"reindex_of_map", reindex_of_map},
    {"iota_and_constant", iota_and_constant},
    {"leaves_as_outputs", leaves_as_outputs},
    {"states_swap", states_swap, false},
    {"weights_step", weights_step, false},
};

}  // namespace

Tensor floats(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::F32, std::move(shape));
}

std::span<const Case> cases() { return kCases; }

}  // namespace lathe::ops_tests
