#include "lathe/import/onnx/quantised.h"

#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/eight_bits.h"
#include "lathe/import/onnx/reductions.h"
#include "lathe/import/onnx/spelling.h"
#include "lathe/import/onnx/tracer.h"
#include "lathe/ops/movement.h"

namespace lathe::onnx {

namespace {

bool is_zero(Tensor x) {
  const graph::Node& node = x.builder->graph()[x.value];
  return node.kind == graph::Kind::Constant &&
         std::ranges::all_of(node.data, [](std::byte each) { return each == std::byte{}; });
}

struct Range {
  double least, most;
};

Range range_of(Type type) {
  const int bits = bits_of(type);
  const bool is_signed = scalar::is_signed(dtype_of(type));
  const double count = std::ldexp(1, bits);
  return is_signed ? Range{-count / 2, count / 2 - 1} : Range{0, count - 1};
}

Tensor repeated(Tensor parameter, size_t axis, int64_t block, const Shape& shape) {
  Builder& builder = *parameter.builder;
  Shape spaced = parameter.shape(), spread, whole = spaced;
  spaced.insert(spaced.begin() + static_cast<int64_t>(axis) + 1, 1);
  spread = spaced;
  spread[axis + 1] = block;
  whole[axis] *= block;
  const Tensor all =
      builder.reshape(builder.broadcast_to(builder.reshape(parameter, spaced), spread), whole);
  return ops::slice(all, Shape(shape.size(), 0), shape);
}

}  // namespace

Result<Tensor> beside(Call& call, Tensor x, Tensor parameter, int64_t axis, int64_t block_size) {
  Builder& builder = *x.builder;
  const Shape given = parameter.shape(), shape = x.shape();
  if (graph::element_count(given) == 1) return builder.reshape(parameter, {});
  LATHE_ASSIGN_OR_RETURN(const int place, call.axis(axis, x.rank()));
  const auto at = static_cast<size_t>(place);
  if (block_size <= 0) {
    Shape along(shape.size(), 1);
    along[at] = shape[at];
    if (given != Shape{shape[at]}) {
      return call.refuse(concat("a scale or zero point ", bracketed(given),
                                " is not one number or ", shape[at], ", for axis ", place, " of x ",
                                bracketed(shape)));
    }
    return builder.reshape(parameter, along);
  }
  Shape expected = shape;
  expected[at] = shape[at] / block_size + (shape[at] % block_size != 0 ? 1 : 0);
  if (given != expected) {
    return call.refuse(concat("a scale or zero point ", bracketed(given), " must be ",
                              bracketed(expected), " for blocks of ", block_size, " of x ",
                              bracketed(shape)));
  }
  return repeated(parameter, at, block_size, shape);
}

Tensor centred(Tensor x, Tensor zero_point) {
  if (!x.valid() || !zero_point.valid() || is_zero(zero_point)) return x;
  const DType dtype = scalar::size_of(x.dtype()) == 1 ? DType::I16 : DType::I32;
  return cast_to(x, dtype) - cast_to(zero_point, dtype);
}

Tensor quantised(Tensor x, Tensor scale, Tensor zero_point, Type type) {
  const Tensor ratio = cast_to(x / scale, DType::F32);
  if (holds_bits(type)) {
    const Tensor shifted = zero_point.valid() ? ratio + widened(zero_point, type) : ratio;
    return narrowed(shifted, type);
  }
  Builder& builder = *x.builder;
  Tensor whole = builder.loose(map(Op::Nearest, ratio));
  if (zero_point.valid()) whole = whole + cast_to(zero_point, DType::F32);
  const auto [least, most] = range_of(type);
  whole = minimum(maximum(whole, number_like(whole, least)), number_like(whole, most));
  return builder.loose(builder.cast(whole, dtype_of(type)));
}

Tensor dequantised(Tensor x, Tensor scale, Tensor zero_point) {
  Tensor wide = cast_to(x, DType::F32);
  if (zero_point.valid()) wide = wide - cast_to(zero_point, DType::F32);
  return wide * cast_to(scale, DType::F32);
}

Dynamic dynamically(Call& call, Tensor x) {
  call.tracer().mix_rows();
  std::vector<int> all(x.shape().size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
  const Tensor none = number_like(x, 0);
  const Tensor most = maximum(none, folded(call, Op::Max, x, all, false));
  const Tensor least = minimum(none, folded(call, Op::Min, x, all, false));
  const Tensor span = most - least;
  const Tensor scale = select(span == zero(span), number_like(x, 1), span / 255.0f);
  const Tensor begin = -least / scale;
  const Tensor bounded = maximum(none, minimum(number_like(x, 255), begin));
  const Tensor zero_point = cast_to(map(Op::Nearest, bounded), DType::U8);
  return {quantised(x, scale, zero_point, Type::UInt8), scale, zero_point};
}

}  // namespace lathe::onnx
