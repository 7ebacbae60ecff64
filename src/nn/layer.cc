#include "nn/layer.h"

#include "base/text.h"

namespace lathe::nn {

Context Context::within(std::string_view layer, bool trainable) const {
  std::string name = layer_.empty() ? std::string(layer) : concat(layer_, '/', layer);
  return {trace_, std::move(name), trainable_ && trainable};
}

Tensor Context::activated(const Chosen<ActivationKind>& activation, Tensor x) {
  const Tensor y = apply_activation(activation, x);
  if (activation.kind != ActivationKind::Linear) trace_.before_activation[y.value] = x;
  return y;
}

Result<LayerPlan> UnaryLayer::plan_call(std::span<const Shape> inputs) const {
  if (inputs.size() != 1) return fail(concat("takes one input, got ", inputs.size()));
  ASSIGN_OR_RETURN(UnaryPlan found, plan(inputs[0]));
  return LayerPlan{{std::move(found.output)}, std::move(found.weights)};
}

std::vector<Tensor> UnaryLayer::build_call(std::span<const Tensor> inputs,
                                           std::span<const Tensor> weights,
                                           Context& context) const {
  return {inputs[0].valid() ? build(inputs[0], weights, context) : inputs[0]};
}

}  // namespace lathe::nn
