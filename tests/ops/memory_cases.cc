// Graphs bound by memory: transposes with sizes around the edges of their squares, rows that are
// reduced and reused, updates of several states at once.
#include "cases.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::ops_tests {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;

namespace {

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

// Borders of zeros around images, whose rows are full vectors or not; one followed by a map.
void padded_images(Builder& b) {
  const auto padded = [&](Tensor x, int64_t before, int64_t after) {
    graph::AffineMap map = graph::AffineMap::project(4, {0, 1, 2, 3});
    Shape shape = x.shape();
    for (size_t axis : {1, 2}) {
      map.axes[axis].offset = -before;
      shape[axis] += before + after;
    }
    return b.reindex(x, map, shape);
  };
  b.output("even", padded(floats(b, "x", {2, 5, 6, 4}), 1, 1));
  b.output("odd", padded(floats(b, "y", {1, 4, 3, 3}), 0, 2) + 1.0f);
  b.output("cut", padded(floats(b, "z", {2, 5, 6, 5}), -1, 2));
  b.output("nothing", padded(floats(b, "w", {1, 2, 2, 8}), 3, -3));
}

// Sums whose reduced axes join in one loop, over views that leave their operand on another axis.
void sums_of_padded(Builder& b) {
  const Tensor x = floats(b, "x", {2, 3, 4});
  const Tensor below = ops::pad(x, {{0, 1}, {0, 0}, {0, 0}}, 0);
  b.output("below", graph::sum(below, {1, 2}));
  b.output("most", graph::max(ops::pad(x, {{1, 1}, {0, 0}, {0, 0}}, 0) * 2.0f, {1, 2}));
  b.output("inside", graph::sum(ops::pad(x, {{0, 0}, {1, 2}, {0, 0}}, 0), {1, 2}));
  b.output("cut",
           graph::sum(ops::pad(ops::slice(x, {0, 1, 0}, {}), {{2, 0}, {0, 0}, {0, 0}}, 0), {1, 2}));
  const Tensor mean = graph::sum(below, {1, 2}, true) * 0.1f;
  b.output("spread", exp(below - b.broadcast_to(mean, below.shape())));
}

// Products followed by such a view, whose remaining axes are merged.
void products_and_padded(Builder& b) {
  const Tensor y = b.matmul(floats(b, "x", {3, 4, 5}), floats(b, "w", {5, 8}));
  b.output("y", y + ops::pad(floats(b, "z", {2, 4, 8}), {{0, 1}, {0, 0}, {0, 0}}, 0));
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

// Rows longer and shorter than the vectors of a pass.
template <int kLength>
void rows(Builder& b) {
  const Tensor x = floats(b, "x", {9, kLength});
  b.output("softmax", ops::softmax(x));
  b.output("log", ops::log_softmax(x * 2.0f));
  const Tensor centered = x - graph::mean(x, {1}, true);
  const Tensor spread = graph::sqrt(graph::mean(centered * centered, {1}, true) + 0.1f);
  b.output("normal", centered / spread * floats(b, "scale", {kLength}));
  b.output("spread", spread);
  b.output("least", graph::sum(graph::tanh(centered * spread), {1}));
}

// Rows of several axes, of which one broadcasts over them; all of a tensor as one row.
void rows_of_planes(Builder& b) {
  const Tensor x = floats(b, "x", {3, 5, 4, 3});
  const Tensor scaled = x * floats(b, "scale", {3}) + floats(b, "plane", {4, 1});
  const Tensor far = scaled - graph::mean(scaled, {2, 3}, true);
  b.output("planes", far * graph::sum(far * far, {2, 3}, true));
  b.output("all", x / (1.0f + graph::sum(x * x, {0, 1, 2, 3}, true)));
  b.output("volumes", graph::sum(graph::exp(x), {1, 2, 3}) + floats(b, "bias", {3}));
}

// Values that only later passes read, or other kernels, in one chain.
void long_chain_of_rows(Builder& b) {
  const Tensor x = floats(b, "x", {10, 21});
  const Tensor first = graph::exp(x * 0.5f);
  const Tensor share = first / graph::sum(first, {1}, true);
  const Tensor second = graph::tanh(share * 3.0f);
  const Tensor shift = graph::mean(second * x, {1}, true);
  const Tensor third = graph::sigmoid(second - shift);
  b.output("first", first * 2.0f);
  b.output("shift", b.reshape(shift, {10}) * 0.5f);
  b.output("last", third * first - graph::sum(third, {1}, true));
  b.output("columns", graph::sum(third * second, {0}));
  b.output("turned", b.permute(third, {1, 0}));
}

void rows_of_ints(Builder& b) {
  const Tensor n = b.input("n", DType::I32, {7, 14});
  const Tensor maximum_of_row = b.reduce(graph::Op::Max, n, {1}, true);
  const Tensor left = n - maximum_of_row;
  b.output("left", left);
  b.output("sum", graph::sum(left * left, {1}));
  b.output("all", b.reduce(graph::Op::And, left < b.full({7, 14}, scalar::Number::of(0)), {1}));
  b.output("first", ops::argmax(floats(b, "x", {7, 14})));
}

// Row statistics of states that change: none may be overwritten before the last pass reads it.
void states_of_rows(Builder& b) {
  const Tensor s = b.state("s", DType::F32, {8, 12}), r = b.state("r", DType::F32, {8});
  const Tensor centered = s - graph::mean(s, {1}, true);
  const Tensor size = graph::sum(centered * centered, {1});
  const Tensor next = r * 0.5f + size;
  b.update(s, centered * b.reshape(r, {8, 1}));
  b.update(r, next);
  b.output("y", centered * b.reshape(next, {8, 1}) + b.reshape(r, {8, 1}));
}

// Logarithms of negative numbers in some of the rows, at any position.
void rows_with_nans(Builder& b) {
  const Tensor x = graph::log(floats(b, "x", {8, 21}) + floats(b, "row", {8, 1}) * 2.0f);
  b.output("most", b.reduce(graph::Op::Max, x, {1}));
  b.output("least", b.reduce(graph::Op::Min, x, {1}));
}

// Square roots of negative numbers, adjacent to each other and to constants.
void extremes_of_nans(Builder& b) {
  const Tensor x = sqrt(floats(b, "x", {3, 13})), y = sqrt(floats(b, "y", {13}));
  const Tensor half = b.scalar(0.5f), nan = sqrt(b.scalar(-1.0f));
  b.output("most", maximum(x, y));
  b.output("least", minimum(x, y));
  b.output("bounded", minimum(half, maximum(x, b.scalar(0.25f))));
  b.output("rectified", ops::relu(x));
  b.output("nans", maximum(y, nan));
  b.output("column", b.reduce(graph::Op::Max, x, {0}));
  b.output("row", b.reduce(graph::Op::Min, x, {1}));
}

void gelu(Builder& b) {
  const Tensor x = floats(b, "x", {5, 13}) * floats(b, "w", {13});
  b.output("exact", ops::gelu(x));
  b.output("approximate", ops::gelu(x, true));
}

constexpr Case kMemoryCases[] = {
    {"rows_with_nans", rows_with_nans, false},
    {"extremes_of_nans", extremes_of_nans, false},
    {"gelu", gelu},
    {"rows_of_40", rows<40>},
    {"rows_of_19", rows<19>},
    {"rows_of_3", rows<3>},
    {"rows_of_1", rows<1>, false},
    {"rows_of_planes", rows_of_planes},
    {"long_chain_of_rows", long_chain_of_rows},
    {"rows_of_ints", rows_of_ints, false},
    {"states_of_rows", states_of_rows, false},
    {"transposes", transposes},
    {"transposes_in_maps", transposes_in_maps},
    {"padded_images", padded_images},
    {"sums_of_padded", sums_of_padded},
    {"products_and_padded", products_and_padded},
    {"adam_step", adam_step, false},
};

}  // namespace

std::span<const Case> memory_cases() { return kMemoryCases; }

}  // namespace lathe::ops_tests
