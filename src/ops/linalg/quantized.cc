#include "lathe/ops/linalg/quantized.h"

#include <algorithm>
#include <array>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::ops {

using graph::AffineMap;
using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;
using scalar::Number;

namespace {

bool is_packing(int bits) { return bits == 2 || bits == 4 || bits == 8; }

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::string described(Tensor x) { return concat(scalar::text(x.dtype()), bracketed(x.shape())); }

// The numbers in the bytes as I32, along a new last axis.
Tensor unpacked(Tensor packed, int bits) {
  Builder& b = *packed.builder;
  Shape shape = packed.shape();
  shape.push_back(1);
  const Tensor bytes = b.cast(b.reshape(packed, shape), DType::I32);
  if (bits == 8) return bytes;
  const Tensor shifts = b.iota({8 / bits}, 0) * static_cast<float>(bits);
  const Tensor shifted = b.map(Op::ShiftRight, std::array{bytes, shifts});
  return b.map(Op::BitAnd, std::array{shifted, b.full({}, Number::of((1 << bits) - 1))});
}

// The same along the last axis, the first `count` of each row.
Tensor unpacked_rows(Tensor packed, int bits, int64_t count) {
  Shape shape = packed.shape();
  shape.back() *= 8 / bits;
  const Tensor all = packed.builder->reshape(unpacked(packed, bits), shape);
  Shape begin(shape.size(), 0);
  shape.back() = count;
  return slice(all, begin, shape);
}

bool counts(Tensor x, int64_t count) { return graph::element_count(x.shape()) == count; }

Tensor nbits_error(Tensor x, const char* what, Tensor actual, std::string expected) {
  return x.builder->error(concat("mat_mul_nbits: ", what, ' ', described(actual), " for x ",
                                 described(x), " should be ", expected));
}

// As F32 [columns, blocks / group, group, 1, 1]: zero points, of which each byte packs a group,
// have a separate group axis, so that a product unpacks them as it reads them.
Tensor zero_points_of(Tensor zero_points, int64_t blocks, int64_t group, const NBits& format) {
  Builder& b = *zero_points.builder;
  Tensor zeros = zero_points;
  if (zeros.dtype() == DType::U8) {
    const int64_t bytes = ceil_of(blocks * format.bits, 8);
    zeros = b.reshape(zeros, {format.columns, bytes});
    zeros = group > 1 ? unpacked(zeros, format.bits) : unpacked_rows(zeros, format.bits, blocks);
  }
  return b.cast(b.reshape(zeros, {format.columns, blocks / group, group, 1, 1}), DType::F32);
}

// An error, or nothing.
Tensor check_nbits(Tensor x, Tensor packed, Tensor scales, Tensor zero_points,
                   const NBits& format) {
  Builder& b = *x.builder;
  const auto& [columns, bits, block] = format;
  if (!is_packing(bits) || block <= 0 || block * bits % 8 != 0 || columns <= 0) {
    return b.error(
        concat("mat_mul_nbits: ", bits, " bits in blocks of ", block, " for ", columns,
               " columns: expected 2, 4 or 8 bits, blocks of complete bytes, and columns"));
  }
  if (x.rank() == 0 || !scalar::is_float(x.dtype())) {
    return b.error(concat("mat_mul_nbits: x ", described(x), " should be floats [..., k]"));
  }
  const int64_t blocks = ceil_of(x.shape().back(), block);
  const int64_t bytes = columns * blocks * block * bits / 8;
  if (packed.dtype() != DType::U8 || !counts(packed, bytes)) {
    return nbits_error(x, "packed", packed,
                       concat("u8", bracketed(Shape{columns, blocks, block * bits / 8})));
  }
  if (!scalar::is_float(scales.dtype()) || !counts(scales, columns * blocks)) {
    return nbits_error(x, "scales", scales, concat("floats ", bracketed(Shape{columns, blocks})));
  }
  if (!zero_points.valid()) return x;
  const bool is_packed = zero_points.dtype() == DType::U8;
  const int64_t row = is_packed ? ceil_of(blocks * bits, 8) : blocks;
  if ((!is_packed && !scalar::is_float(zero_points.dtype())) ||
      !counts(zero_points, columns * row)) {
    return nbits_error(x, "zero points", zero_points,
                       concat("floats ", bracketed(Shape{columns, blocks}), " or u8",
                              bracketed(Shape{columns, ceil_of(blocks * bits, 8)})));
  }
  return x;
}

}  // namespace

