#include "graph_generator.h"

#include <algorithm>

#include "lathe/base/text.h"

namespace lathe::random_tests {

void GraphGenerator::add(Tensor x) {
  if (!b.ok()) {
    b.pop_error();
    return;
  }
  if (x.valid() && graph::element_count(x.shape()) <= kMaxElements) all_.push_back(x);
}

Tensor GraphGenerator::input(Shape shape, DType dtype) {
  all_.push_back(b.input(concat("x", inputs_++), dtype, std::move(shape)));
  return all_.back();
}

template <class Fits>
Tensor GraphGenerator::existing(Fits fits) {
  std::vector<Tensor> found;
  for (const Tensor& each : all_) {
    if (fits(each)) found.push_back(each);
  }
  if (found.empty() || rng.chance(20)) return {};
  // Mostly the newest, so that functions are deep.
  return rng.chance(60) ? found.back() : rng.of(found);
}

Tensor GraphGenerator::floats(int min_rank, int max_rank) {
  const Tensor found = existing([&](Tensor x) {
    return x.dtype() == DType::F32 && x.rank() >= min_rank && x.rank() <= max_rank;
  });
  if (found.valid()) return found;
  const auto rank = static_cast<int>(rng.from(std::max(min_rank, 1), std::min(max_rank, 4)));
  return input(rng.shape(rng.chance(3) ? min_rank : rank, rng.chance(85) ? 500 : 2500));
}

Tensor GraphGenerator::ints(int min_rank, int max_rank) {
  const Tensor found = existing([&](Tensor x) {
    return x.dtype() == DType::I32 && x.rank() >= min_rank && x.rank() <= max_rank;
  });
  if (found.valid()) return found;
  const auto rank = static_cast<int>(rng.from(std::max(min_rank, 1), max_rank));
  return input(rng.shape(rank, 400), DType::I32);
}

Tensor GraphGenerator::bools() {
  const Tensor found = existing([](Tensor x) { return x.dtype() == DType::Bool; });
  if (found.valid()) return found;
  const auto rank = static_cast<int>(rng.from(1, 3));
  return input(rng.shape(rank, 400), DType::Bool);
}

Tensor GraphGenerator::any(int min_rank) {
  const int64_t kind = rng.below(8);
  if (kind == 0) return ints(min_rank);
  if (kind == 1) {
    const Tensor x = bools();
    if (x.rank() >= min_rank) return x;
  }
  return floats(min_rank);
}

Tensor GraphGenerator::same_shape(Tensor x) {
  const Tensor found = existing([&](Tensor y) {
    return y.dtype() == x.dtype() && y.shape() == x.shape() && y.value != x.value;
  });
  return found.valid() ? found : input(x.shape(), x.dtype());
}

Tensor GraphGenerator::partner(Tensor x) {
  if (rng.chance(50)) return same_shape(x);
  const DType dtype = x.dtype();
  Shape shape = x.shape();
  for (int64_t& size : shape) {
    if (rng.chance(40)) size = 1;
  }
  while (!shape.empty() && rng.chance(30)) shape.erase(shape.begin());
  return input(std::move(shape), dtype);
}

Tensor GraphGenerator::image(int axes) {
  const Tensor found = existing([&](Tensor x) {
    return x.dtype() == DType::F32 && x.rank() == axes + 2 && graph::element_count(x.shape()) > 0;
  });
  if (found.valid()) return found;
  const int64_t batch = rng.from(1, 3), channels = rng.size(rng.chance(70) ? 9 : 40, false);
  Shape shape = rng.shape(axes, 2000 / batch / channels, false);
  shape.insert(shape.begin(), batch);
  shape.push_back(channels);
  return input(std::move(shape));
}

Tensor GraphGenerator::tame(Tensor x) {
  if (!x.valid() || x.dtype() != DType::F32) return x;
  return rng.chance(50) ? tanh(x * 0.5f) : x * 0.125f;
}

Tensor GraphGenerator::positive(Tensor x) { return absolute(x) + 0.25f; }

}  // namespace lathe::random_tests
