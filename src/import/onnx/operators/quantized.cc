#include "lathe/import/onnx/operators/quantized.h"

#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/operators/narrow_floats.h"
#include "lathe/import/onnx/operators/reductions.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx {

namespace {

bool is_zero(Tensor x) {
  const graph::Node& node = x.builder->graph()[x.value];
  return node.kind == graph::Kind::Constant &&
         std::ranges::all_of(node.data, [](std::byte each) { return each == std::byte{}; });
}

struct Range {
  double low, high;
};

Range range_of(Type type) {
  const int bits = bits_of(type);
  const bool is_signed = scalar::is_signed(dtype_of(type));
  const double count = std::ldexp(1, bits);
  return is_signed ? Range{-count / 2, count / 2 - 1} : Range{0, count - 1};
}

Tensor repeated(Tensor parameter, size_t axis, int64_t block, const Shape& shape) {
  Builder& builder = *parameter.builder;
  Shape spaced = parameter.shape(), spread, merged = spaced;
  spaced.insert(spaced.begin() + static_cast<int64_t>(axis) + 1, 1);
  spread = spaced;
  spread[axis + 1] = block;
  merged[axis] *= block;
  const Tensor all =
      builder.reshape(builder.broadcast_to(builder.reshape(parameter, spaced), spread), merged);
  return ops::slice(all, Shape(shape.size(), 0), shape);
}

}  // namespace

Result<Tensor> broadcast_parameter(Call& call, Tensor x, Tensor parameter, int64_t axis,
                                   int64_t block_size) {
  Builder& builder = *x.builder;
  const Shape actual = parameter.shape(), shape = x.shape();
  if (graph::element_count(actual) == 1) return builder.reshape(parameter, {});
  LATHE_ASSIGN_OR_RETURN(const int axis_index, call.axis(axis, x.rank()));
  const auto at = static_cast<size_t>(axis_index);
  if (block_size <= 0) {
    Shape along(shape.size(), 1);
    along[at] = shape[at];
    if (actual != Shape{shape[at]}) {
      return call.reject(concat("a scale or zero point ", bracketed(actual),
                                " is not one number or ", shape[at], ", for axis ", axis_index,
                                " of x ", bracketed(shape)));
    }
    return builder.reshape(parameter, along);
  }
  Shape expected = shape;
  expected[at] = shape[at] / block_size + (shape[at] % block_size != 0 ? 1 : 0);
  if (actual != expected) {
    return call.reject(concat("a scale or zero point ", bracketed(actual), " must be ",
                              bracketed(expected), " for blocks of ", block_size, " of x ",
                              bracketed(shape)));
  }
  return repeated(parameter, at, block_size, shape);
}

Tensor minus_zero_point(Tensor x, Tensor zero_point) {
  if (!x.valid() || !zero_point.valid() || is_zero(zero_point)) return x;
  const DType dtype = scalar::size_of(x.dtype()) == 1 ? DType::I16 : DType::I32;
  return cast_to(x, dtype) - cast_to(zero_point, dtype);
}

Tensor quantize(Tensor x, Tensor scale, Tensor zero_point, Type type) {
  const Tensor ratio = cast_to(x / scale, DType::F32);
  if (is_stored_as_bits(type)) {
    const Tensor shifted = zero_point.valid() ? ratio + widened(zero_point, type) : ratio;
    return narrowed(shifted, type);
  }
  Builder& builder = *x.builder;
  Tensor rounded = builder.loose(map(Op::Nearest, ratio));
  if (zero_point.valid()) rounded = rounded + cast_to(zero_point, DType::F32);
  const auto [low, high] = range_of(type);
  rounded = minimum(maximum(rounded, number_like(rounded, low)), number_like(rounded, high));
  return builder.loose(builder.cast(rounded, dtype_of(type)));
}

Tensor dequantize(Tensor x, Tensor scale, Tensor zero_point) {
  Tensor wide = cast_to(x, DType::F32);
  if (zero_point.valid()) wide = wide - cast_to(zero_point, DType::F32);
  return wide * cast_to(scale, DType::F32);
}

DynamicallyQuantized dynamic_quantize(Call& call, Tensor x) {
  call.tracer().mark_joint_quantization();
  std::vector<int> all(x.shape().size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
  const Tensor none = number_like(x, 0);
  const Tensor high = maximum(none, reduced(call, Op::Max, x, all, false));
  const Tensor low = minimum(none, reduced(call, Op::Min, x, all, false));
  const Tensor span = high - low;
  const Tensor scale = select(span == zero(span), number_like(x, 1), span / 255.0f);
  const Tensor begin = -low / scale;
  const Tensor bounded = maximum(none, minimum(number_like(x, 255), begin));
  const Tensor zero_point = cast_to(map(Op::Nearest, bounded), DType::U8);
  return {quantize(x, scale, zero_point, Type::UInt8), scale, zero_point};
}

}  // namespace lathe::onnx
