#include "lathe/nn/initializer.h"

#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/nn/random.h"

namespace lathe::nn {
namespace {

enum class Law : uint8_t {
  Constant,
  Uniform,
  Normal,
  Truncated,
  Identity,
  Orthogonal,
  SecondQuarter
};

// Constant a; Uniform in [a, b); Normal with mean a, deviation b; Truncated is Normal within two
// deviations; Identity and Orthogonal are a times such a matrix; SecondQuarter is a in the second
// of four equal parts, else 0.
struct Distribution {
  Law law;
  double a, b = 0;
};

Distribution constant(double value) { return {Law::Constant, value}; }
Distribution uniform(double low, double high) { return {Law::Uniform, low, high}; }
Distribution normal(double mean, double deviation) { return {Law::Normal, mean, deviation}; }
Distribution truncated(double mean, double deviation) { return {Law::Truncated, mean, deviation}; }
Distribution identity(double gain) { return {Law::Identity, gain}; }
Distribution orthogonal(double gain) { return {Law::Orthogonal, gain}; }
Distribution second_quarter(double value) { return {Law::SecondQuarter, value}; }

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

// Variance `scale` over the fan of the mode, normally distributed (and truncated) or uniformly.
Distribution scaled(const Fans& fans, double scale, double mode, double spread) {
  const double fan = mode == kFanIn    ? fans.in
                     : mode == kFanOut ? fans.out
                                       : std::max(1.0, (fans.in + fans.out) / 2);
  const double variance = scale / fan;
  if (spread != kUniform) return truncated(0, std::sqrt(variance));
  const double limit = std::sqrt(3 * variance);
  return uniform(-limit, limit);
}

Distribution distribution_of(const Chosen<InitializerKind>& chosen, const graph::Shape& shape) {
  const auto& p = chosen.parameters;
  const Fans fans = fans_of(shape);
  switch (chosen.kind) {
#define LAW(law_) law_
#define LATHE_INITIALIZER(name_, text_, law_, ...) \
  case InitializerKind::name_:                     \
    return law_;
#include "lathe/nn/tables.def"
#undef LAW
  }
  return {};
}

// The seed that the initializer names, or kNoSeed.
double seed_of(const Chosen<InitializerKind>& chosen) {
  const auto parameters = initializers()[static_cast<size_t>(chosen.kind)].parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].range == Range::Seed) return chosen.parameters[i];
  }
  return kNoSeed;
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
    case Law::Identity:
    case Law::Orthogonal:
    case Law::SecondQuarter:
      break;
  }
  return 0;
}

// Every axis but the last is one of the rows.
struct Matrix {
  size_t rows, columns;
};

Matrix matrix_of(const graph::Shape& shape) {
  const auto columns = static_cast<size_t>(shape.back());
  return {static_cast<size_t>(graph::element_count(shape)) / columns, columns};
}

std::vector<float> identity_matrix(const graph::Shape& shape, double gain) {
  const size_t size = matrix_of(shape).columns;
  std::vector<float> content(size * size);
  for (size_t i = 0; i < size; ++i) content[i * size + i] = static_cast<float>(gain);
  return content;
}

// The orthogonal factor of a matrix of normal numbers whose triangular factor has a positive
// diagonal; of a wide matrix the rows are orthogonal. Each vector is cleared of the earlier ones
// twice, which is enough (Giraud, Langou, Rozloznik 2005).
std::vector<float> orthogonal_matrix(const graph::Shape& shape, double gain, RandomStream& stream) {
  const auto [rows, columns] = matrix_of(shape);
  const size_t count = std::min(rows, columns), length = std::max(rows, columns);
  std::vector<double> vectors(count * length);
  for (size_t i = 0; i < vectors.size(); ++i) {
    vectors[i] = normal_quantile(stream.uniform(i));
  }
  const auto dot = [length = length](const double* x, const double* y) {
    double sum = 0;
    for (size_t i = 0; i < length; ++i) sum += x[i] * y[i];
    return sum;
  };
  for (size_t k = 0; k < count; ++k) {
    double* vector = &vectors[k * length];
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t j = 0; j < k; ++j) {
        const double* earlier = &vectors[j * length];
        const double part = dot(vector, earlier);
        for (size_t i = 0; i < length; ++i) vector[i] -= part * earlier[i];
      }
    }
    const double norm = std::sqrt(dot(vector, vector));
    for (size_t i = 0; i < length; ++i) vector[i] /= norm;
  }
  std::vector<float> content(rows * columns);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const size_t at = rows < columns ? row * length + column : column * length + row;
      content[row * columns + column] = static_cast<float>(gain * vectors[at]);
    }
  }
  return content;
}

}  // namespace

Status check_initializer(const Chosen<InitializerKind>& chosen, const graph::Shape& shape) {
  const Law law = distribution_of(chosen, shape).law;
  if (law == Law::Identity && (shape.size() != 2 || shape[0] != shape[1])) {
    return fail(concat("initializer identity needs a square matrix, not ", bracketed(shape)));
  }
  if (law == Law::Orthogonal && shape.size() < 2) {
    return fail(concat("initializer orthogonal needs two axes or more, not ", bracketed(shape)));
  }
  return {};
}

std::vector<float> initial_value(const Variable& variable, uint64_t seed) {
  const Distribution distribution = distribution_of(variable.initializer, variable.shape);
  const double initializer_seed = seed_of(variable.initializer);
  RandomStream stream = initializer_seed == kNoSeed ? RandomStream(seed, variable.name)
                                                    : RandomStream(seed_of(initializer_seed), {});
  if (distribution.law == Law::Identity) return identity_matrix(variable.shape, distribution.a);
  if (distribution.law == Law::Orthogonal) {
    return orthogonal_matrix(variable.shape, distribution.a, stream);
  }
  std::vector<float> content(graph::element_count(variable.shape));
  if (distribution.law == Law::SecondQuarter) {
    const auto part = static_cast<std::ptrdiff_t>(content.size() / 4);
    std::fill_n(content.begin() + part, part, static_cast<float>(distribution.a));
    return content;
  }
  for (size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<float>(draw(distribution, stream, i));
  }
  return content;
}

}  // namespace lathe::nn
