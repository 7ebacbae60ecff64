// Graphs that are legal and unusual: empty tensors, names and aliases that collide, padding of
// constants, shifts by lane, chains of squares.
#include <array>

#include "cases.h"
#include "lathe/base/text.h"

namespace lathe::ops_tests {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Op;
using graph::Tensor;

namespace {

void empty_rows(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {0, 5}), w = b.input("w", DType::F32, {5, 8});
  const Tensor y = b.matmul(x, w);
  b.output("y", y);
  b.output("sum", graph::sum(y, {0}));
  b.output("max", b.reduce(Op::Max, y * 2.0f, {0}));
}

// By dot products: no rows, no columns.
void empty_dots(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {2, 32}), none = b.input("n", DType::F32, {0, 32});
  b.output("columns", b.matmul(x, none, false, true));
  b.output("rows", b.matmul(none, b.input("w", DType::F32, {1, 32}), false, true));
}

void empty_inner(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {6, 0}), w = b.input("w", DType::F32, {0, 9});
  const Tensor bias = b.input("b", DType::F32, {9});
  b.output("y", b.matmul(x, w) + bias);
  b.output("flat", b.reshape(x, {0}));
  b.output("flipped", b.permute(x, {1, 0}));
}

void empty_everything(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {0});
  const Tensor s = b.state("s", DType::F32, {0, 3});
  b.output("x2", b.map(Op::Add, std::array{x, x}));
  b.update(s, b.full({0, 3}, scalar::Number::of(1.0f)));
  b.output("c", b.iota({3, 0}, 0));
}

void squares(Builder& b) {
  Tensor x = b.input("x", DType::F32, {9}), y = x * 0.25f;
  for (int i = 0; i < 40; ++i) {
    x = b.map(i % 2 == 0 ? Op::Max : Op::Min, std::array{x, x}) * 0.5f;
    x = x + x;
    y = b.map(Op::MulAdd, std::array{y, x, y});
    y = y * 0.25f;
  }
  b.output("y", x);
  b.output("z", y);
}

// Longer than one expression may be, with rows and a product at its ends. Over f16 the module stays
// below the 8 MB that Chromium compiles on the main thread of a page.
void long_chain(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {5, 9});
  Tensor y = x;
  for (int i = 0; i < 900; ++i) y = i % 100 == 99 ? tanh(y) : 0.999f * y + 0.001f;
  b.output("y", y);
  b.output("rows", graph::sum(y, {1}, true) * y);
  Tensor z = b.matmul(x, b.permute(x, {1, 0}));
  for (int i = 0; i < 540; ++i) z = 0.995f * z - 0.01f;
  b.output("z", z);
}

// A 3-wide window over 6 elements with one element of padding on either side.
Tensor window(Builder& b, Tensor data, Tensor taps) {
  Contraction contraction;
  contraction.extents = {6, 3};
  contraction.out = AffineMap::project(2, {0});
  contraction.lhs.axes = {Affine{{1, 1}, -1}};
  contraction.rhs = AffineMap::project(2, {1});
  return b.contract(data, taps, contraction, {6});
}

void padded_constant(Builder& b) {
  const Tensor taps = b.input("taps", DType::F32, {3}), data = b.input("data", DType::F32, {6});
  b.output("ones", window(b, b.full({6}, scalar::Number::of(2.0f)), taps));
  b.output("both",
           window(b, b.full({6}, scalar::Number::of(2.0f)), b.full({3}, scalar::Number::of(0.5f))));
  b.output("padded", window(b, data, b.full({3}, scalar::Number::of(1.0f))));
}

void shifts(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {5, 12}), n = b.input("n", DType::I32, {5, 12});
  const Tensor left = b.map(Op::ShiftLeft, std::array{x, n});
  const Tensor right = b.map(Op::ShiftRight, std::array{left, b.iota({5, 12}, 1)});
  b.output("left", left);
  b.output("right", right);
  b.output("rows", b.reduce(Op::Add, b.map(Op::ShiftLeft, std::array{x, n}), {1}));
  b.output("columns", b.reduce(Op::Max, b.map(Op::ShiftLeft, std::array{n, x}), {0}));
}