Tensor mat_mul_nbits(Tensor x, Tensor packed, Tensor scales, Tensor zero_points,
                     const NBits& format) {
  if (!x.valid() || !packed.valid() || !scales.valid()) return {x.builder, {}};
  if (!check_nbits(x, packed, scales, zero_points, format).valid()) return {x.builder, {}};
  Builder& b = *x.builder;
  const auto& [columns, bits, block] = format;
  const int64_t depth = x.shape().back(), blocks = ceil_of(depth, block);
  const int64_t bytes = block * bits / 8, numbers = 8 / bits;
  const bool packs_zeros = zero_points.valid() && zero_points.dtype() == DType::U8;
  const int64_t group = packs_zeros && blocks % numbers == 0 ? numbers : 1;
  const Tensor q = unpacked(b.reshape(packed, {columns, blocks / group, group, bytes}), bits);
  Tensor w = b.cast(q, DType::F32);
  if (zero_points.valid()) {
    w = w - zero_points_of(zero_points, blocks, group, format);
  } else {
    w = w - static_cast<float>(1 << (bits - 1));
  }
  w = w * b.reshape(b.cast(scales, DType::F32), {columns, blocks / group, group, 1, 1});

  Shape shape = x.shape();
  shape.back() = columns;
  const int64_t rows =
      depth == 0 ? graph::element_count(shape) / columns : graph::element_count(x.shape()) / depth;
  Tensor left = b.reshape(b.cast(x, DType::F32), {rows, depth});
  left = pad(left, {{0, 0}, {0, blocks * block - depth}}, 0);
  left = b.reshape(left, {rows, blocks / group, group, bytes, numbers});
  const Tensor product =
      b.contract(left, w,
                 {.extents = {rows, columns, blocks / group, group, bytes, numbers},
                  .out = AffineMap::project(6, {0, 1}),
                  .lhs = AffineMap::project(6, {0, 2, 3, 4, 5}),
                  .rhs = AffineMap::project(6, {1, 2, 3, 4, 5})},
                 {rows, columns});
  return b.convert(b.reshape(product, shape), x.dtype());
}

Tensor unpack_bits(Tensor packed, int bits, bool is_signed) {
  if (!packed.valid()) return packed;
  Builder& b = *packed.builder;
  if (packed.dtype() != DType::U8 || packed.rank() == 0 || !is_packing(bits)) {
    return b.error(concat("unpack_bits: ", bits, " bits of ", described(packed),
                          ": expected 2, 4 or 8 bits in u8 [..., bytes]"));
  }
  Tensor all = unpacked_rows(packed, bits, packed.shape().back() * (8 / bits));
  if (is_signed && bits < 8) {
    // The sign moves to the top and back.
    const Tensor count = b.full({}, Number::of(32 - bits));
    all = b.map(Op::ShiftLeft, std::array{all, count});
    all = b.map(Op::ShiftRight, std::array{all, count});
  }
  return b.cast(all, is_signed ? DType::I8 : DType::U8);
}

namespace {

// The tensor with one element for each of `shape` along the axis, each element of it repeated.
Tensor repeated(Tensor x, int axis, int64_t size, int64_t block) {
  Builder& b = *x.builder;
  const Tensor each = b.full({}, Number::of(static_cast<int32_t>(block)));
  const Tensor block_index = b.map(Op::FloorDiv, std::array{b.iota({size}, 0), each});
  return gather(x, block_index, axis);
}

// Of the shape that scales and zero points have for q; false: they do not fit.
bool fits(Tensor q, Tensor x, int axis, int64_t block) {
  if (block > 0) {
    Shape expected = q.shape();
    expected[axis] = ceil_of(expected[axis], block);
    return x.shape() == expected;
  }
  return counts(x, 1) || x.shape() == Shape{q.shape()[axis]};
}

}  // namespace

