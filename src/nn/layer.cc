#include "lathe/nn/layer.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "lathe/base/check.h"
#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/nn/random.h"
#include "lathe/nn/regularizer.h"

namespace lathe::nn {
namespace {

constexpr std::string_view kSeed = "random/seed";

}  // namespace

Tensor Context::current(Tensor state) const {
  const auto at = state_.updates.find(state.value);
  return at == state_.updates.end() ? state : at->second;
}

void Context::update(Tensor state, Tensor value) { state_.updates[state.value] = value; }

Context Context::within(std::string_view layer, bool trainable) const {
  std::string name = layer_.empty() ? std::string(layer) : concat(layer_, '/', layer);
  return {state_, std::move(name), trainable_ && trainable};
}

Tensor Context::activated(const Chosen<ActivationKind>& activation, Tensor x) {
  if (x.valid())
    x.builder->begin_equation(activations()[static_cast<size_t>(activation.kind)].name);
  const Tensor y = apply_activation(activation, x);
  if (activation.kind != ActivationKind::Linear) state_.before_activation[y.value] = x;
  return y;
}

void Context::note_result(const Choice& activity_regularizer, Tensor y) {
  if (!y.valid()) return;
  graph::Builder& builder = *y.builder;
  std::vector<int> axes(y.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (state_.checks_finite) {
    const Tensor finite = absolute(y) <= builder.scalar(std::numeric_limits<float>::max());
    state_.finite_results.emplace_back(layer_, builder.reduce(graph::Op::And, finite, axes));
  }
  if (activity_regularizer.empty() || !state_.trains) return;
  const auto regularizer = find_regularizer(activity_regularizer);
  LATHE_CHECK(regularizer);
  Shape column(y.shape().size(), 1);
  column.front() = y.shape().front();
  const Tensor present = builder.reshape(state_.present, column);
  const Tensor rows = maximum(sum(state_.present, {0}), builder.scalar(1));
  add_loss(penalty(*regularizer, y * present) / rows);
}

ops::RandomKey Context::random_key(graph::Builder& builder, const Seed& seed) {
  const auto word = [&](uint32_t bits) {
    return builder.full({}, scalar::Number::of(static_cast<int32_t>(bits)));
  };
  const uint64_t wide = seed.value.value_or(state_.seed);
  const uint32_t number = static_cast<uint32_t>(state_.random_keys++);
  const uint64_t stream = hash(layer_);
  Tensor word_of_seed = word(static_cast<uint32_t>(wide ^ wide >> 32));
  if (state_.advances_seed) {
    const Tensor moved = builder.state(kSeed, graph::DType::F32, {});
    word_of_seed = word_of_seed + builder.cast(moved, graph::DType::I32);
  }
  return {word_of_seed, word(static_cast<uint32_t>(stream ^ stream >> 32) + number),
          builder.cast(builder.state(kStepCount, graph::DType::F32, {}), graph::DType::I32)};
}

Tensor Context::layer_state(graph::Builder& builder, std::string_view name, Shape shape) const {
  return builder.state(concat(kStatesPrefix, layer_, '/', name), graph::DType::F32,
                       std::move(shape));
}

std::string scalar_example_error() {
  return "expects examples of one axis or more, got [], a scalar per example; a preceding layer "
         "can "
         "retain an axis of size 1, as sum(-1, true) does, or reshape its result to [batch, 1]";
}

Result<LayerPlan> UnaryLayer::plan_call(std::span<const Shape> inputs) const {
  if (inputs.size() != 1) return fail(concat("expects one input, got ", inputs.size()));
  Shape input = inputs[0];
  LATHE_ASSIGN_OR_RETURN(const ptrdiff_t axis, last_axis(input.size()));
  if (axis > 0) {
    const int64_t size = input[axis - 1];
    input.erase(input.begin() + axis - 1);
    input.push_back(size);
  }
  LATHE_ASSIGN_OR_RETURN(UnaryPlan found, plan(input));
  if (axis > 0 && found.output.size() == input.size()) {
    const int64_t size = found.output.back();
    found.output.pop_back();
    insert_at(found.output, axis - 1, size);
  }
  return LayerPlan{{std::move(found.output)}, std::move(found.weights)};
}

std::vector<Tensor> UnaryLayer::build_call(std::span<const Tensor> inputs,
                                           std::span<const Tensor> weights,
                                           Context& context) const {
  Tensor x = inputs[0];
  if (!x.valid()) return {x};
  const int rank = x.rank();
  const auto axis = last_axis(static_cast<size_t>(rank - 1));
  if (!axis || *axis == 0) return {build(x, weights, context)};
  std::vector<int> there(rank);
  std::iota(there.begin(), there.end(), 0);
  std::vector<int> back = there;
  there.erase(there.begin() + *axis);
  there.push_back(static_cast<int>(*axis));
  back.pop_back();
  insert_at(back, *axis, rank - 1);
  const Tensor y = build(x.builder->permute(x, there), weights, context);
  return {y.valid() && y.rank() == rank ? y.builder->permute(y, back) : y};
}

Result<ptrdiff_t> UnaryLayer::last_axis(size_t rank) const {
  const auto axes = static_cast<ptrdiff_t>(rank);
  ptrdiff_t axis = last_axis_ < 0 ? last_axis_ + axes + 1 : last_axis_;
  if (same_name(data_format_, "channelsFirst")) {
    axis = std::min<ptrdiff_t>(1, axes);
  } else if (!data_format_.empty() && !same_name(data_format_, "channelsLast")) {
    return fail(concat("dataFormat must be \"channelsFirst\" or \"channelsLast\", got \"",
                       data_format_.substr(0, 60), '"'));
  }
  if (axis >= std::min<ptrdiff_t>(1, axes) && axis <= axes) return axis == axes ? 0 : axis;
  return fail(
      concat("axis must be 1 to ", axes, ", or -1 to ", -axes, " from the end, got ", last_axis_));
}

}  // namespace lathe::nn
