// Fourier transforms of lengths that go each way, against sums in double precision.
#include "lathe/ops/spectral.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "check_gradients.h"
#include "lathe/ops/movement/movement.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

Floats wave(size_t n, double rate) {
  Floats values;
  for (size_t k = 0; k < n; ++k) {
    values.push_back(static_cast<float>(std::sin(rate * static_cast<double>(k * k + 1))));
  }
  return values;
}

Floats expected(const Floats& real, const Floats& imaginary) {
  const size_t n = real.size();
  Floats values(2 * n);
  for (size_t k = 0; k < n; ++k) {
    double x = 0, y = 0;
    for (size_t j = 0; j < n; ++j) {
      const double angle =
          -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      x += real[j] * std::cos(angle) - imaginary[j] * std::sin(angle);
      y += real[j] * std::sin(angle) + imaginary[j] * std::cos(angle);
    }
    values[k] = static_cast<float>(x);
    values[n + k] = static_cast<float>(y);
  }
  return values;
}

template <int64_t n>
Tensor transformed(Builder& b) {
  const Tensor real = b.input("x", DType::F32, {1, n}),
               imaginary = b.input("y", DType::F32, {1, n});
  const Complex spectrum = fourier_transform({real, imaginary}, false);
  return concatenate({spectrum.real, spectrum.imaginary}, 0);
}

template <int64_t n>
Tensor there_and_back(Builder& b) {
  const Tensor real = b.input("x", DType::F32, {1, n}),
               imaginary = b.input("y", DType::F32, {1, n});
  const Complex signal = fourier_transform(fourier_transform({real, imaginary}, false), true);
  return concatenate({signal.real, signal.imaginary}, 0);
}

template <int64_t n>
void expect_transform() {
  const Floats real = wave(n, 0.7), imaginary = wave(n, 1.3);
  const Inputs inputs = {{"x", Array::of({1, n}, real)}, {"y", Array::of({1, n}, imaginary)}};
  const Floats actual = run(transformed<n>, inputs), reference = expected(real, imaginary);
  for (size_t k = 0; k < actual.size(); ++k)
    EXPECT_NEAR(actual[k], reference[k], 3e-4) << n << ' ' << k;
  Floats both = real;
  both.insert(both.end(), imaginary.begin(), imaginary.end());
  const Floats back = run(there_and_back<n>, inputs);
  for (size_t k = 0; k < back.size(); ++k) EXPECT_NEAR(back[k], both[k], 3e-5) << n << ' ' << k;
}

TEST(Spectral, TransformsEveryLength) {
  expect_transform<1>();
  expect_transform<12>();
  expect_transform<400>();   // two products
  expect_transform<1031>();  // a prime: a convolution
}

TEST(Spectral, ReturnsTheRealSignalOfHalfASpectrum) {
  const auto build = [](Builder& b) {
    const Tensor x = b.input("x", DType::F32, {5});
    const Complex all = fourier_transform({x}, false);
    return inverse_real_transform(
        {slice(all.real, {0}, graph::Shape{3}), slice(all.imaginary, {0}, graph::Shape{3})}, 5);
  };
  expect_near(run(build, {{"x", Array::of({5}, Floats{1, -2, 3, 0.5, 4})}}), {1, -2, 3, 0.5, 4});
}

TEST(Spectral, SplitsFrames) {
  const auto build = [](Builder& b) { return frames_of(b.input("x", DType::F32, {7}), 3, 2); };
  expect_near(run(build, {{"x", Array::of({7}, Floats{1, 2, 3, 4, 5, 6, 7})}}),
              {1, 2, 3, 3, 4, 5, 5, 6, 7});
  EXPECT_EQ(message_of([](Builder& b) { return frames_of(b.input("x", DType::F32, {2}), 3, 2); }),
            "frames: of 3 elements, step 2, are not in shape [2]");
}

TEST(Spectral, HasGradients) {
  grad::check_gradients("fourier_transform", [](Builder& b) {
    const Complex spectrum = fourier_transform({b.input("x", DType::F32, {2, 6})}, false);
    return spectrum.real * spectrum.imaginary;
  });
}

}  // namespace
}  // namespace lathe::ops
