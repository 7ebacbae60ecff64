#include "random_contraction.h"

#include <array>

namespace lathe::lower {

using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;

// Floats, or float16 as lower/cpu/shorten_constants encodes them.
Tensor RandomContraction::operand(Builder& b, const char* name, const Shape& shape) {
  if (!has_float16 || below(2) == 0) return b.input(name, DType::F32, shape);
  std::vector<std::byte> data;
  for (int64_t i = 0; i < graph::element_count(shape); ++i) {
    const int low = below(256), high = below(4), sign = below(2);
    data.push_back(static_cast<std::byte>(low));
    data.push_back(static_cast<std::byte>(0x30 | high | sign << 7));
  }
  const auto spread = [&](int32_t number) { return b.full(shape, scalar::Number::of(number)); };
  const Tensor bits = b.cast(b.constant(DType::I16, shape, std::move(data)), DType::I32);
  const Tensor moved = b.map(scalar::Op::ShiftLeft, std::array{bits, spread(13)});
  const Tensor masked = b.map(scalar::Op::BitAnd, std::array{moved, spread(-0x70002000)});
  return b.map(scalar::Op::FromBits, std::array{masked}) * 0x1p112f;
}

Graph RandomContraction::product() {
  Builder b("t");
  int64_t rows = size(), columns = size();
  const int64_t depth = size();
  // Operands that are used often are not read as float16.
  if (has_float16) (below(2) == 0 ? rows : columns) = 1 + below(4);
  const bool transpose_x = below(2) == 1, transpose_y = below(2) == 1;
  Shape x = transpose_x ? Shape{depth, rows} : Shape{rows, depth};
  Shape y = transpose_y ? Shape{columns, depth} : Shape{depth, columns};
  Shape out = {rows, columns};
  if (below(3) == 0) {
    const int64_t batch = 1 + below(3);
    for (Shape* shape : {&x, &y, &out}) shape->insert(shape->begin(), batch);
  }
  const Tensor product = b.matmul(operand(b, "x", x), operand(b, "y", y), transpose_x, transpose_y);
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
  const Tensor x = operand(b, "x", image), taps = operand(b, "taps", {dy, dx, in, out});
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
  const Tensor x = operand(b, "x", {height + dy - 1, width + dx - 1, channels});
  const Tensor taps =
      operand(b, "taps", channels_first ? Shape{channels, dy, dx} : Shape{dy, dx, channels});
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
