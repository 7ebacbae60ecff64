#include "lathe/nn/layers/convolution.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/ops/windows/conv.h"

namespace lathe::nn {
namespace {

Status check_positive(std::string_view name, int64_t value) {
  if (value >= 1) return {};
  return fail(concat(name, " must be a positive integer, got ", value));
}

Shape example_of(Tensor x) { return {x.shape().begin() + 1, x.shape().end()}; }

Shape with_channels(Shape spatial, int64_t channels) {
  spatial.push_back(channels);
  return spatial;
}

template <class Options>
class Convolution : public UnaryLayer {
 public:
  Convolution(std::string_view class_name, size_t axes, Options options)
      : UnaryLayer(options, options.activation),
        options_(std::move(options)),
        axes_(axes),
        class_name_(class_name) {}

  std::string_view class_name() const override { return class_name_; }

 protected:
  Result<Window> window_on(const Shape& input) const {
    return window(
        axes_, "kernelSize",
        {options_.kernel_size, options_.strides, options_.dilation_rate, options_.padding}, input);
  }

  Weight kernel(std::string name, const Shape& size, std::initializer_list<int64_t> channels,
                const WeightOptions& options) const {
    Shape shape = size;
    shape.insert(shape.end(), channels);
    return {std::move(name), std::move(shape), options};
  }

  UnaryPlan plan_of(Shape spatial, int64_t channels, std::vector<Weight> kernels) const {
    if (options_.use_bias) kernels.push_back({"bias", {channels}, options_.bias});
    return {with_channels(std::move(spatial), channels), std::move(kernels)};
  }

  ops::WindowOptions window_options(Tensor x) const {
    const auto found = window_on(example_of(x));
    return found ? found->options : ops::WindowOptions{};
  }

  Tensor add_bias(Tensor y, std::span<const Tensor> weights) const {
    return options_.use_bias ? y + weights.back() : y;
  }

  Options options_;
  size_t axes_;
  std::string_view class_name_;
};

class Conv final : public Convolution<ConvOptions> {
 public:
  using Convolution::Convolution;

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_positive("filters", options_.filters));
    LATHE_ASSIGN_OR_RETURN(const Window found, window_on(input));
    return plan_of(
        found.out, options_.filters,
        {kernel("kernel", found.size, {input.back(), options_.filters}, options_.kernel)});
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    return add_bias(ops::conv(x, weights[0], {window_options(x)}), weights);
  }
};

class ConvTranspose final : public Convolution<ConvOptions> {
 public:
  using Convolution::Convolution;

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_positive("filters", options_.filters));
    LATHE_ASSIGN_OR_RETURN(const Window found, window_back(input));
    return plan_of(
        found.out, options_.filters,
        {kernel("kernel", found.size, {options_.filters, input.back()}, options_.kernel)});
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    const auto found = window_back(example_of(x));
    if (!found) return x.builder->error(found.error().message);
    return add_bias(ops::conv_transpose(x, weights[0], found->options, found->out), weights);
  }

 private:
  // The window of the convolution that leads back, and what it leads back from.
  Result<Window> window_back(const Shape& input) const {
    LATHE_TRY(check_spatial(axes_, input));
    if (!std::ranges::all_of(options_.dilation_rate.values, [](int64_t d) { return d == 1; })) {
      return fail(concat("dilationRate must be 1, got ", bracketed(options_.dilation_rate.values)));
    }
    Window found;
    LATHE_ASSIGN_OR_RETURN(found.size, one_per_axis(axes_, "kernelSize", options_.kernel_size));
    LATHE_ASSIGN_OR_RETURN(found.options.strides, one_per_axis(axes_, "strides", options_.strides));
    const auto padding = ops::find_padding(options_.padding);
    if (!padding) {
      return fail(concat("padding must be \"valid\" or \"same\", got \"",
                         options_.padding.substr(0, 60), '"'));
    }
    found.options.padding = *padding;
    for (size_t i = 0; i < axes_; ++i) {
      const int64_t stride = found.options.strides[i];
      const int64_t beyond = std::max<int64_t>(found.size[i] - stride, 0);
      found.out.push_back(input[i] * stride + (*padding == ops::Padding::Same ? 0 : beyond));
    }
    return found;
  }
};

class DepthwiseConv2D final : public Convolution<DepthwiseConv2DOptions> {
 public:
  using Convolution::Convolution;

  Result<UnaryPlan> plan(const Shape& input) const override {
    const int64_t multiplier = options_.depth_multiplier;
    LATHE_TRY(check_positive("depthMultiplier", multiplier));
    LATHE_ASSIGN_OR_RETURN(const Window found, window_on(input));
    return plan_of(
        found.out, input.back() * multiplier,
        {kernel("depthwise_kernel", found.size, {input.back(), multiplier}, options_.depthwise)});
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    return add_bias(ops::depthwise_conv(x, weights[0], window_options(x)), weights);
  }
};

class SeparableConv2D final : public Convolution<SeparableConv2DOptions> {
 public:
  using Convolution::Convolution;

  Result<UnaryPlan> plan(const Shape& input) const override {
    const int64_t multiplier = options_.depth_multiplier, channels = input.back();
    LATHE_TRY(check_positive("filters", options_.filters));
    LATHE_TRY(check_positive("depthMultiplier", multiplier));
    LATHE_ASSIGN_OR_RETURN(const Window found, window_on(input));
    return plan_of(
        found.out, options_.filters,
        {kernel("depthwise_kernel", found.size, {channels, multiplier}, options_.depthwise),
         kernel("pointwise_kernel", {1, 1}, {channels * multiplier, options_.filters},
                options_.pointwise)});
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    const Tensor depthwise = ops::depthwise_conv(x, weights[0], window_options(x));
    return add_bias(ops::conv(depthwise, weights[1]), weights);
  }
};

}  // namespace

LayerPtr conv1d(ConvOptions options) {
  return std::make_shared<Conv>("Conv1D", 1, std::move(options));
}
LayerPtr conv2d(ConvOptions options) {
  return std::make_shared<Conv>("Conv2D", 2, std::move(options));
}
LayerPtr conv3d(ConvOptions options) {
  return std::make_shared<Conv>("Conv3D", 3, std::move(options));
}

LayerPtr conv2d_transpose(ConvOptions options) {
  return std::make_shared<ConvTranspose>("Conv2DTranspose", 2, std::move(options));
}
LayerPtr conv3d_transpose(ConvOptions options) {
  return std::make_shared<ConvTranspose>("Conv3DTranspose", 3, std::move(options));
}

LayerPtr depthwise_conv2d(DepthwiseConv2DOptions options) {
  return std::make_shared<DepthwiseConv2D>("DepthwiseConv2D", 2, std::move(options));
}

LayerPtr separable_conv2d(SeparableConv2DOptions options) {
  return std::make_shared<SeparableConv2D>("SeparableConv2D", 2, std::move(options));
}

}  // namespace lathe::nn
