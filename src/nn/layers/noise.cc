#include "lathe/nn/layers/noise.h"

#include <cmath>

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/random.h"

namespace lathe::nn {
namespace {

// Bernoulli mask: 1 with probability 1 - rate, else 0.
Tensor bernoulli_mask(graph::Builder& builder, Context& context, const Seed& seed, Shape shape,
                      double rate) {
  const Tensor chance = ops::uniform_numbers(context.random_key(builder, seed), std::move(shape));
  return builder.cast(chance >= builder.scalar(static_cast<float>(rate)), graph::DType::F32);
}

// An input of shape [batch, …] -> [batch, …] of the decisions.
Shape noise_shape_of(const Sizes& noise_shape, Shape shape) {
  for (size_t axis = 0; axis < noise_shape.values.size(); ++axis) {
    if (noise_shape.values[axis] == 1) shape[axis] = 1;
  }
  return shape;
}

Status check_noise_shape(const Sizes& noise_shape, const Shape& input) {
  if (noise_shape.empty()) return {};
  bool fits = noise_shape.values.size() == input.size() + 1;
  for (size_t axis = 0; fits && axis < noise_shape.values.size(); ++axis) {
    const int64_t size = noise_shape.values[axis];
    fits = size == -1 || size == 1 || (axis == 0 ? size > 1 : size == input[axis - 1]);
  }
  if (fits) return {};
  return fail(concat("noiseShape ", bracketed(noise_shape.values),
                     " must be the batch and the axes of ", bracketed(input),
                     ", each -1, its size or 1"));
}

// What the classes share: no weights, and nothing to do while the model does not train.
template <class Options>
class Noise : public UnaryLayer {
 public:
  explicit Noise(Options options) : UnaryLayer(options), options_(std::move(options)) {}

  bool supports_masking() const override { return true; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check(input));
    return UnaryPlan{input, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context& context) const override {
    return context.trains() ? disturbed(x, context) : x;
  }

 protected:
  virtual Status check(const Shape& input) const = 0;
  virtual Tensor disturbed(Tensor x, Context& context) const = 0;

  ops::RandomKey key(Tensor x, Context& context) const {
    return context.random_key(*x.builder, options_.seed);
  }

  Options options_;
};

class Dropout final : public Noise<DropoutOptions> {
 public:
  using Noise::Noise;
  std::string_view class_name() const override { return "Dropout"; }

 protected:
  Status check(const Shape& input) const override {
    LATHE_TRY(check_rate("rate", options_.rate));
    return check_noise_shape(options_.noise_shape, input);
  }
  Tensor disturbed(Tensor x, Context& context) const override {
    if (options_.rate == 0) return x;
    const Shape shape = noise_shape_of(options_.noise_shape, x.shape());
    return x * dropout_mask(*x.builder, context, options_.seed, shape, options_.rate);
  }
};

class SpatialDropout1D final : public Noise<SpatialDropout1DOptions> {
 public:
  using Noise::Noise;
  std::string_view class_name() const override { return "SpatialDropout1D"; }

 protected:
  Status check(const Shape& input) const override {
    LATHE_TRY(check_rate("rate", options_.rate));
    if (input.size() == 2) return {};
    return fail(concat("expects examples [steps,channels], got ", bracketed(input)));
  }
  Tensor disturbed(Tensor x, Context& context) const override {
    if (options_.rate == 0) return x;
    const Shape shape = {x.shape()[0], 1, x.shape()[2]};
    return x * dropout_mask(*x.builder, context, options_.seed, shape, options_.rate);
  }
};

class GaussianNoise final : public Noise<GaussianNoiseOptions> {
 public:
  using Noise::Noise;
  std::string_view class_name() const override { return "GaussianNoise"; }

 protected:
  Status check(const Shape&) const override {
    if (options_.stddev >= 0 && std::isfinite(options_.stddev)) return {};
    return fail(concat("stddev must be a finite number, at least 0, got ", options_.stddev));
  }
  Tensor disturbed(Tensor x, Context& context) const override {
    const auto deviation = static_cast<float>(options_.stddev);
    return x + ops::normal_numbers(key(x, context), x.shape()) * deviation;
  }
};

// Where every element would be dropped, mean-preserving noise has no deviation: as in
// TensorFlow.js, rate 1 changes nothing.
Status check_full_rate(double rate) { return rate == 1 ? Status{} : check_rate("rate", rate); }

class GaussianDropout final : public Noise<GaussianDropoutOptions> {
 public:
  using Noise::Noise;
  std::string_view class_name() const override { return "GaussianDropout"; }

 protected:
  Status check(const Shape&) const override { return check_full_rate(options_.rate); }
  Tensor disturbed(Tensor x, Context& context) const override {
    if (options_.rate == 0 || options_.rate == 1) return x;
    const auto deviation = static_cast<float>(std::sqrt(options_.rate / (1 - options_.rate)));
    return x * (ops::normal_numbers(key(x, context), x.shape()) * deviation + 1.0f);
  }
};

class AlphaDropout final : public Noise<AlphaDropoutOptions> {
 public:
  using Noise::Noise;
  std::string_view class_name() const override { return "AlphaDropout"; }

 protected:
  Status check(const Shape& input) const override {
    LATHE_TRY(check_full_rate(options_.rate));
    return check_noise_shape(options_.noise_shape, input);
  }
  Tensor disturbed(Tensor x, Context& context) const override {
    if (options_.rate == 0 || options_.rate == 1) return x;
    constexpr double kLimit = -double{ops::kSeluAlpha} * ops::kSeluScale;
    const double rate = options_.rate;
    const double scale = 1 / std::sqrt((1 - rate) * (1 + rate * kLimit * kLimit));
    const Tensor mask = bernoulli_mask(*x.builder, context, options_.seed,
                                       noise_shape_of(options_.noise_shape, x.shape()), rate);
    const Tensor mixed = x * mask + (1.0f - mask) * static_cast<float>(kLimit);
    return mixed * static_cast<float>(scale) - static_cast<float>(scale * kLimit * rate);
  }
};

}  // namespace

Status check_rate(std::string_view name, double rate) {
  if (rate >= 0 && rate < 1) return {};
  return fail(concat(name, " must be a number from 0 to below 1, got ", rate));
}

Tensor dropout_mask(graph::Builder& builder, Context& context, const Seed& seed, Shape shape,
                    double rate) {
  return bernoulli_mask(builder, context, seed, std::move(shape), rate) *
         static_cast<float>(1 / (1 - rate));
}

LayerPtr dropout(DropoutOptions options) { return std::make_shared<Dropout>(std::move(options)); }
LayerPtr spatial_dropout1d(SpatialDropout1DOptions options) {
  return std::make_shared<SpatialDropout1D>(std::move(options));
}
LayerPtr gaussian_noise(GaussianNoiseOptions options) {
  return std::make_shared<GaussianNoise>(std::move(options));
}
LayerPtr gaussian_dropout(GaussianDropoutOptions options) {
  return std::make_shared<GaussianDropout>(std::move(options));
}
LayerPtr alpha_dropout(AlphaDropoutOptions options) {
  return std::make_shared<AlphaDropout>(std::move(options));
}

}  // namespace lathe::nn
