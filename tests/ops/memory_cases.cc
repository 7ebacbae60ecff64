// Graphs bound by memory: transposes with sizes around the edges of their squares, rows that are
// reduced and used again, updates of several states at once.
#include <array>

#include "cases.h"

namespace lathe::ops_tests {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;

namespace {

Tensor floats(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::F32, std::move(shape));
}

void transposes(Builder& b) {
  b.output("small", b.permute(floats(b, "s", {4, 4}), {1, 0}));
  b.output("odd", b.permute(floats(b, "o", {19, 37}), {1, 0}));
  b.output("channels", b.permute(floats(b, "c", {2, 5, 7, 6}), {0, 3, 1, 2}));
  b.output("outer", b.permute(floats(b, "t", {3, 9, 16}), {1, 0, 2}));
  b.output("turned", b.permute(floats(b, "u", {6, 9, 5}), {2, 1, 0}));
}

// Both orders of one matrix meet in an expression, in all types.
void transposes_in_maps(Builder& b) {
  const Tensor x = floats(b, "x", {21, 18}), y = floats(b, "y", {18, 21});
  const Tensor across = b.permute(y, {1, 0});
  b.output("sum", graph::tanh(x * across) + across);
  const Tensor i = b.input("i", DType::I32, {9, 8}), c = b.input("c", DType::Bool, {9, 8});
  b.output("ints", b.permute(i, {1, 0}));
  b.output("bools", b.permute(c, {1, 0}));
  b.output("chosen", graph::select(b.permute(c, {1, 0}), b.permute(i, {1, 0}), b.iota({8, 9}, 1)));
}

void adam_step(Builder& b) {
  const Shape shape = {5, 9};
  const Tensor g = floats(b, "g", shape), w = b.state("w", DType::F32, shape);
  const Tensor m = b.state("m", DType::F32, shape), v = b.state("v", DType::F32, shape);
  const Tensor mean = 0.9f * m + 0.1f * g, square = 0.99f * v * v + 0.01f * g * g;
  b.update(m, mean);
  b.update(v, square);
  b.update(w, w - 0.1f * mean / (graph::sqrt(square) + 0.1f));
  b.output("size", graph::sum(square, {0, 1}));
}

constexpr Case kCases[] = {
    {"transposes", transposes},
    {"transposes_in_maps", transposes_in_maps},
    {"adam_step", adam_step, false},
};

}  // namespace

std::span<const Case> memory_cases() { return kCases; }

}  // namespace lathe::ops_tests
