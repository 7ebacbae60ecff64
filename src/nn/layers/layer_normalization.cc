#include "lathe/nn/layers/layer_normalization.h"

#include <algorithm>

#include "lathe/base/sort.h"
#include "lathe/base/text.h"
#include "lathe/ops/nn/norm.h"

namespace lathe::nn {
namespace {

class LayerNormalization final : public UnaryLayer {
 public:
  explicit LayerNormalization(LayerNormalizationOptions options)
      : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "LayerNormalization"; }
  bool supports_masking() const override { return true; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    if (!(options_.epsilon >= 0 && options_.epsilon < 1)) {
      return fail(concat("epsilon must be a number from 0 to below 1, got ", options_.epsilon));
    }
    const int rank = static_cast<int>(input.size()) + 1;
    const std::vector<int> axes = axes_of(rank);
    const bool repeated = std::ranges::adjacent_find(axes) != axes.end();
    if (axes.empty() || repeated || axes.front() < 1 || axes.back() >= rank) {
      return fail(concat("axis ", bracketed(options_.axis.values),
                         " must be different ones of 1 to ", rank - 1,
                         ", or negative from the end, for examples of shape ", bracketed(input)));
    }
    Shape shape;
    for (const int axis : axes) shape.push_back(input[axis - 1]);
    UnaryPlan plan{input, {}};
    if (options_.scale) plan.weights.push_back({"gamma", shape, options_.gamma});
    if (options_.center) plan.weights.push_back({"beta", shape, options_.beta});
    return plan;
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    const std::vector<int> axes = axes_of(x.rank());
    const auto epsilon = static_cast<float>(options_.epsilon);
    const Tensor gamma = options_.scale ? weights.front() : Tensor{};
    const Tensor beta = options_.center ? weights.back() : Tensor{};
    if (axes == std::vector{x.rank() - 1}) return ops::layer_norm(x, gamma, beta, epsilon);
    Shape shape(x.shape().size(), 1);
    for (const int axis : axes) {
      shape[axis] = x.shape()[axis];
    }
    const ops::Moments moments = ops::moments(x, axes, true);
    Tensor y = (x - moments.mean) * (1.0f / sqrt(moments.variance + epsilon));
    if (options_.scale) y = y * x.builder->reshape(gamma, shape);
    return options_.center ? y + x.builder->reshape(beta, shape) : y;
  }

 private:
  std::vector<int> axes_of(int rank) const {
    std::vector<int> axes;
    for (const int64_t axis : options_.axis.values) {
      axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    }
    sort_ascending(axes);
    return axes;
  }

  LayerNormalizationOptions options_;
};

}  // namespace

LayerPtr layer_normalization(LayerNormalizationOptions options) {
  return std::make_shared<LayerNormalization>(std::move(options));
}

}  // namespace lathe::nn
