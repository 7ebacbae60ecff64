#include "growth.h"

#include <algorithm>

#include "lathe/base/text.h"

namespace lathe::random_tests {

void Growth::add(Tensor x) {
  if (!b.ok()) {
    b.take_error();
    return;
  }
  if (x.valid() && graph::element_count(x.shape()) <= kMostElements) all_.push_back(x);
}

Tensor Growth::input(Shape shape, DType dtype) {
  all_.push_back(b.input(concat("x", inputs_++), dtype, std::move(shape)));
  return all_.back();
}

template <class Fits>
Tensor Growth::existing(Fits fits) {
  std::vector<Tensor> found;
  for (const Tensor& each : all_) {
    if (fits(each)) found.push_back(each);
  }
  if (found.empty() || draw.chance(20)) return {};
  // Mostly the newest, so that functions are deep.
  return draw.chance(60) ? found.back() : draw.of(found);
}

Tensor Growth::floats(int least_rank, int most_rank) {
  const Tensor found = existing([&](Tensor x) {
    return x.dtype() == DType::F32 && x.rank() >= least_rank && x.rank() <= most_rank;
  });
  if (found.valid()) return found;
  const auto rank = static_cast<int>(draw.from(std::max(least_rank, 1), std::min(most_rank, 4)));
  return input(draw.shape(draw.chance(3) ? least_rank : rank, draw.chance(85) ? 500 : 2500));
}

Tensor Growth::ints(int least_rank, int most_rank) {
  const Tensor found = existing([&](Tensor x) {
    return x.dtype() == DType::I32 && x.rank() >= least_rank && x.rank() <= most_rank;
  });
  if (found.valid()) return found;
  const auto rank = static_cast<int>(draw.from(std::max(least_rank, 1), most_rank));
  return input(draw.shape(rank, 400), DType::I32);
}

Tensor Growth::bools() {
  const Tensor found = existing([](Tensor x) { return x.dtype() == DType::Bool; });
  if (found.valid()) return found;
  const auto rank = static_cast<int>(draw.from(1, 3));
  return input(draw.shape(rank, 400), DType::Bool);
}

Tensor Growth::any(int least_rank) {
  const int64_t kind = draw.below(8);
  if (kind == 0) return ints(least_rank);
  if (kind == 1) {
    const Tensor x = bools();
    if (x.rank() >= least_rank) return x;
  }
  return floats(least_rank);
}

Tensor Growth::same_shape(Tensor x) {
  const Tensor found = existing([&](Tensor y) {
    return y.dtype() == x.dtype() && y.shape() == x.shape() && y.value != x.value;
  });
  return found.valid() ? found : input(x.shape(), x.dtype());
}

Tensor Growth::partner(Tensor x) {
  if (draw.chance(50)) return same_shape(x);
  const DType dtype = x.dtype();
  Shape shape = x.shape();
  for (int64_t& size : shape) {
    if (draw.chance(40)) size = 1;
  }
  while (!shape.empty() && draw.chance(30)) shape.erase(shape.begin());
  return input(std::move(shape), dtype);
}

Tensor Growth::picture(int axes) {
  const Tensor found = existing([&](Tensor x) {
    return x.dtype() == DType::F32 && x.rank() == axes + 2 && graph::element_count(x.shape()) > 0;
  });
  if (found.valid()) return found;
  const int64_t batch = draw.from(1, 3), channels = draw.size(draw.chance(70) ? 9 : 40, false);
  Shape shape = draw.shape(axes, 2000 / batch / channels, false);
  shape.insert(shape.begin(), batch);
  shape.push_back(channels);
  return input(std::move(shape));
}

Tensor Growth::tame(Tensor x) {
  if (!x.valid() || x.dtype() != DType::F32) return x;
  return draw.chance(50) ? tanh(x * 0.5f) : x * 0.125f;
}

Tensor Growth::positive(Tensor x) { return absolute(x) + 0.25f; }

}  // namespace lathe::random_tests
