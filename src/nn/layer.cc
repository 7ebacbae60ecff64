#include "nn/layer.h"

#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/text.h"
#include "nn/optimizer.h"
#include "nn/random.h"
#include "nn/regularizer.h"

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

void Context::note_result(const Choice& activity_regularizer, Tensor y) {
  if (!y.valid()) return;
  graph::Builder& builder = *y.builder;
  std::vector<int> axes(y.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (trace_.watches) {
    const Tensor finite = absolute(y) <= builder.scalar(std::numeric_limits<float>::max());
    trace_.watched.emplace_back(layer_, builder.reduce(graph::Op::And, finite, axes));
  }
  if (activity_regularizer.empty() || !trace_.trains) return;
  const auto regularizer = find_regularizer(activity_regularizer);
  CHECK(regularizer);
  Shape column(y.shape().size(), 1);
  column.front() = y.shape().front();
  const Tensor present = builder.reshape(trace_.present, column);
  const Tensor rows = maximum(sum(trace_.present, {0}), builder.scalar(1));
  add_loss(penalty(*regularizer, y * present) / rows);
}

ops::RandomKey Context::random_key(graph::Builder& builder, const Seed& seed) {
  const auto word = [&](uint32_t bits) {
    return builder.full({}, scalar::Number::of(static_cast<int32_t>(bits)));
  };
  const uint64_t wide = seed.value.value_or(trace_.seed);
  const uint32_t number = static_cast<uint32_t>(trace_.random_keys++);
  const uint64_t stream = hash(layer_);
  return {word(static_cast<uint32_t>(wide ^ wide >> 32)),
          word(static_cast<uint32_t>(stream ^ stream >> 32) + number),
          builder.cast(builder.state(kStepCount, graph::DType::F32, {}), graph::DType::I32)};
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
