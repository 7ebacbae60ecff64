// Random numbers as a function of a key and of their position, so that they are the same on every
// target and in every order of execution.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Shape;
using graph::Tensor;

// I32 scalars; distinct triples yield distinct numbers.
struct RandomKey {
  Tensor seed, stream, step;
};

// Two I32 tensors of one shape.
struct WordPair {
  Tensor first, second;
};
// Threefry-2x32 with 20 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011. The key is two scalars.
WordPair threefry(WordPair key, WordPair counter);

// [0, 1), multiples of 2^-24. Shapes are copied: that of a tensor moves while its graph grows.
Tensor uniform_numbers(const RandomKey& key, Shape shape);
// Mean 0, deviation 1, |x| ≤ 5.3; by the quantile of algorithm AS 241 (Wichura 1988),
// error about 1e-6. Truncated ones are within 2 deviations of the distribution.
Tensor normal_numbers(const RandomKey& key, Shape shape);
Tensor truncated_numbers(const RandomKey& key, Shape shape);

// The same by name; the seed is an I32 scalar or two numbers.
Tensor random_uniform(Tensor seed, Shape shape, float low, float high);
Tensor random_normal(Tensor seed, Shape shape, float mean, float deviation);
Tensor truncated_normal(Tensor seed, Shape shape, float mean, float deviation);

}  // namespace lathe::ops
