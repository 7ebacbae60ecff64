#include "lathe/nn/layers/activation.h"

#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/elementwise/arithmetic.h"

namespace lathe::nn {
namespace {

class Activation final : public UnaryLayer {
 public:
  explicit Activation(ActivationOptions options) : UnaryLayer(options, options.activation) {}

  std::string_view class_name() const override { return "Activation"; }
  bool supports_masking() const override { return true; }
  Result<UnaryPlan> plan(const Shape& input) const override { return UnaryPlan{input, {}}; }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override { return x; }
};

}  // namespace

LayerPtr activation(ActivationOptions options) {
  return std::make_shared<Activation>(std::move(options));
}

Tensor apply_activation(const Chosen<ActivationKind>& activation, Tensor x) {
  float p[kMaxParameters];
  for (size_t i = 0; i < kMaxParameters; ++i) p[i] = static_cast<float>(activation.parameters[i]);
  switch (activation.kind) {
#define APPLY(...) __VA_ARGS__
#define LATHE_ACTIVATION(name_, text_, apply_, parameters_) \
  case ActivationKind::name_:                               \
    return apply_;
#include "lathe/nn/tables.def"
#undef APPLY
  }
  return x;
}

}  // namespace lathe::nn
