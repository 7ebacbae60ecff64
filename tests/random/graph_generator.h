// Generates one function: each recipe adds an operation over existing tensors or new inputs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lathe/graph/builder.h"
#include "rng.h"

namespace lathe::random_tests {

using graph::Tensor;
using scalar::DType;
using scalar::Op;

inline constexpr int64_t kMaxElements = 3000;

class GraphGenerator {
 public:
  GraphGenerator(graph::Builder& b, uint64_t seed) : b(b), rng(seed) {}

  graph::Builder& b;
  Rng rng;

  // A result, unless it is an error or too large.
  void add(Tensor x);
  Tensor input(Shape shape, DType dtype = DType::F32);
  // One that exists or a new input, of a rank in this range.
  Tensor floats(int min_rank = 0, int max_rank = 4);
  Tensor ints(int min_rank = 0, int max_rank = 3);
  Tensor bools();
  // Of any dtype.
  Tensor any(int min_rank = 0);
  // One that broadcasts with x, often of its shape.
  Tensor partner(Tensor x);
  Tensor same_shape(Tensor x);
  // [n, spatial…, channels].
  Tensor image(int axes);
  // x of numbers that stay near 1.
  Tensor tame(Tensor x);
  Tensor positive(Tensor x);  // at least 0.25

  const std::vector<Tensor>& all() const { return all_; }
  size_t inputs() const { return inputs_; }

 private:
  // An existing tensor that satisfies the predicate, or an invalid one.
  template <class Fits>
  Tensor existing(Fits fits);

  std::vector<Tensor> all_;
  size_t inputs_ = 0;
};

struct Recipe {
  std::string_view name;  // as a program names the operation
  void (*generate)(GraphGenerator& generator);
  int weight = 1;  // relative frequency within its group
};

std::span<const Recipe> elementwise_recipes();
std::span<const Recipe> movement_recipes();
std::span<const Recipe> window_recipes();
std::span<const Recipe> fold_recipes();
std::span<const Recipe> loop_recipes();

}  // namespace lathe::random_tests