Tensor dequantize(Tensor q, Tensor scale, Tensor zero_point, int axis, int64_t block_size) {
  if (!q.valid() || !scale.valid()) return {q.builder, {}};
  Builder& b = *q.builder;
  if (block_size == 0 && counts(scale, 1) && (axis < -q.rank() || axis >= q.rank())) axis = 0;
  const int at = axis < 0 ? axis + q.rank() : axis;
  const bool has_axis = at >= 0 && at < q.rank();
  const bool per_tensor = block_size == 0 && counts(scale, 1);
  if (!scalar::is_integer(q.dtype()) || !scalar::is_float(scale.dtype()) || block_size < 0 ||
      (!has_axis && !per_tensor) || (has_axis && !fits(q, scale, at, block_size)) ||
      (zero_point.valid() && zero_point.shape() != scale.shape())) {
    return b.error(concat("dequantize: q ", described(q), " by scale ", described(scale),
                          zero_point.valid() ? concat(" from ", described(zero_point)) : "",
                          " along axis ", axis, " in blocks of ", block_size,
                          ": expected integers and floats per tensor, per axis or per block"));
  }
  const DType dtype = scale.dtype();
  const Shape shape = q.shape();
  const auto numbers = [&](Tensor x) { return b.cast(x, DType::F32); };
  Tensor y = q;
  const auto broadcast = [&](Tensor x) {
    if (per_tensor) return b.reshape(x, {});
    Shape spread(shape.size(), 1);
    spread[at] = shape[at];
    if (block_size == 0) return b.reshape(x, spread);
    if (shape[at] % block_size != 0) {
      return repeated(x, at, shape[at], block_size);
    }
    spread = x.shape();
    insert_at(spread, static_cast<size_t>(at) + 1, 1);
    return b.reshape(x, spread);
  };
  if (block_size > 0 && shape[at] % block_size == 0) {
    Shape split = shape;
    split[at] /= block_size;
    insert_at(split, static_cast<size_t>(at) + 1, block_size);
    y = b.reshape(y, split);
  }
  if (scalar::size_of(q.dtype()) >= 4) {
    if (zero_point.valid()) y = y - broadcast(zero_point);
    y = numbers(y);
  } else {
    y = numbers(y);
    if (zero_point.valid()) y = y - numbers(broadcast(zero_point));
  }
  return b.convert(b.reshape(y * numbers(broadcast(scale)), shape), dtype);
}

Tensor gather_block_quantized(Tensor data, Tensor indices, Tensor scales, Tensor zero_points,
                              const BlockGather& format) {
  if (!data.valid() || !indices.valid() || !scales.valid()) return {data.builder, {}};
  Builder& b = *data.builder;
  const auto from_start = [&](int axis) { return axis < 0 ? axis + data.rank() : axis; };
  const int from = from_start(format.gather_axis), along = from_start(format.quantize_axis);
  const bool packs = format.bits < 8;
  const bool is_byte = data.dtype() == DType::U8 || (data.dtype() == DType::I8 && !packs);
  if (!is_byte || !is_packing(format.bits) || from < 0 || from >= data.rank() || along < 0 ||
      along >= data.rank() || from == along || (packs && along != data.rank() - 1) ||
      scales.rank() != data.rank() || (zero_points.valid() && zero_points.rank() != data.rank())) {
    return b.error(concat("gather_block_quantized: data ", described(data), " of ", format.bits,
                          " bits, scales ", described(scales), ", gathered along axis ",
                          format.gather_axis, ", quantized along axis ", format.quantize_axis,
                          ": expected 2 or 4 bits in u8 quantized along the last axis or 8 bits, "
                          "two axes that differ, "
                          "and scales of as many axes"));
  }
  const int moved = along > from ? along + indices.rank() - 1 : along;
  const auto rows = [&](Tensor x) { return gather(x, indices, from); };
  Tensor q = rows(data);
  const Tensor scale = rows(scales);
  if (packs) q = unpack_bits(q, format.bits, false);
  Tensor zeros = zero_points;
  if (zeros.valid()) {
    zeros = rows(zeros);
    if (packs && zeros.valid()) zeros = unpacked_rows(zeros, format.bits, scale.shape().back());
  } else if (data.dtype() == DType::U8) {
    zeros = b.full(scale.shape(), Number::of(1 << (format.bits - 1)));
  }
  return dequantize(q, scale, zeros, moved, format.block_size);
}

