#include "lathe/nn/layers/advanced_activations.h"

#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/activations.h"

namespace lathe::nn {
namespace {

Status check_finite(std::string_view name, double value, double least) {
  if (value >= least && std::isfinite(value)) return {};
  return fail(concat(name, " must be a finite number of at least ", least, ", got ", value));
}

// A layer without weights that works element by element.
class Elementwise : public UnaryLayer {
 public:
  bool supports_masking() const override { return true; }
  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check());
    return UnaryPlan{input, {}};
  }

 protected:
  using UnaryLayer::UnaryLayer;
  virtual Status check() const = 0;
};

class ReLU final : public Elementwise {
 public:
  explicit ReLU(ReLUOptions options) : Elementwise(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "ReLU"; }
  Status check() const override {
    LATHE_TRY(check_finite("maxValue", options_.max_value, 0));
    LATHE_TRY(check_finite("negativeSlope", options_.negative_slope, 0));
    return check_finite("threshold", options_.threshold, 0);
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const auto slope = static_cast<float>(options_.negative_slope);
    const auto threshold = static_cast<float>(options_.threshold);
    Tensor y = ops::relu(x);
    if (slope != 0 || threshold != 0) {
      const Tensor limit = full_like(x, threshold);
      y = select(x >= limit, x, slope * (x - limit));
    }
    if (options_.max_value == 0) return y;
    return minimum(y, full_like(x, static_cast<float>(options_.max_value)));
  }

 private:
  static Tensor full_like(Tensor x, float value) {
    return x.builder->full(x.shape(), scalar::Number::of(value));
  }

  ReLUOptions options_;
};

class LeakyReLU final : public Elementwise {
 public:
  explicit LeakyReLU(const LeakyReLUOptions& options)
      : Elementwise(options), alpha_(options.alpha) {}

  std::string_view class_name() const override { return "LeakyReLU"; }
  Status check() const override { return check_finite("alpha", alpha_, 0); }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return ops::leaky_relu(x, static_cast<float>(alpha_));
  }

 private:
  double alpha_;
};

class PReLU final : public UnaryLayer {
 public:
  explicit PReLU(PReLUOptions options) : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "PReLU"; }
  bool supports_masking() const override { return true; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    Shape shape = input;
    for (const int64_t axis : options_.shared_axes.values) {
      if (axis < 1 || axis > static_cast<int64_t>(input.size())) {
        return fail(concat("sharedAxes ", bracketed(options_.shared_axes.values),
                           " must be axes 1 to ", input.size(), " of ", bracketed(input)));
      }
      shape[axis - 1] = 1;
    }
    return UnaryPlan{input, {{"alpha", std::move(shape), options_.alpha}}};
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    return select(x > zero(x), x, x * weights[0]);
  }

 private:
  PReLUOptions options_;
};

class ELU final : public Elementwise {
 public:
  explicit ELU(const ELUOptions& options) : Elementwise(options), alpha_(options.alpha) {}

  std::string_view class_name() const override { return "ELU"; }
  Status check() const override { return check_finite("alpha", alpha_, 0); }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return ops::elu(x, static_cast<float>(alpha_));
  }

 private:
  double alpha_;
};

class ThresholdedReLU final : public Elementwise {
 public:
  explicit ThresholdedReLU(const ThresholdedReLUOptions& options)
      : Elementwise(options), theta_(options.theta) {}

  std::string_view class_name() const override { return "ThresholdedReLU"; }
  Status check() const override { return check_finite("theta", theta_, 0); }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const Tensor theta = x.builder->full(x.shape(), scalar::Number::of(static_cast<float>(theta_)));
    return select(x > theta, x, zero(x));
  }

 private:
  double theta_;
};

class Softmax final : public UnaryLayer {
 public:
  explicit Softmax(const SoftmaxOptions& options)
      : UnaryLayer(options, options.axis == -1 ? "softmax" : "linear"), axis_(options.axis) {}

  std::string_view class_name() const override { return "Softmax"; }
  bool supports_masking() const override { return true; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    const auto rank = static_cast<int64_t>(input.size()) + 1;
    if ((axis_ >= 1 && axis_ < rank) || (axis_ < 0 && axis_ > -rank)) {
      return UnaryPlan{input, {}};
    }
    return fail(concat("axis must be 1 to ", rank - 1, ", or -1 to ", 1 - rank,
                       " from the end, got ", axis_));
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return axis_ == -1 ? x : ops::softmax(x, axis_);
  }

 private:
  int32_t axis_;
};

}  // namespace

LayerPtr relu(ReLUOptions options) { return std::make_shared<ReLU>(std::move(options)); }
LayerPtr leaky_relu(LeakyReLUOptions options) { return std::make_shared<LeakyReLU>(options); }
LayerPtr prelu(PReLUOptions options) { return std::make_shared<PReLU>(std::move(options)); }
LayerPtr elu(ELUOptions options) { return std::make_shared<ELU>(options); }
LayerPtr thresholded_relu(ThresholdedReLUOptions options) {
  return std::make_shared<ThresholdedReLU>(options);
}
LayerPtr softmax(SoftmaxOptions options) { return std::make_shared<Softmax>(options); }

}  // namespace lathe::nn
