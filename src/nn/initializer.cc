#include "nn/initializer.h"

#include <algorithm>
#include <cmath>

#include "nn/random.h"

namespace lathe::nn {
namespace {

enum class Law : uint8_t { Constant, Uniform, Normal, Truncated };

struct Distribution {
  Law law;
  double a, b;
};

// Inputs and outputs of one unit, as Keras counts them: all axes but the last two are a window.
struct Fans {
  double in, out;
};

Fans fans_of(const graph::Shape& shape) {
  if (shape.size() < 2) {
    const double root = std::sqrt(static_cast<double>(graph::element_count(shape)));
    return {std::max(1.0, root), std::max(1.0, root)};
  }
  double window = 1;
  for (size_t axis = 0; axis + 2 < shape.size(); ++axis) window *= static_cast<double>(shape[axis]);
  return {std::max(1.0, window * static_cast<double>(shape[shape.size() - 2])),
          std::max(1.0, window * static_cast<double>(shape.back()))};
}

Distribution distribution_of(const Chosen<InitializerKind>& chosen, const graph::Shape& shape) {
  const auto& p = chosen.parameters;
  const auto [in, out] = fans_of(shape);
  switch (chosen.kind) {
#define LAW(law_, a_, b_) \
  { Law::law_, a_, b_ }
#define INITIALIZER(name_, text_, law_, ...) \
  case InitializerKind::name_:               \
    return law_;
#include "nn/tables.def"
#undef LAW
  }
  return {};
}

// Phi(-2), the part of a standard normal variable below two deviations.
constexpr double kBelowTwo = 0.022750131948179212;

double draw(const Distribution& d, RandomStream& stream, uint64_t index) {
  switch (d.law) {
    case Law::Constant:
      return d.a;
    case Law::Uniform:
      return d.a + (d.b - d.a) * stream.uniform(index);
    case Law::Normal:
      return d.a + d.b * normal_quantile(stream.uniform(index));
    case Law::Truncated:
      return d.a + d.b * normal_quantile(kBelowTwo + (1 - 2 * kBelowTwo) * stream.uniform(index));
  }
  return 0;
}

}  // namespace

std::vector<float> initial_value(const Variable& variable, uint64_t seed) {
  const Distribution distribution = distribution_of(variable.initializer, variable.shape);
  RandomStream stream(seed, variable.name);
  std::vector<float> content(graph::element_count(variable.shape));
  for (size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<float>(draw(distribution, stream, i));
  }
  return content;
}

}  // namespace lathe::nn
