#include "lathe/nn/layers/batch_normalization.h"

#include "lathe/base/text.h"
#include "lathe/ops/nn/norm.h"

namespace lathe::nn {
namespace {

// Over all axes but the last, of the rows that are present.
ops::Moments moments_of_rows(Tensor x, Tensor present) {
  graph::Builder& builder = *x.builder;
  Shape column(x.shape().size(), 1);
  column.front() = x.shape().front();
  std::vector<int> axes;
  int64_t positions = 1;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) {
    axes.push_back(axis);
    if (axis > 0) positions *= x.shape()[axis];
  }
  const Tensor rows = maximum(sum(present, {0}), builder.scalar(1));
  const Tensor weights =
      builder.reshape(present / (rows * static_cast<float>(positions)), std::move(column));
  const Tensor mean = sum(x * weights, axes);
  const Tensor deviation = x - mean;
  return {mean, sum(deviation * deviation * weights, axes)};
}

class BatchNormalization final : public UnaryLayer {
 public:
  explicit BatchNormalization(BatchNormalizationOptions options)
      : UnaryLayer(options), options_(std::move(options)) {
    put_last(options_.axis);
  }

  std::string_view class_name() const override { return "BatchNormalization"; }
  bool supports_masking() const override { return true; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    if (!(options_.momentum >= 0 && options_.momentum <= 1)) {
      return fail(concat("momentum must be a number from 0 to 1, got ", options_.momentum));
    }
    if (!(options_.epsilon >= 0 && options_.epsilon < 1)) {
      return fail(concat("epsilon must be a number from 0 to below 1, got ", options_.epsilon));
    }
    if (input.empty()) return fail(scalar_example_error());
    const Shape shape = {input.back()};
    UnaryPlan plan{input, {}};
    if (options_.scale) plan.weights.push_back({"gamma", shape, options_.gamma});
    if (options_.center) plan.weights.push_back({"beta", shape, options_.beta});
    plan.weights.push_back({"moving_mean", shape, options_.moving_mean_initializer, false});
    plan.weights.push_back({"moving_variance", shape, options_.moving_variance_initializer, false});
    return plan;
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context& context) const override {
    const size_t count = weights.size();
    const ops::Moments moving = {weights[count - 2], weights[count - 1]};
    const Tensor gamma = options_.scale ? weights[0] : Tensor{};
    const Tensor beta = options_.center ? weights[count - 3] : Tensor{};
    const auto epsilon = static_cast<float>(options_.epsilon);
    if (!context.trains() || !context.trainable()) {
      return ops::batch_norm(x, moving, gamma, beta, epsilon);
    }
    const ops::Moments batch = moments_of_rows(x, context.present());
    follow(context, moving.mean, batch.mean);
    follow(context, moving.variance, batch.variance);
    return ops::batch_norm(x, batch, gamma, beta, epsilon);
  }

 private:
  void follow(Context& context, Tensor moving, Tensor value) const {
    const auto decay = static_cast<float>(1 - options_.momentum);
    const Tensor now = context.current(moving);
    context.update(moving, now - (now - value) * decay);
  }

  BatchNormalizationOptions options_;
};

}  // namespace

LayerPtr batch_normalization(BatchNormalizationOptions options) {
  return std::make_shared<BatchNormalization>(std::move(options));
}

}  // namespace lathe::nn
