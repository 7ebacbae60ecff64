#include "lathe/ops/tfjs_adapters.h"

#include "lathe/base/text.h"
#include "lathe/ops/nn/norm.h"

namespace lathe::ops {

namespace {

WindowOptions window(const Shape& strides, Padding padding, const Shape& dilations = {}) {
  return {.strides = strides, .dilations = dilations, .padding = padding};
}

}  // namespace

Tensor convolution(Tensor x, Tensor filter, const Shape& strides, Padding padding,
                   const Shape& dilations) {
  return conv(x, filter, {window(strides, padding, dilations)});
}

Tensor depthwise(Tensor x, Tensor filter, const Shape& strides, Padding padding,
                 const Shape& dilations) {
  return depthwise_conv(x, filter, window(strides, padding, dilations));
}

Tensor transposed(Tensor x, Tensor filter, const Shape& shape, const Shape& strides,
                  Padding padding) {
  if (!x.valid() || !filter.valid()) return {x.builder, {}};
  const int64_t batch = x.rank() > 0 ? x.shape()[0] : 0;
  const int64_t channels = filter.rank() > 1 ? filter.shape()[filter.shape().size() - 2] : 0;
  if (static_cast<int>(shape.size()) != x.rank() || shape.size() < 3 || shape.front() != batch ||
      shape.back() != channels) {
    return x.builder->error(concat(
        "conv_transpose: the output shape ", bracketed(shape), " must be [", batch, ", spatial…, ",
        channels, "] for x ", bracketed(x.shape()), " and filter ", bracketed(filter.shape())));
  }
  return conv_transpose(x, filter, window(strides, padding), {shape.begin() + 1, shape.end() - 1});
}

Tensor pool_max(Tensor x, const Shape& size, const Shape& strides, Padding padding) {
  return max_pool(x, size, window(strides, padding));
}

Tensor pool_average(Tensor x, const Shape& size, const Shape& strides, Padding padding) {
  return average_pool(x, size, window(strides, padding));
}

Tensor normalize(Tensor x, Tensor mean, Tensor variance, Tensor offset, Tensor scale,
                 float epsilon) {
  return batch_norm(x, {mean, variance}, scale, offset, epsilon);
}

}  // namespace lathe::ops
