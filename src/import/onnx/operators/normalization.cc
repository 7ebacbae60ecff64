// Normalization operators of ONNX: by moments of axes, by statistics, by norms. float16 is
// computed in f32.
#include <cmath>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/nn/norm.h"
#include "lathe/ops/random.h"

namespace lathe::onnx::rows {

namespace {

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> axes(std::max(rank - first, 0));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// [c] as [c, 1, …], to go with [n, c, spatial…].
Tensor by_channel(Tensor vector, int rank) {
  if (!vector.valid()) return vector;
  Shape shape(std::max(rank - 1, 1), 1);
  shape[0] = graph::element_count(vector.shape());
  return vector.builder->reshape(vector, std::move(shape));
}

Tensor multiply_add(Tensor x, Tensor factor, Tensor addend) {
  return x.builder->map(Op::MulAdd, {{x, factor, addend}});
}

// (x - mean) / sqrt(variance + epsilon) over the axes.
Tensor normalized(Tensor x, const std::vector<int>& axes, double epsilon) {
  const auto [mean, variance] = ops::moments(x, axes, true);
  return (x - mean) / sqrt(variance + number_like(x, epsilon));
}

// In floats, with the statistics [c]; one multiplication and addition where they are constants.
Tensor by_statistics(Tensor x, ops::Moments statistics, Tensor scale, Tensor offset,
                     double epsilon) {
  const Tensor deviation = sqrt(statistics.variance + number_like(x, epsilon));
  const Tensor factor = scale / deviation;
  const Tensor addend = offset - statistics.mean * factor;
  const int rank = x.rank();
  return multiply_add(x, by_channel(factor, rank), by_channel(addend, rank));
}

Result<Values> needs(const Call& call, std::string_view what) {
  return call.reject(concat("needs ", what, "; x is ", bracketed(call.shape(0))));
}

}  // namespace

Result<Values> batch_normalization(Call& call) {
  if (call.rank(0) < 1 || call.operands() < 5) return needs(call, "x and four vectors");
  const Tensor x = call.tensor(0);
  Tensor wide = in_floats(x);
  // Before version 9: each element of a row for itself.
  if (call.int_of("spatial", 1) == 0) wide = wide.builder->reshape(wide, {x.shape()[0], -1});
  const auto vector = [&](size_t i) { return cast_like(call.tensor(i), wide); };
  const Tensor scale = vector(1), offset = vector(2), mean = vector(3), variance = vector(4);
  const double epsilon = call.float_of("epsilon", 1e-5f);
  const bool trains =
      call.version() < 14 ? call.results() > 1 : call.int_of("training_mode", 0) != 0;
  if (!trains) {
    const Tensor y = by_statistics(wide, {mean, variance}, scale, offset, epsilon);
    return Values{cast_like(y.builder->reshape(y, x.shape()), x)};
  }
  std::vector<int> axes = axes_from(1, x.rank());
  if (!axes.empty()) axes[0] = 0;
  if (axes.empty()) axes = {0};
  const ops::Moments moments_x = ops::moments(wide, axes);
  const float momentum = call.float_of("momentum", 0.9f);
  const auto running = [&](Tensor before, Tensor now) {
    return cast_like(momentum * before + (1 - momentum) * now, call.tensor(3));
  };
  Values results{cast_like(by_statistics(wide, moments_x, scale, offset, epsilon), x),
                 running(mean, moments_x.mean), running(variance, moments_x.variance)};
  if (call.version() < 14) {
    results.emplace_back(cast_like(moments_x.mean, x));
    results.emplace_back(cast_like(moments_x.variance, x));
  }
  return results;
}

Result<Values> instance_normalization(Call& call) {
  if (call.rank(0) < 3) return needs(call, "x [n, c, spatial…]");
  const Tensor x = call.tensor(0), wide = in_floats(x);
  const int rank = x.rank();
  const Tensor scale = by_channel(cast_like(call.tensor(1), wide), rank);
  const Tensor offset = by_channel(cast_like(call.tensor(2), wide), rank);
  const Tensor y = normalized(wide, axes_from(2, rank), call.float_of("epsilon", 1e-5f));
  return Values{cast_like(multiply_add(y, scale, offset), x)};
}

// Before version 21 scale and bias have an element for each group, then for each channel.
Result<Values> group_normalization(Call& call) {
  const Shape shape = call.shape(0);
  const int64_t groups = call.int_of("num_groups", 0);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    return needs(call, concat("x [n, c, …] whose channels divide into ", groups, " groups"));
  }
  const Tensor x = call.tensor(0), wide = in_floats(x);
  Builder& builder = *x.builder;
  Shape split{shape[0], groups, shape[1] / groups};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  const int rank = static_cast<int>(split.size());
  const auto spread = [&](size_t i) {
    const Tensor vector = cast_like(call.tensor(i), wide);
    Shape by(split.size(), 1);
    by[1] = groups;
    if (call.version() >= 21) by[2] = split[2];
    return builder.reshape(vector, by);
  };
  const Tensor rows = builder.reshape(wide, split);
  const Tensor y = normalized(rows, axes_from(2, rank), call.float_of("epsilon", 1e-5f));
  const Tensor scale = spread(1), offset = spread(2);
  return Values{cast_like(builder.reshape(multiply_add(y, scale, offset), shape), x)};
}