Tensor mat_mul_integer(Tensor a, Tensor b, Tensor a_zero, Tensor b_zero) {
  if (!a.valid() || !b.valid()) return {a.builder, {}};
  Builder& builder = *a.builder;
  const auto is_byte = [](Tensor x) {
    return !x.valid() || x.dtype() == DType::I8 || x.dtype() == DType::U8;
  };
  const auto fits_axis = [](Tensor zero, int64_t count) {
    return !zero.valid() || counts(zero, 1) || counts(zero, count);
  };
  const bool matrices = a.rank() > 1 && b.rank() > 1;
  if (!matrices || !is_byte(a) || !is_byte(b) || !is_byte(a_zero) || !is_byte(b_zero) ||
      !fits_axis(a_zero, a.shape()[a.shape().size() - 2]) || !fits_axis(b_zero, b.shape().back())) {
    return builder.error(concat("mat_mul_integer: ", described(a), " and ", described(b),
                                ": expected i8 or u8 matrices and zero points of these types, one "
                                "for all, for each row of the first or each column of the second"));
  }
  // Without its zero point a byte has nine bits: it stays 16 bits wide, as pairwise products
  // require.
  const auto of_rows = [&](Tensor zero) {
    return builder.reshape(builder.cast(zero, DType::I16), {counts(zero, 1) ? 1 : -1, 1});
  };
  Tensor left = a;
  if (a_zero.valid()) left = builder.cast(a, DType::I16) - of_rows(a_zero);
  const auto wide = [&](Tensor x) { return builder.cast(x, DType::I32); };
  const Tensor product = builder.matmul(wide(left), wide(b));
  if (!b_zero.valid() || !product.valid()) return product;
  // a (b - zero) = a b - sum(a) zero.
  const Tensor sums = graph::sum(wide(left), {-1}, /*keepdims=*/true);
  return product - sums * builder.reshape(wide(b_zero), {1, counts(b_zero, 1) ? 1 : -1});
}

DynamicallyQuantized dynamic_quantize(Tensor x) {
  if (!x.valid()) return {x, x, x};
  Builder& b = *x.builder;
  if (x.dtype() != DType::F32) {
    const Tensor none = b.error(concat("dynamic_quantize: x ", described(x), " should be f32"));
    return {none, none, none};
  }
  constexpr float kSteps = 255;
  const Tensor zero = b.scalar(0);
  const auto nearest = [&](Tensor value) { return b.map(Op::Nearest, std::array{value}); };
  const Tensor low = minimum(reduce_min(x, {}, false), zero);
  const Tensor high = maximum(reduce_max(x, {}, false), zero);
  const Tensor range = high - low;
  // All zeros: any scale will do.
  const Tensor scale = select(range == zero, b.scalar(1), range / b.scalar(kSteps));
  const Tensor origin = nearest(clip_by_value(zero - low / scale, 0, kSteps));
  const Tensor y = clip_by_value(nearest(x / scale) + origin, 0, kSteps);
  return {b.cast(y, DType::U8), scale, b.cast(origin, DType::U8)};
}

}  // namespace lathe::ops
