// Steps of optimisers, of ai.onnx.preview.training. Their operands are the rate, the number of the
// step, all tensors, all their gradients, and then what each rule keeps.
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators.h"

namespace lathe::onnx::rows {

using graph::Builder;

namespace {

// Tensor number k of group number g, of `groups` behind the rate and the step.
struct Groups {
  Call& call;
  size_t groups, count;
  Tensor rate, step;  // both F32, without axes

  Tensor of(size_t group, size_t k) const { return call.tensor(2 + group * count + k); }
};

Result<Groups> groups_of(Call& call, size_t groups) {
  if (call.operands() < 2 + groups || (call.operands() - 2) % groups != 0) {
    return call.refuse(
        concat("its inputs are not a rate, a step and ", groups, " for each tensor"));
  }
  Builder& builder = call.builder();
  const auto number = [&](size_t i) {
    return builder.cast(builder.reshape(call.tensor(i), {}), DType::F32);
  };
  const Tensor rate = number(0), step = number(1);
  return Groups{call, groups, (call.operands() - 2) / groups, rate, step};
}

Tensor regularised(const Groups& groups, size_t k) {
  const float norm = groups.call.float_of("norm_coefficient", 0);
  return groups.of(0, k) * norm + groups.of(1, k);
}

Tensor is_first(const Tensor& step) { return step <= zero(step); }

}  // namespace

Result<Values> adagrad(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Groups given, groups_of(call, 3));
  const float decay = call.float_of("decay_factor", 0), epsilon = call.float_of("epsilon", 0);
  const Tensor rate = given.rate / (1.0f + given.step * decay);
  Values tensors, squares;
  for (size_t k = 0; k < given.count; ++k) {
    const Tensor gradient = regularised(given, k);
    const Tensor square = given.of(2, k) + gradient * gradient;
    tensors.emplace_back(given.of(0, k) - rate * gradient / (graph::sqrt(square) + epsilon));
    squares.emplace_back(square);
  }
  tensors.insert(tensors.end(), squares.begin(), squares.end());
  return tensors;
}

Result<Values> adam(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Groups given, groups_of(call, 4));
  const float alpha = call.float_of("alpha", 0.9f), beta = call.float_of("beta", 0.999f);
  const float epsilon = call.float_of("epsilon", 0),
              post = call.float_of("norm_coefficient_post", 0);
  const auto power = [&](float base) { return exp(given.step * std::log(base)); };
  const Tensor adjusted = given.rate * graph::sqrt(1.0f - power(beta)) / (1.0f - power(alpha));
  const Tensor rate = select(is_first(given.step), given.rate, adjusted);
  Values tensors, means, squares;
  for (size_t k = 0; k < given.count; ++k) {
    const Tensor gradient = regularised(given, k);
    const Tensor mean = alpha * given.of(2, k) + (1 - alpha) * gradient;
    const Tensor square = beta * given.of(3, k) + (1 - beta) * (gradient * gradient);
    const Tensor next = given.of(0, k) - rate * mean / (graph::sqrt(square) + epsilon);
    tensors.emplace_back((1 - post) * next);
    means.emplace_back(mean);
    squares.emplace_back(square);
  }
  tensors.insert(tensors.end(), means.begin(), means.end());
  tensors.insert(tensors.end(), squares.begin(), squares.end());
  return tensors;
}

Result<Values> momentum(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Groups given, groups_of(call, 3));
  const float alpha = call.float_of("alpha", 0), beta = call.float_of("beta", 0);
  LATHE_ASSIGN_OR_RETURN(const auto mode, call.choice_of("mode", {"standard", "nesterov"}));
  const bool looks_ahead = mode == "nesterov";
  const Tensor one = call.builder().scalar(1), usual = call.builder().scalar(beta);
  const Tensor share = select(is_first(given.step), one, usual);
  Values tensors, momenta;
  for (size_t k = 0; k < given.count; ++k) {
    const Tensor gradient = regularised(given, k);
    const Tensor next = alpha * given.of(2, k) + share * gradient;
    const Tensor way = looks_ahead ? gradient + alpha * next : next;
    tensors.emplace_back(given.of(0, k) - given.rate * way);
    momenta.emplace_back(next);
  }
  tensors.insert(tensors.end(), momenta.begin(), momenta.end());
  return tensors;
}

}  // namespace lathe::onnx::rows
