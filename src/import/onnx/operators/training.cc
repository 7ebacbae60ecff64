// Optimizer steps of ai.onnx.preview.training. Their operands are the learning rate, the step
// index, all tensors, all their gradients, and then the optimizer states.
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/operators.h"

namespace lathe::onnx::rows {

using graph::Builder;

namespace {

// Tensor k of group g, of `groups` after the rate and the step.
struct Groups {
  Call& call;
  size_t groups, count;
  Tensor rate, step;  // both F32, without axes

  Tensor of(size_t group, size_t k) const { return call.tensor(2 + group * count + k); }
};

Result<Groups> groups_of(Call& call, size_t groups) {
  if (call.operands() < 2 + groups || (call.operands() - 2) % groups != 0) {
    return call.reject(
        concat("its inputs are not a rate, a step and ", groups, " for each tensor"));
  }
  Builder& builder = call.builder();
  const auto number = [&](size_t i) {
    return builder.cast(builder.reshape(call.tensor(i), {}), DType::F32);
  };
  const Tensor rate = number(0), step = number(1);
  return Groups{call, groups, (call.operands() - 2) / groups, rate, step};
}

Tensor regularized(const Groups& groups, size_t k) {
  const float norm = groups.call.float_of("norm_coefficient", 0);
  return groups.of(0, k) * norm + groups.of(1, k);
}

Tensor is_first(const Tensor& step) { return step <= zero(step); }

}  // namespace

Result<Values> adagrad(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Groups groups, groups_of(call, 3));
  const float decay = call.float_of("decay_factor", 0), epsilon = call.float_of("epsilon", 0);
  const Tensor rate = groups.rate / (1.0f + groups.step * decay);
  Values tensors, squares;
  for (size_t k = 0; k < groups.count; ++k) {
    const Tensor gradient = regularized(groups, k);
    const Tensor square = groups.of(2, k) + gradient * gradient;
    tensors.emplace_back(groups.of(0, k) - rate * gradient / (graph::sqrt(square) + epsilon));
    squares.emplace_back(square);
  }
  tensors.insert(tensors.end(), squares.begin(), squares.end());
  return tensors;
}

Result<Values> adam(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Groups groups, groups_of(call, 4));
  const float alpha = call.float_of("alpha", 0.9f), beta = call.float_of("beta", 0.999f);
  const float epsilon = call.float_of("epsilon", 0),
              post = call.float_of("norm_coefficient_post", 0);
  const auto power = [&](float base) { return exp(groups.step * std::log(base)); };
  const Tensor adjusted = groups.rate * graph::sqrt(1.0f - power(beta)) / (1.0f - power(alpha));
  const Tensor rate = select(is_first(groups.step), groups.rate, adjusted);
  Values tensors, means, squares;
  for (size_t k = 0; k < groups.count; ++k) {
    const Tensor gradient = regularized(groups, k);
    const Tensor mean = alpha * groups.of(2, k) + (1 - alpha) * gradient;
    const Tensor square = beta * groups.of(3, k) + (1 - beta) * (gradient * gradient);
    const Tensor next = groups.of(0, k) - rate * mean / (graph::sqrt(square) + epsilon);
    tensors.emplace_back((1 - post) * next);
    means.emplace_back(mean);
    squares.emplace_back(square);
  }
  tensors.insert(tensors.end(), means.begin(), means.end());
  tensors.insert(tensors.end(), squares.begin(), squares.end());
  return tensors;
}

Result<Values> momentum(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Groups groups, groups_of(call, 3));
  const float alpha = call.float_of("alpha", 0), beta = call.float_of("beta", 0);
  LATHE_ASSIGN_OR_RETURN(const auto mode, call.choice_of("mode", {"standard", "nesterov"}));
  const bool is_nesterov = mode == "nesterov";
  const Tensor one = call.builder().scalar(1), usual = call.builder().scalar(beta);
  const Tensor share = select(is_first(groups.step), one, usual);
  Values tensors, momenta;
  for (size_t k = 0; k < groups.count; ++k) {
    const Tensor gradient = regularized(groups, k);
    const Tensor next = alpha * groups.of(2, k) + share * gradient;
    const Tensor way = is_nesterov ? gradient + alpha * next : next;
    tensors.emplace_back(groups.of(0, k) - groups.rate * way);
    momenta.emplace_back(next);
  }
  tensors.insert(tensors.end(), momenta.begin(), momenta.end());
  return tensors;
}

}  // namespace lathe::onnx::rows