void shifts_after_product(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {4, 3}), y = b.input("y", DType::F32, {3, 12});
  const Tensor integers = b.cast(b.matmul(x, y), DType::I32);
  b.output("z", b.map(Op::ShiftLeft, std::array{integers, b.input("n", DType::I32, {4, 12})}));
}

void bool_states(Builder& b) {
  const Tensor s = b.state("s", DType::Bool, {11}), t = b.state("t", DType::Bool, {11});
  const Tensor x = b.input("x", DType::Bool, {11});
  b.update(s, b.map(Op::And, std::array{b.map(Op::Not, std::array{s}), x}));
  b.update(t, s);
  b.output("any", b.reduce(Op::Or, s, {0}));
  b.output("count", b.reduce(Op::Add, b.cast(t, DType::I32), {0}));
}

// One value with many uses: two outputs, an update, and names that lowering uses itself.
void one_value_many_names(Builder& b) {
  const Tensor s = b.state("run.constant1", DType::F32, {2, 6});
  const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const auto bytes = std::as_bytes(std::span(numbers));
  const Tensor c = b.constant(DType::F32, {2, 6}, {bytes.begin(), bytes.end()});
  const Tensor y = b.matmul(s * 2.0f, b.permute(c, {1, 0}));
  for (int id = 0; id < 8; ++id) b.output(concat('v', id), y);
  const Tensor next = s + c;
  b.output("next", next);
  b.output("before", s);
  b.update(s, next);
}

// The state is read by rows, entirely and flipped; its update must come last and out of place.
void state_read_in_many_ways(Builder& b) {
  const Tensor s = b.state("s", DType::F32, {4, 9}), x = b.input("x", DType::F32, {4, 9});
  const Tensor t = b.state("t", DType::F32, {4, 4});
  AffineMap flip;
  flip.axes = {Affine{{-1, 0}, 3}, Affine{{0, -1}, 8}};
  const Tensor flipped = b.reindex(s, flip, {4, 9});
  const Tensor product = b.matmul(s, x, false, true);
  b.output("rows", graph::sum(s, {1}));
  b.output("product", product);
  b.update(s, s * 0.5f + flipped * x);
  b.update(t, product - t);
}

// In-place update that the columns of a product overlap: 4 rows, 13 columns.
void in_place_after_product(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {5, 4}), g = b.input("g", DType::F32, {5, 13});
  const Tensor w = b.state("w", DType::F32, {4, 13}), m = b.state("m", DType::F32, {4, 13});
  const Tensor gradient = b.matmul(x, g, true, false);
  const Tensor next = m * 0.9f + gradient;
  b.output("y", b.matmul(x, w));
  b.update(m, next);
  b.update(w, w - next * 0.1f);
}

void scalars(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {}), unused = b.input("unused", DType::Bool, {3});
  (void)unused;
  b.output("y", x * x + 1.0f);
  b.output("sum", graph::sum(x, {}));
  b.output("dot", b.matmul(b.reshape(x, {1, 1}), b.reshape(x, {1, 1})));
}

constexpr Case kEdgeCases[] = {
    {"empty_rows", empty_rows, false},
    {"empty_dots", empty_dots, false},
    {"empty_inner", empty_inner, false},
    {"empty_everything", empty_everything, false},
    {"squares", squares, false},
    {"long_chain", long_chain},
    {"padded_constant", padded_constant},
    {"shifts", shifts, false},
    {"shifts_after_product", shifts_after_product, false},
    {"bool_states", bool_states, false},
    {"one_value_many_names", one_value_many_names, false},
    {"state_read_in_many_ways", state_read_in_many_ways, false},
    {"in_place_after_product", in_place_after_product, false},
    {"scalars", scalars},
};

}  // namespace

std::span<const Case> edge_cases() { return kEdgeCases; }

}  // namespace lathe::ops_tests
