#include "random_contraction.h"

namespace lathe::lower {

using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;

Graph RandomContraction::product() {
  Builder b("t");
  const int64_t rows = size(), columns = size(), depth = size();
  const bool transpose_x = below(2) == 1, transpose_y = below(2) == 1;
  Shape x = transpose_x ? Shape{depth, rows} : Shape{rows, depth};
  Shape y = transpose_y ? Shape{columns, depth} : Shape{depth, columns};
  Shape out = {rows, columns};
  if (below(3) == 0) {
    const int64_t batch = 1 + below(3);
    for (Shape* shape : {&x, &y, &out}) shape->insert(shape->begin(), batch);
  }
  const Tensor product =
      b.matmul(b.input("x", DType::F32, x), b.input("y", DType::F32, y), transpose_x, transpose_y);
  finish(b, product, out);
  return *std::move(b).finish();
}

Graph RandomContraction::convolution() {
  Builder b("t");
  const int64_t n = 1 + below(2), height = 1 + below(5), width = 1 + below(14);
  const int64_t in = 1 + below(6), out = 1 + below(14), dy = 1 + below(3), dx = 1 + below(3);
  const int64_t stride = 1 + below(2);
  Contraction c;
  c.extents = {n, height, width, out, dy, dx, in};
  c.out = AffineMap::project(7, {0, 1, 2, 3});
  c.lhs.axes = {{{1, 0, 0, 0, 0, 0, 0}},
                {{0, stride, 0, 0, 1, 0, 0}},
                {{0, 0, stride, 0, 0, 1, 0}},
                {{0, 0, 0, 0, 0, 0, 1}}};
  c.rhs = AffineMap::project(7, {4, 5, 6, 3});
  const Shape image = {n, stride * (height - 1) + dy, stride * (width - 1) + dx, in};
  const Tensor x = b.input("x", DType::F32, image);
  const Tensor taps = b.input("taps", DType::F32, {dy, dx, in, out});
  finish(b, b.contract(x, taps, c, {n, height, width, out}), {n, height, width, out});
  return *std::move(b).finish();
}

Graph RandomContraction::depthwise() {
  Builder b("t");
  const int64_t height = 1 + below(5), width = 1 + below(9), channels = 1 + below(14);
  const int64_t dy = 1 + below(3), dx = 1 + below(3);
  const bool channels_first = below(2) == 1;
  Contraction c;
  c.extents = {height, width, channels, dy, dx};
  c.out = AffineMap::project(5, {0, 1, 2});
  c.lhs.axes = {{{1, 0, 0, 1, 0}}, {{0, 1, 0, 0, 1}}, {{0, 0, 1, 0, 0}}};
  c.rhs = channels_first ? AffineMap::project(5, {2, 3, 4}) : AffineMap::project(5, {3, 4, 2});
  const Tensor x = b.input("x", DType::F32, {height + dy - 1, width + dx - 1, channels});
  const Tensor taps = b.input("taps", DType::F32,
                              channels_first ? Shape{channels, dy, dx} : Shape{dy, dx, channels});
  finish(b, b.contract(x, taps, c, {height, width, channels}), {height, width, channels});
  return *std::move(b).finish();
}

void RandomContraction::finish(Builder& b, Tensor sum, const Shape& shape) {
  switch (below(4)) {
    case 0:
      b.output("out", sum);
      break;
    case 1: {
      const Tensor bias = b.broadcast_to(b.input("b", DType::F32, {shape.back()}), shape);
      const Tensor other = b.input("other", DType::F32, shape);
      b.output("out", graph::maximum(sum + bias, other));
      break;
    }
    case 2: {
      Shape one = shape;
      one.back() = 1;
      const Tensor scale = b.broadcast_to(b.input("scale", DType::F32, one), shape);
      b.output("sum", sum);
      b.output("out", sum * scale);
      break;
    }
    case 3: {
      const Tensor w = b.state("w", DType::F32, shape), m = b.state("m", DType::F32, shape);
      const Tensor next = m * 0.5f + sum;
      b.update(m, next);
      b.update(w, w - next * 0.1f);
      break;
    }
  }
}

}  // namespace lathe::lower
