// Joins, gathers, scatters, scans and sorts.
#include "cases.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::ops_tests {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;
using graph::Tensor;

namespace {

template <int kAxis>
void concatenated(Builder& b) {
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

// Even and odd columns from two tensors, and elements that no piece covers.
void interleaved(Builder& b) {
  const Tensor x = floats(b, "x", {3, 4}), y = floats(b, "y", {3, 3});
  AffineMap even = AffineMap::project(2, {0, 1}), odd = even;
  even.axes[1].coefficients[1] = odd.axes[1].coefficients[1] = 2;
  odd.axes[1].offset = 1;
  const Tensor parts[] = {x, y};
  b.output("y0", tanh(b.join(parts, {even, odd}, {4, 7})));
}

void concatenated_bools(Builder& b) {
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

void scattered_largest(Builder& b) {
  const Tensor index = b.input("n", DType::I32, {7, 6});
  b.output("y", b.scatter(b.input("x", DType::I32, {7, 6}), index, 0, {3, 6}, Op::Max));
}

template <Op kOp, int kAxis, bool kExclusive, bool kReverse>
void scanned(Builder& b) {
  const Tensor x = floats(b, "x", {3, 7, 37});
  const Tensor part = kOp == Op::Mul ? x * 0.2f + 1.1f : x;
  b.output("y", b.scan(kOp, part, kAxis, kExclusive, kReverse));
}

// The first has nothing before it.
void scanned_before(Builder& b) {
  const Tensor x = floats(b, "x", {4, 9});
  b.output("y", maximum(b.scan(Op::Max, x, 1, true), b.full({4, 9}, scalar::Number::of(-1.0f))));
  b.output("z", minimum(b.scan(Op::Min, x, 0, true, true), 0.5f * x + 3.0f));
}

void scan_followed(Builder& b) {
  const Tensor x = floats(b, "x", {5, 19});
  const Tensor sums = b.scan(Op::Add, exp(x), 0);
  b.output("sums", sums);
  b.output("y", tanh(sums * 0.1f) + x);
  b.output("line", b.scan(Op::Add, ops::flatten(x), 0, true, true));
}

// Products of rows and along them where some elements, in some rows two, are 0.
void products_with_zeros(Builder& b) {
  const Tensor x = floats(b, "x", {5, 11, 3});
  const Tensor holes = b.cast(b.iota({5, 11, 3}, 1), DType::F32) * x;
  b.output("rows", b.reduce(Op::Mul, select(x < 0.0f * x - 1.5f, 0.0f * x, x), {1}));
  b.output("all",
           b.reduce(Op::Mul, b.reindex(holes, AffineMap::project(2, {0, 1, 1}), {2, 3}), {0, 1}));
  b.output("y", b.scan(Op::Mul, holes, 0));
  b.output("z", b.scan(Op::Mul, holes, 1, false, true));
}

void scanned_ints(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {4, 21});
  b.output("sum", b.scan(Op::Add, x, 1));
  b.output("most", b.scan(Op::Max, x, 0));
  b.output("all", b.scan(Op::And, x < b.full({4, 21}, scalar::Number::of(3)), 1));
}

// The elements in order and where they were.
void order(Builder& b, Tensor x, int axis, bool descending, int64_t count = -1) {
  const Tensor indices = b.sort(x, axis, descending, count);
  b.output("places", indices);
  b.output("y", b.gather(x, indices, axis) * 2.0f);
}

template <int kAxis, bool kDescending, int kCount, int kLength = 43>
void ordered(Builder& b) {
  Shape shape = {3, 2, 5};
  shape[kAxis] = kLength;
  order(b, floats(b, "x", shape), kAxis, kDescending, kCount);
}

// Longer rows, so that full vectors are rejected.
template <int kCount>
void ordered_long(Builder& b) {
  order(b, floats(b, "x", {2, 331}), 1, true, kCount);
}

// Of equal elements the first comes first.
template <int kCount, bool kDescending>
void ordered_ints(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {3, 77});
  b.output("rows", b.sort(x, 1, kDescending, kCount));
  b.output("columns", b.sort(x, 0, kDescending));
}

// NaNs, infinities, zeros of both signs and ties, in rows that have fewer numbers than requested
// and in rows that have more.
template <int kCount, bool kDescending>
void ordered_irregular(Builder& b) {
  const Tensor n = b.input("n", DType::I32, {9, 41});
  const Tensor x = b.cast(n, DType::F32) - 1.0f;
  const Tensor rows = b.cast(b.iota({9, 41}, 0), DType::F32) - 4.0f;
  const Tensor numbers = select(x > rows, x / zero(x), x) * (1.0f / x) * x;
  b.output("places", b.sort(numbers, 1, kDescending, kCount));
}

void ordered_constant(Builder& b) {
  b.output("y", b.sort(b.full({3, 5000}, scalar::Number::of(2.0f)), 1, true, 9));
  b.output("all", b.sort(b.full({1, 5000}, scalar::Number::of(2.0f)), 1));
}

// Some of them, more than there are, none; over a matrix, and over a number.
void not_zero(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {7, 5}), y = floats(b, "y", {33});
  b.output("some", ops::non_zero(x, 5));
  b.output("all", ops::non_zero(x, 35));
  b.output("more", ops::non_zero(x, 40));
  b.output("none", ops::non_zero(x, 0));
  b.output("positive", ops::non_zero(y > 0.0f * y, 9));
  b.output("one", ops::non_zero(b.input("z", DType::Bool, {}), 1));
}

