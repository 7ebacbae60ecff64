// Joins, gathers, scatters and scans.
#include "cases.h"
#include "ops/indexing.h"
#include "ops/movement.h"

namespace lathe::ops_tests {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;
using graph::Tensor;

namespace {

Tensor floats(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::F32, std::move(shape));
}

template <int kAxis>
void joined(Builder& b) {
  Shape narrow = {3, 5, 6}, wide = {3, 5, 6};
  narrow[kAxis] = 1;
  wide[kAxis] = 9;
  const Tensor x = floats(b, "x", {3, 5, 6}), y = floats(b, "y", narrow);
  b.output("y0", ops::concatenate({x, exp(y) * 0.5f, floats(b, "z", wide)}, kAxis));
}

void stacked(Builder& b) {
  const Tensor x = floats(b, "x", {4, 5}), y = floats(b, "y", {4, 5});
  b.output("last", ops::stack({x, y, x * y}, -1) * 2.0f);
  b.output("first", ops::stack({x, y}, 0));
}

// Even and odd columns from two tensors, and places that no piece reaches.
void interleaved(Builder& b) {
  const Tensor x = floats(b, "x", {3, 4}), y = floats(b, "y", {3, 3});
  AffineMap even = AffineMap::project(2, {0, 1}), odd = even;
  even.axes[1].coefficients[1] = odd.axes[1].coefficients[1] = 2;
  odd.axes[1].offset = 1;
  const Tensor parts[] = {x, y};
  b.output("y0", tanh(b.join(parts, {even, odd}, {4, 7})));
}

void logic_joined(Builder& b) {
  const Tensor x = floats(b, "x", {3, 4});
  b.output("y", ops::concatenate({x<0.0f * x, x> 0.0f * x}, 1));
}

template <int kAxis, int kRows, int kColumns>
void gathered(Builder& b) {
  const Tensor x = floats(b, "x", {kRows, kColumns});
  const Tensor index = b.input("n", DType::I32, {3, 5});
  b.output("y", ops::gather(x, index, kAxis));
}

// Indices outside, in a tensor of more axes, under maps and a view.
void gathered_inside(Builder& b) {
  const Tensor x = floats(b, "x", {4, 6, 9});
  const Tensor index = b.input("n", DType::I32, {7});
  const Tensor five = b.full({7}, scalar::Number::of(3));
  const Tensor picked = ops::gather(tanh(x), index * five - five, 1);
  b.output("y", ops::slice(picked * 2.0f, {1, 2, 3}, std::nullopt));
}

void gathered_by_element(Builder& b) {
  const Tensor x = floats(b, "x", {6, 9});
  b.output("y", b.gather(x, b.input("n", DType::I32, {6, 13}), 1));
}

void gathered_ints(Builder& b) {
  b.output("y", ops::gather(b.input("x", DType::I32, {4, 3}), b.input("n", DType::I32, {8}), 0));
}

void scattered(Builder& b) {
  const Tensor x = floats(b, "x", {7, 6});
  const Tensor index = b.input("n", DType::I32, {7, 6});
  b.output("rows", b.scatter(x * x, index, 0, {3, 6}));
  b.output("columns", b.scatter(x, index, 1, {7, 5}));
}

template <Op kOp, int kAxis, bool kExclusive, bool kReverse>
void scanned(Builder& b) {
  const Tensor x = floats(b, "x", {3, 7, 37});
  const Tensor part = kOp == Op::Mul ? x * 0.2f + 1.1f : x;
  b.output("y", b.scan(kOp, part, kAxis, kExclusive, kReverse));
}

void scan_followed(Builder& b) {
  const Tensor x = floats(b, "x", {5, 19});
  const Tensor sums = b.scan(Op::Add, exp(x), 0);
  b.output("sums", sums);
  b.output("y", tanh(sums * 0.1f) + x);
  b.output("line", b.scan(Op::Add, ops::flatten(x), 0, true, true));
}

void scanned_ints(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {4, 21});
  b.output("sum", b.scan(Op::Add, x, 1));
  b.output("most", b.scan(Op::Max, x, 0));
  b.output("all", b.scan(Op::And, x < b.full({4, 21}, scalar::Number::of(3)), 1));
}

constexpr Case kCases[] = {
    {"join_axis_0", joined<0>},
    {"join_axis_1", joined<1>},
    {"join_axis_2", joined<2>},
    {"stack", stacked},
    {"interleave", interleaved},
    {"join_logic", logic_joined, false},
    {"gather_rows", gathered<0, 4, 10>},
    {"gather_columns", gathered<1, 6, 4>},
    {"gather_inside", gathered_inside},
    {"gather_by_element", gathered_by_element},
    {"gather_ints", gathered_ints, false},
    {"scatter", scattered},
    {"scan_sum_axis_0", scanned<Op::Add, 0, false, false>},
    {"scan_sum_axis_1", scanned<Op::Add, 1, true, false>},
    {"scan_sum_axis_2", scanned<Op::Add, 2, false, true>},
    {"scan_product_axis_1", scanned<Op::Mul, 1, false, true>},
    {"scan_product_axis_2", scanned<Op::Mul, 2, true, false>},
    {"scan_max", scanned<Op::Max, 1, false, false>, false},
    {"scan_followed", scan_followed},
    {"scan_ints", scanned_ints, false},
};

}  // namespace

std::span<const Case> node_cases() { return kCases; }

}  // namespace lathe::ops_tests
