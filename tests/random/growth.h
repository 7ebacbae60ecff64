// Grows one function: each recipe adds an operation over tensors that exist or new inputs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "draw.h"
#include "lathe/graph/builder.h"

namespace lathe::random_tests {

using graph::Tensor;
using scalar::DType;
using scalar::Op;

inline constexpr int64_t kMostElements = 3000;

class Growth {
 public:
  Growth(graph::Builder& b, uint64_t seed) : b(b), draw(seed) {}

  graph::Builder& b;
  Draw draw;

  // A result, unless it is an error or too large.
  void add(Tensor x);
  Tensor input(Shape shape, DType dtype = DType::F32);
  // One that exists or a new input, of a rank in this range.
  Tensor floats(int least_rank = 0, int most_rank = 4);
  Tensor ints(int least_rank = 0, int most_rank = 3);
  Tensor bools();
  // Of any dtype.
  Tensor any(int least_rank = 0);
  // One that broadcasts with x, often of its shape.
  Tensor partner(Tensor x);
  Tensor same_shape(Tensor x);
  // [n, spatial…, channels].
  Tensor picture(int axes);
  // x of numbers that stay near 1.
  Tensor tame(Tensor x);
  Tensor positive(Tensor x);  // at least 0.25

  const std::vector<Tensor>& all() const { return all_; }
  size_t inputs() const { return inputs_; }

 private:
  // One that exists and for which the function says yes, or an invalid one.
  template <class Fits>
  Tensor existing(Fits fits);

  std::vector<Tensor> all_;
  size_t inputs_ = 0;
};

struct Recipe {
  std::string_view name;  // as a program names the operation
  void (*grow)(Growth& growth);
  int weight = 1;  // how often it is drawn, beside others of its group
};

std::span<const Recipe> elementwise_recipes();
std::span<const Recipe> movement_recipes();
std::span<const Recipe> window_recipes();
std::span<const Recipe> fold_recipes();
std::span<const Recipe> loop_recipes();

}  // namespace lathe::random_tests
