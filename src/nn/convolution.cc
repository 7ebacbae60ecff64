#include "nn/convolution.h"

#include "base/text.h"
#include "ops/conv.h"

namespace lathe::nn {
namespace {

template <class Options>
class Convolution : public UnaryLayer {
 protected:
  explicit Convolution(Options options)
      : UnaryLayer(options, options.activation), options_(std::move(options)) {}

  Result<Window2D> window(const Shape& input) const {
    return window2d(
        "kernelSize",
        {options_.kernel_size, options_.strides, options_.dilation_rate, options_.padding}, input);
  }

  UnaryPlan plan_for(const Window2D& window, int64_t channels, Weight kernel) const {
    UnaryPlan plan{{window.out[0], window.out[1], channels}, {}};
    kernel.shape.insert(kernel.shape.begin(), window.size.begin(), window.size.end());
    plan.weights.push_back(std::move(kernel));
    if (options_.use_bias) plan.weights.push_back({"bias", {channels}, options_.bias_initializer});
    return plan;
  }

  ops::WindowOptions window_options(Tensor x) const {
    const Shape input(x.shape().begin() + 1, x.shape().end());
    const auto found = window(input);
    return found ? found->options : ops::WindowOptions{};
  }

  Tensor add_bias(Tensor y, std::span<const Tensor> weights) const {
    return options_.use_bias ? y + weights[1] : y;
  }

  Options options_;
};

class Conv2D final : public Convolution<Conv2DOptions> {
 public:
  explicit Conv2D(Conv2DOptions options) : Convolution(std::move(options)) {}

  std::string_view class_name() const override { return "Conv2D"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    if (options_.filters < 1) {
      return fail(concat("filters must be a positive integer, got ", options_.filters));
    }
    ASSIGN_OR_RETURN(const Window2D found, window(input));
    return plan_for(found, options_.filters,
                    {"kernel", {input.back(), options_.filters}, options_.kernel_initializer});
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    return add_bias(ops::conv(x, weights[0], {window_options(x)}), weights);
  }
};

class DepthwiseConv2D final : public Convolution<DepthwiseConv2DOptions> {
 public:
  explicit DepthwiseConv2D(DepthwiseConv2DOptions options) : Convolution(std::move(options)) {}

  std::string_view class_name() const override { return "DepthwiseConv2D"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    const int64_t multiplier = options_.depth_multiplier;
    if (multiplier < 1) {
      return fail(concat("depthMultiplier must be a positive integer, got ", multiplier));
    }
    ASSIGN_OR_RETURN(const Window2D found, window(input));
    return plan_for(
        found, input.back() * multiplier,
        {"depthwise_kernel", {input.back(), multiplier}, options_.depthwise_initializer});
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    return add_bias(ops::depthwise_conv(x, weights[0], window_options(x)), weights);
  }
};

}  // namespace

LayerPtr conv2d(Conv2DOptions options) { return std::make_shared<Conv2D>(std::move(options)); }

LayerPtr depthwise_conv2d(DepthwiseConv2DOptions options) {
  return std::make_shared<DepthwiseConv2D>(std::move(options));
}

}  // namespace lathe::nn
