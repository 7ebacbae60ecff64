#include "lathe/nn/training/optimizer.h"

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/nn/regularizer.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::nn {
namespace {

using graph::Builder;
using graph::DType;
using graph::Tensor;

// The columns SLOTS and POWERS of a row; numbers are indices of parameters.
struct Slot {
  std::string_view name;
  int start = -1, enabled_by = -1;
};
struct StateSpec {
  std::vector<Slot> slots;
  std::vector<size_t> powers;
};

StateSpec all_states(OptimizerKind kind) {
  switch (kind) {
#define SLOTS(...) \
  { __VA_ARGS__ }
#define POWERS(...) \
  { __VA_ARGS__ }
#define LATHE_OPTIMIZER(name_, text_, slots_, powers_, ...) \
  case OptimizerKind::name_:                                \
    return {slots_, powers_};
#include "lathe/nn/tables.def"
#undef SLOTS
#undef POWERS
  }
  return {};
}

// Without the slots that these parameters do not need.
StateSpec state_spec(const Chosen<OptimizerKind>& optimizer) {
  StateSpec spec = all_states(optimizer.kind);
  std::erase_if(spec.slots, [&](const Slot& slot) {
    return slot.enabled_by >= 0 && optimizer.parameters[slot.enabled_by] == 0;
  });
  return spec;
}

std::string power_name(OptimizerKind kind, size_t parameter) {
  return concat("optimizer/", optimizers()[static_cast<size_t>(kind)].parameters()[parameter].name,
                "_power");
}

std::string slot_name(std::string_view slot, std::string_view weight) {
  return concat("optimizer/", slot, '/', weight);
}

Chosen<InitializerKind> starts_at(double value) { return {InitializerKind::Constant, {value}}; }

// One weight in one step: the inputs of its update rule, and the new values.
struct Step {
  Tensor weight, gradient, learning_rate, count;  // `count`: steps before this one
  std::array<float, kMaxParameters> p{};
  std::vector<Tensor> corrections, slots, new_slots;
  Tensor new_weight;
};

// The mean of old and new, weighted by this share of the old.
Tensor moving(float share, Tensor old, Tensor now) { return share * old + (1 - share) * now; }

void sgd(Step& s) { s.new_weight = s.weight - s.learning_rate * s.gradient; }

void momentum(Step& s) {
  const bool use_nesterov = s.p[2] != 0;
  const Tensor accumulation = s.p[1] * s.slots[0] + s.gradient;
  const Tensor direction = use_nesterov ? s.gradient + s.p[1] * accumulation : accumulation;
  s.new_slots = {accumulation};
  s.new_weight = s.weight - s.learning_rate * direction;
}

// Duchi, Hazan, Singer, "Adaptive subgradient methods", 2011.
void adagrad(Step& s) {
  const Tensor accumulator = s.slots[0] + s.gradient * s.gradient;
  s.new_slots = {accumulator};
  s.new_weight = s.weight - s.learning_rate * (s.gradient / graph::sqrt(accumulator + s.p[2]));
}

// Zeiler, "ADADELTA: an adaptive learning rate method", 2012; as TensorFlow.js it divides by the
// mean before this step.
void adadelta(Step& s) {
  const float rho = s.p[1], epsilon = s.p[2];
  const Tensor update =
      graph::sqrt(s.slots[1] + epsilon) / graph::sqrt(s.slots[0] + epsilon) * s.gradient;
  s.new_slots = {moving(rho, s.slots[0], s.gradient * s.gradient),
                 moving(rho, s.slots[1], update * update)};
  s.new_weight = s.weight - s.learning_rate * update;
}

// Kingma, Ba, "Adam: a method for stochastic optimization", 2015; epsilon is added outside the
// root.
void adam(Step& s) {
  const Tensor m = moving(s.p[1], s.slots[0], s.gradient);
  const Tensor v = moving(s.p[2], s.slots[1], s.gradient * s.gradient);
  const Tensor deviation = graph::sqrt(v * s.corrections[1]);
  s.new_slots = {m, v};
  s.new_weight = s.weight - s.corrections[0] * m / (deviation + s.p[3]);
}

// Section 7.1 of the same paper.
void adamax(Step& s) {
  const Tensor m = moving(s.p[1], s.slots[0], s.gradient);
  const Tensor v = maximum(s.p[2] * s.slots[1], absolute(s.gradient));
  const Tensor rate = s.corrections[0] / (1.0f + s.p[4] * s.count);
  s.new_slots = {m, v};
  s.new_weight = s.weight - rate * (m / (v + s.p[3]));
}

// Tieleman, Hinton, lecture 6.5 of "Neural networks for machine learning", 2012. Centered, epsilon
// is added as elsewhere: TensorFlow.js subtracts it and computes roots of negative numbers.
void rms_prop(Step& s) {
  const float decay = s.p[1], share = s.p[2], epsilon = s.p[3];
  const bool centered = s.p[4] != 0;
  const Tensor square = moving(decay, s.slots[0], s.gradient * s.gradient);
  s.new_slots = {square};
  Tensor variance = square;
  Tensor mean;
  if (centered) {
    mean = moving(decay, s.slots.back(), s.gradient);
    variance = maximum(square - mean * mean, zero(square));
  }
  Tensor update = s.learning_rate * s.gradient / graph::sqrt(variance + epsilon);
  if (share != 0) {
    update = share * s.slots[1] + update;
    s.new_slots.push_back(update);
  }
  if (centered) s.new_slots.push_back(mean);
  s.new_weight = s.weight - update;
}

void apply(OptimizerKind kind, Step& step) {
  switch (kind) {
    case OptimizerKind::Sgd:
      return sgd(step);
    case OptimizerKind::Momentum:
      return momentum(step);
    case OptimizerKind::Adagrad:
      return adagrad(step);
    case OptimizerKind::Adadelta:
      return adadelta(step);
    case OptimizerKind::Adam:
    case OptimizerKind::AdamW:
      return adam(step);
    case OptimizerKind::Adamax:
      return adamax(step);
    case OptimizerKind::RmsProp:
      return rms_prop(step);
  }
}

Tensor sum_of_squares(Tensor x) { return ops::reduce_sum(x * x, std::nullopt, false); }

// x scaled so that its norm, the root of `square`, is no more than `max_norm`.
Tensor clip_by_norm(Tensor x, Tensor square, float max_norm) {
  return x * (max_norm / maximum(graph::sqrt(square), x.builder->scalar(max_norm)));
}

std::vector<Tensor> clipped(const Chosen<OptimizerKind>& optimizer,
                            std::span<const Tensor> gradients) {
  const auto limit = [&](OptimizerOption option) {
    return static_cast<float>(option_of(optimizer, option));
  };
  std::vector<Tensor> result(gradients.begin(), gradients.end());
  if (const float bound = limit(OptimizerOption::ClipValue); bound > 0) {
    for (Tensor& each : result) each = ops::clip_by_value(each, -bound, bound);
  }
  if (const float bound = limit(OptimizerOption::ClipNorm); bound > 0) {
    for (Tensor& each : result) each = clip_by_norm(each, sum_of_squares(each), bound);
  }
  if (const float bound = limit(OptimizerOption::GlobalClipNorm); bound > 0 && !result.empty()) {
    Tensor square = sum_of_squares(result[0]);
    for (size_t i = 1; i < result.size(); ++i) square = square + sum_of_squares(result[i]);
    for (Tensor& each : result) each = clip_by_norm(each, square, bound);
  }
  return result;
}

}  // namespace

Status check_optimizer(const Chosen<OptimizerKind>& optimizer) {
  int limits = 0;
  for (const auto option :
       {OptimizerOption::ClipValue, OptimizerOption::ClipNorm, OptimizerOption::GlobalClipNorm}) {
    limits += option_of(optimizer, option) > 0;
  }
  if (limits < 2) return {};
  return fail("clipValue, clipNorm and globalClipNorm of an optimizer exclude each other");
}

std::vector<Variable> optimizer_variables(const Chosen<OptimizerKind>& optimizer,
                                          std::span<const Variable> weights) {
  const StateSpec spec = state_spec(optimizer);
  std::vector<Variable> variables;
  variables.push_back({std::string(kLearningRate), {}, starts_at(optimizer.parameters[0])});
  variables.push_back({std::string(kStepCount), {}, starts_at(0)});
  for (const size_t parameter : spec.powers) {
    variables.push_back(
        {power_name(optimizer.kind, parameter), {}, starts_at(optimizer.parameters[parameter])});
  }
  for (const Slot& slot : spec.slots) {
    const double start = slot.start < 0 ? 0 : optimizer.parameters[slot.start];
    for (const Variable& weight : weights) {
      variables.push_back({slot_name(slot.name, weight.name), weight.shape, starts_at(start)});
    }
  }
  return variables;
}

StepNumbers step_numbers(Builder& builder, const Chosen<OptimizerKind>& optimizer) {
  StepNumbers numbers;
  numbers.rate = builder.state(kLearningRate, DType::F32, {});
  for (const size_t parameter : state_spec(optimizer).powers) {
    const Tensor power = builder.state(power_name(optimizer.kind, parameter), DType::F32, {});
    numbers.powers.push_back(power);
    const Tensor one = builder.scalar(1);
    numbers.corrections.push_back((numbers.corrections.empty() ? numbers.rate : one) /
                                  (one - power));
  }
  return numbers;
}

void add_optimizer_step(Builder& builder, const Chosen<OptimizerKind>& optimizer,
                        const StepNumbers& numbers, std::span<const Variable> weights,
                        std::span<const Tensor> gradients) {
  LATHE_CHECK(weights.size() == gradients.size());
  const StateSpec spec = state_spec(optimizer);
  const auto& [rate, powers, corrections] = numbers;
  const Tensor count = builder.state(kStepCount, DType::F32, {});
  const auto decay = static_cast<float>(option_of(optimizer, OptimizerOption::WeightDecay));
  const std::string_view name = optimizers()[static_cast<size_t>(optimizer.kind)].name;
  Step step;
  step.learning_rate = rate;
  step.corrections = corrections;
  step.count = count;
  for (size_t i = 0; i < step.p.size(); ++i)
    step.p[i] = static_cast<float>(optimizer.parameters[i]);
  const std::vector<Tensor> clipped_gradients = clipped(optimizer, gradients);
  for (size_t i = 0; i < weights.size(); ++i) {
    const Variable& variable = weights[i];
    const size_t slash = variable.name.rfind('/');
    builder.begin_part("update", variable.name.substr(0, slash));
    builder.begin_equation(concat(variable.name.substr(slash + 1), ": ", name));
    const Tensor weight = builder.state(variable.name, DType::F32, variable.shape);
    step.weight = decay > 0 ? weight - weight * (rate * decay) : weight;
    step.gradient = clipped_gradients[i];
    step.slots.clear();
    for (const Slot& slot : spec.slots) {
      step.slots.push_back(
          builder.state(slot_name(slot.name, variable.name), DType::F32, variable.shape));
    }
    apply(optimizer.kind, step);
    builder.update(weight, variable.constraint ? constrained(*variable.constraint, step.new_weight)
                                               : step.new_weight);
    for (size_t k = 0; k < step.slots.size(); ++k) builder.update(step.slots[k], step.new_slots[k]);
  }
  for (size_t i = 0; i < powers.size(); ++i) {
    builder.update(powers[i], step.p[spec.powers[i]] * powers[i]);
  }
  builder.update(count, count + 1.0f);
}

}  // namespace lathe::nn
