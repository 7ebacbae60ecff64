#include "lathe/ops/spectral.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "lathe/base/text.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Shape;

namespace {

// Transforms up to this length are one product; up to the second also those of primes.
constexpr int64_t kLongestProduct = 256, kLongestPrime = 1024;

Tensor constant(Builder& builder, Shape shape, const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return builder.constant(DType::F32, std::move(shape),
                          {bytes, bytes + values.size() * sizeof(float)});
}

// e^(sign 2πi jk/n) for j < rows and k < columns.
Complex roots(Builder& builder, int64_t rows, int64_t columns, int64_t n, double sign) {
  std::vector<float> cosines, sines;
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t k = 0; k < columns; ++k) {
      const double turn = static_cast<double>(j * k % n) / static_cast<double>(n);
      cosines.push_back(static_cast<float>(std::cos(2 * std::numbers::pi * turn)));
      sines.push_back(static_cast<float>(sign * std::sin(2 * std::numbers::pi * turn)));
    }
  }
  return {constant(builder, {rows, columns}, cosines), constant(builder, {rows, columns}, sines)};
}

Complex times(Complex x, Complex y) {
  if (!x.imaginary.valid()) return {x.real * y.real, x.real * y.imaginary};
  return {x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real};
}

Complex product(Complex x, Complex matrix) {
  Builder& builder = *x.real.builder;
  const Tensor real = builder.matmul(x.real, matrix.real);
  const Tensor imaginary = builder.matmul(x.real, matrix.imaginary);
  if (!x.imaginary.valid()) return {real, imaginary};
  return {real - builder.matmul(x.imaginary, matrix.imaginary),
          imaginary + builder.matmul(x.imaginary, matrix.real)};
}

template <class Function>
Complex each(Complex x, const Function& function) {
  return {function(x.real), x.imaginary.valid() ? function(x.imaginary) : Tensor{}};
}

Complex transformed(Complex x, double sign);

// As a convolution by e^(sign πi j²/n), which is a product of transforms of a power of two.
Complex by_convolution(Complex x, double sign) {
  Builder& builder = *x.real.builder;
  const int64_t rows = x.real.shape()[0], n = x.real.shape()[1];
  const auto m = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
  std::vector<float> cosines, sines;
  std::vector<float> filter(m), filter_sines(static_cast<size_t>(m));
  for (int64_t j = 0; j < n; ++j) {
    const double angle =
        std::numbers::pi * static_cast<double>(j * j % (2 * n)) / static_cast<double>(n);
    cosines.push_back(static_cast<float>(std::cos(angle)));
    sines.push_back(static_cast<float>(sign * std::sin(angle)));
    for (const int64_t at : {j, (m - j) % m}) {
      filter[at] = cosines.back();
      filter_sines[at] = -sines.back();
    }
  }
  const Complex chirp = {constant(builder, {1, n}, cosines), constant(builder, {1, n}, sines)};
  const auto padded = [&](Tensor part) { return pad(part, {{0, 0}, {0, m - n}}, 0); };
  const Complex signal = transformed(each(times(x, chirp), padded), -1);
  const Complex response =
      transformed({constant(builder, {1, m}, filter), constant(builder, {1, m}, filter_sines)}, -1);
  const auto share = 1.0f / static_cast<float>(m);
  const Complex sums = each(transformed(times(signal, response), 1), [&](Tensor part) {
    return slice(part, {0, 0}, Shape{rows, n}) * share;
  });
  return times(sums, chirp);
}

// Of rows [r, n].
Complex transformed(Complex x, double sign) {
  Builder& builder = *x.real.builder;
  const int64_t rows = x.real.shape()[0], n = x.real.shape()[1];
  auto a = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (a > 1 && n % a != 0) --a;
  if (n <= kLongestProduct || (a <= 1 && n <= kLongestPrime)) {
    return product(x, roots(builder, n, n, n, sign));
  }
  if (a == 1) return by_convolution(x, sign);
  // j = b j1 + j2 and k = k1 + a k2: transforms over j1, then over j2.
  const int64_t b = n / a;
  const auto columns = [&](Tensor part) {
    const Tensor split = builder.permute(builder.reshape(part, {rows, a, b}), {0, 2, 1});
    return builder.reshape(split, {rows * b, a});
  };
  const Complex inner = each(transformed(each(x, columns), sign), [&](Tensor part) {
    return builder.reshape(part, {rows, b, a});
  });
  const Complex rotated = times(inner, roots(builder, b, a, n, sign));
  const Complex outer =
      transformed(each(rotated,
                       [&](Tensor part) {
                         return builder.reshape(builder.permute(part, {0, 2, 1}), {rows * a, b});
                       }),
                  sign);
  return each(outer, [&](Tensor part) {
    const Tensor split = builder.permute(builder.reshape(part, {rows, a, b}), {0, 2, 1});
    return builder.reshape(split, {rows, n});
  });
}

}  // namespace

Complex fourier_transform(Complex x, bool inverse) {
  Builder& builder = *x.real.builder;
  const Shape shape = x.real.shape();
  if (!x.real.valid() || shape.empty() || shape.back() == 0) {
    const Tensor none = builder.error("fourier transform: x has no elements along its last axis");
    return {none, none};
  }
  const int64_t n = shape.back();
  const auto rows = [&](Tensor part) {
    return builder.reshape(part, {graph::element_count(shape) / n, n});
  };
  const float share = inverse ? 1.0f / static_cast<float>(n) : 1.0f;
  return each(transformed(each(x, rows), inverse ? 1 : -1),
              [&](Tensor part) { return builder.reshape(inverse ? part * share : part, shape); });
}

Tensor inverse_real_transform(Complex x, int64_t n) {
  const int64_t half = n / 2 + 1;
  const int axis = x.real.rank() - 1;
  // The others are the conjugates of those from 1 on, from the end.
  const auto full_signal = [&](Tensor part, float sign) {
    Shape begin(part.shape().size(), 0), size = part.shape();
    Pairs padding(size.size());
    padding.back().second = half - size.back();
    const Tensor first = pad(part, padding, 0);
    begin.back() = 1;
    size.back() = n - half;
    return concatenate({first, reverse(slice(first, begin, size), {{axis}}) * sign}, axis);
  };
  Complex full = {full_signal(x.real, 1)};
  if (x.imaginary.valid()) full.imaginary = full_signal(x.imaginary, -1);
  return fourier_transform(full, true).real;
}

Tensor frames_of(Tensor x, int64_t length, int64_t step) {
  if (!x.valid()) return x;
  const Shape from = x.shape();
  if (from.empty() || length <= 0 || step <= 0 || length > from.back()) {
    return x.builder->error(concat("frames: of ", length, " elements, step ", step,
                                   ", are not in shape ", bracketed(from)));
  }
  Shape shape = from;
  shape.back() = (from.back() - length) / step + 1;
  shape.push_back(length);
  std::vector<int> leading;
  for (size_t k = 0; k < from.size(); ++k) leading.push_back(static_cast<int>(k));
  graph::AffineMap map = graph::AffineMap::project(static_cast<int>(shape.size()), leading);
  map.axes.back().coefficients[shape.size() - 2] = step;
  map.axes.back().coefficients[shape.size() - 1] = 1;
  return x.builder->reindex(x, std::move(map), std::move(shape));
}

}  // namespace lathe::ops