constexpr Case kNodeCases[] = {
    {"non_zero", not_zero, false},
    {"join_axis_0", concatenated<0>},
    {"join_axis_1", concatenated<1>},
    {"join_axis_2", concatenated<2>},
    {"stack", stacked},
    {"interleave", interleaved},
    {"join_logic", concatenated_bools, false},
    {"gather_rows", gathered<0, 4, 10>},
    {"gather_columns", gathered<1, 6, 4>},
    {"gather_inside", gathered_inside},
    {"gather_by_element", gathered_by_element},
    {"gather_ints", gathered_ints, false},
    {"scatter", scattered},
    {"scatter_largest", scattered_largest, false},
    {"scan_sum_axis_0", scanned<Op::Add, 0, false, false>},
    {"scan_sum_axis_1", scanned<Op::Add, 1, true, false>},
    {"scan_sum_axis_2", scanned<Op::Add, 2, false, true>},
    {"scan_product_axis_1", scanned<Op::Mul, 1, false, true>},
    {"scan_product_axis_2", scanned<Op::Mul, 2, true, false>},
    {"scan_max", scanned<Op::Max, 1, false, false>},
    {"scan_min", scanned<Op::Min, 2, false, true>},
    {"scan_max_before", scanned_before},
    {"products_with_zeros", products_with_zeros},
    {"scan_followed", scan_followed},
    {"scan_ints", scanned_ints, false},
    {"sort_first", ordered<2, true, 3, 9>},
    {"sort_first_1", ordered<2, true, 1>},
    {"sort_first_4", ordered<2, false, 4>},
    {"sort_first_16", ordered<2, true, 16>},
    {"sort_first_17", ordered<2, true, 17>},
    {"sort_all", ordered<2, false, 43>},
    {"sort_all_of_few", ordered<2, true, 7, 7>},
    {"sort_one", ordered<2, true, 1, 1>},
    {"sort_axis_0", ordered<0, true, 5>},
    {"sort_axis_1", ordered<1, false, 43>},
    {"sort_axis_1_pairs", ordered<1, false, 32, 64>},
    {"sort_long_first", ordered_long<10>, false},
    {"sort_long", ordered_long<331>, false},
    {"sort_long_most", ordered_long<150>, false},
    {"sort_none", ordered<2, true, 0>},
    {"sort_ints", ordered_ints<77, false>, false},
    {"sort_ints_first", ordered_ints<10, true>, false},
    {"sort_irregular", ordered_irregular<41, true>, false},
    {"sort_irregular_most", ordered_irregular<37, false>, false},
    {"sort_irregular_first", ordered_irregular<12, true>, false},
    {"sort_irregular_least", ordered_irregular<12, false>, false},
    {"sort_constant", ordered_constant, false},
};

}  // namespace

std::span<const Case> node_cases() { return kNodeCases; }

}  // namespace lathe::ops_tests