// The mean and the inverse deviation are the other results.
Result<Values> layer_normalization(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -1), call.rank(0)));
  const Tensor x = call.tensor(0), wide = in_floats(x);
  const std::vector<int> axes = axes_from(axis, x.rank());
  const auto [mean, variance] = ops::moments(wide, axes, true);
  const Tensor inverse = 1.0f / sqrt(variance + number_like(wide, call.float_of("epsilon", 1e-5f)));
  Tensor y = (wide - mean) * inverse;
  y = y * cast_like(call.tensor(1), wide);
  if (call.has(2)) y = y + cast_like(call.tensor(2), wide);
  return Values{cast_like(y, x), mean, inverse};
}

// com.microsoft names the last of it SimplifiedLayerNormalization.
Result<Values> rms_normalization(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -1), call.rank(0)));
  const Tensor x = call.tensor(0), wide = in_floats(x);
  const Tensor square = graph::mean(wide * wide, axes_from(axis, x.rank()), true);
  const Tensor inverse = 1.0f / sqrt(square + number_like(wide, call.float_of("epsilon", 1e-5f)));
  const Tensor scale = call.tensor(1);
  const Tensor y = cast_like(wide * inverse, scale) * scale;
  return Values{y, inverse};
}

Result<Values> mean_variance_normalization(Call& call) {
  std::vector<int> axes;
  for (const int64_t each : call.ints_of("axes", {0, 2, 3})) {
    LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(each, call.rank(0)));
    axes.push_back(axis);
  }
  const Tensor x = call.tensor(0), wide = in_floats(x);
  const auto [mean, variance] = ops::moments(wide, axes, true);
  const Tensor y = (wide - mean) / (sqrt(variance) + number_like(wide, 1e-9));
  return Values{cast_like(y, x)};
}

Result<Values> lp_normalization(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -1), call.rank(0)));
  const int64_t p = call.int_of("p", 2);
  if (p != 1 && p != 2) return call.reject(concat("p must be 1 or 2, not ", p));
  const Tensor x = call.tensor(0), wide = in_floats(x);
  const Tensor norm =
      p == 1 ? sum(absolute(wide), {axis}, true) : sqrt(sum(wide * wide, {axis}, true));
  // Where all is zero it stays so.
  const Tensor is_zero = map(Op::Eq, norm, zero(norm));
  return Values{cast_like(wide / select(is_zero, number_like(norm, 1), norm), x)};
}

// Each element by a power of 1 + the mean of squares of the channels around it.
Result<Values> local_response_normalization(Call& call) {
  const Tensor x = call.tensor(0), wide = in_floats(x);
  const int64_t size = call.int_of("size", 0);
  const int rank = x.rank();
  if (rank < 2 || size < 1) return needs(call, "x [n, c, …] and a size of at least 1");
  // [n, c, size, …]: channel c + k - (size - 1) / 2.
  Shape shape = x.shape();
  shape.insert(shape.begin() + 2, size);
  std::vector<int> dimensions{0, 1};
  for (int k = 2; k < rank; ++k) dimensions.push_back(k + 1);
  graph::AffineMap map = graph::AffineMap::project(rank + 1, dimensions);
  map.axes[1].coefficients[2] = 1;
  map.axes[1].offset = -((size - 1) / 2);
  const Tensor squares =
      sum(x.builder->reindex(wide * wide, std::move(map), std::move(shape)), {2});
  const double share =
      static_cast<double>(call.float_of("alpha", 1e-4f)) / static_cast<double>(size);
  const Tensor base =
      number_like(wide, call.float_of("bias", 1)) + number_like(wide, share) * squares;
  const double beta = call.float_of("beta", 0.75f);
  return Values{cast_like(wide * power(base, number_like(base, -beta)), x)};
}

// Elements that stay are divided by the probability that they do; 1 in the mask.
Result<Values> dropout(Call& call) {
  const Tensor x = call.tensor(0);
  const Shape shape = x.shape();
  Builder& builder = *x.builder;
  double ratio = call.float_of("ratio", 0.5f);
  bool trains = false;
  if (call.version() >= 12 && call.has(2)) {
    LATHE_ASSIGN_OR_RETURN(const int64_t mode, call.integer(2));
    trains = mode != 0;
  }
  if (call.version() >= 12 && trains) {
    if (call.has(1)) {
      LATHE_ASSIGN_OR_RETURN(ratio, call.number(1));
    }
    if (!(ratio >= 0 && ratio < 1)) {
      return call.reject(concat("ratio must be in [0, 1), is ", ratio));
    }
  }
  if (!trains || ratio == 0) {
    return Values{x, builder.full(shape, scalar::Number::of(true))};
  }
  if (call.tracer().depends_on_length(call.operand(0))) return call.reject_length();
  const auto seed = static_cast<int32_t>(call.int_of("seed", 0));
  const Tensor drawn = ops::random_uniform(builder.full({}, scalar::Number::of(seed)), shape, 0, 1);
  const Tensor stays = drawn >= number_like(drawn, ratio);
  const Tensor y = select(stays, x, zero(x)) * number_like(x, 1 / (1 - ratio));
  return Values{y, stays};
}

}  // namespace lathe::onnx::rows
