#include "nn/optimizer.h"

#include "base/check.h"
#include "base/text.h"

namespace lathe::nn {
namespace {

using graph::Builder;
using graph::DType;
using graph::Tensor;

// What the columns SLOTS and POWERS of a row say.
struct Keeps {
  std::vector<std::string_view> slots;
  std::vector<size_t> powers;  // indices of parameters
};

Keeps keeps(OptimizerKind kind) {
  switch (kind) {
#define SLOTS(...) \
  { __VA_ARGS__ }
#define POWERS(...) \
  { __VA_ARGS__ }
#define OPTIMIZER(name_, text_, slots_, powers_, ...) \
  case OptimizerKind::name_:                          \
    return {slots_, powers_};
#include "nn/tables.def"
#undef SLOTS
#undef POWERS
  }
  return {};
}

std::string power_name(OptimizerKind kind, size_t parameter) {
  return concat("optimizer/", optimizers()[static_cast<size_t>(kind)].parameters()[parameter].name,
                "_power");
}

std::string slot_name(std::string_view slot, std::string_view weight) {
  return concat("optimizer/", slot, '/', weight);
}

Chosen<InitializerKind> starts_at(double value) { return {InitializerKind::Constant, {value}}; }

// One weight in one step: everything its formula reads, and what it becomes.
struct Step {
  Tensor weight, gradient, learning_rate;
  std::vector<Tensor> slots, powers;
  std::vector<Tensor> new_slots;
  Tensor new_weight;
};

void sgd(const Chosen<OptimizerKind>&, Step& s) {
  s.new_weight = s.weight - s.learning_rate * s.gradient;
}

void momentum(const Chosen<OptimizerKind>& optimizer, Step& s) {
  const float momentum = static_cast<float>(optimizer.parameters[1]);
  const bool use_nesterov = optimizer.parameters[2] != 0;
  const Tensor accumulation = momentum * s.slots[0] + s.gradient;
  const Tensor direction = use_nesterov ? s.gradient + momentum * accumulation : accumulation;
  s.new_slots = {accumulation};
  s.new_weight = s.weight - s.learning_rate * direction;
}

// Kingma, Ba, "Adam: a method for stochastic optimization", 2015; epsilon is added outside the
// root.
void adam(const Chosen<OptimizerKind>& optimizer, Step& s) {
  const auto [rate, beta1, beta2, epsilon] = optimizer.parameters;
  const Tensor m =
      static_cast<float>(beta1) * s.slots[0] + static_cast<float>(1 - beta1) * s.gradient;
  const Tensor v = static_cast<float>(beta2) * s.slots[1] +
                   static_cast<float>(1 - beta2) * (s.gradient * s.gradient);
  const Tensor mean = m / (1.0f - s.powers[0]);
  const Tensor deviation = graph::sqrt(v / (1.0f - s.powers[1]));
  s.new_slots = {m, v};
  s.new_weight = s.weight - s.learning_rate * (mean / (deviation + static_cast<float>(epsilon)));
}

void apply(const Chosen<OptimizerKind>& optimizer, Step& step) {
  switch (optimizer.kind) {
    case OptimizerKind::Sgd:
      return sgd(optimizer, step);
    case OptimizerKind::Momentum:
      return momentum(optimizer, step);
    case OptimizerKind::Adam:
      return adam(optimizer, step);
  }
}

}  // namespace

std::vector<Variable> optimizer_variables(const Chosen<OptimizerKind>& optimizer,
                                          std::span<const Variable> weights) {
  const Keeps kept = keeps(optimizer.kind);
  std::vector<Variable> variables;
  variables.push_back({std::string(kLearningRate), {}, starts_at(optimizer.parameters[0])});
  variables.push_back({"optimizer/step", {}, starts_at(0)});
  for (const size_t parameter : kept.powers) {
    variables.push_back(
        {power_name(optimizer.kind, parameter), {}, starts_at(optimizer.parameters[parameter])});
  }
  for (const std::string_view slot : kept.slots) {
    for (const Variable& weight : weights) {
      variables.push_back({slot_name(slot, weight.name), weight.shape, starts_at(0)});
    }
  }
  return variables;
}

void add_optimizer_step(Builder& builder, const Chosen<OptimizerKind>& optimizer,
                        std::span<const Variable> weights, std::span<const Tensor> gradients) {
  CHECK(weights.size() == gradients.size());
  const Keeps kept = keeps(optimizer.kind);
  const Tensor rate = builder.state(kLearningRate, DType::F32, {});
  std::vector<Tensor> powers;
  for (const size_t parameter : kept.powers) {
    powers.push_back(builder.state(power_name(optimizer.kind, parameter), DType::F32, {}));
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const Variable& weight = weights[i];
    Step step{builder.state(weight.name, DType::F32, weight.shape),
              gradients[i],
              rate,
              {},
              powers,
              {},
              {}};
    for (const std::string_view slot : kept.slots) {
      step.slots.push_back(builder.state(slot_name(slot, weight.name), DType::F32, weight.shape));
    }
    apply(optimizer, step);
    builder.update(step.weight, step.new_weight);
    for (size_t k = 0; k < step.slots.size(); ++k) builder.update(step.slots[k], step.new_slots[k]);
  }
  for (size_t i = 0; i < powers.size(); ++i) {
    const float base = static_cast<float>(optimizer.parameters[kept.powers[i]]);
    builder.update(powers[i], base * powers[i]);
  }
  const Tensor step_count = builder.state("optimizer/step", DType::F32, {});
  builder.update(step_count, step_count + 1.0f);
}

}  // namespace lathe::nn
