// Discrete Fourier transforms of F32, as products by matrices of cosines and sines and, for
// longer ones, several of these (Cooley & Tukey 1965; Bluestein 1970 for large primes).
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// An invalid imaginary part is zero.
struct Complex {
  Tensor real, imaginary = {};
};

// Along the last axis: sum over j of x[j] e^(-2πi jk/n); inverse: with the other sign, divided by
// n.
Complex fourier_transform(Complex x, bool inverse);
// The real signal of n numbers whose transform begins with these n / 2 + 1, along the last axis.
Tensor inverse_real_transform(Complex x, int64_t n);

// x [.., n] -> [.., frames, length]: frame f begins at f · step; only complete frames.
Tensor frames_of(Tensor x, int64_t length, int64_t step);

}  // namespace lathe::ops
