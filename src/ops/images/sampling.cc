#include "lathe/ops/images/sampling.h"

#include <utility>

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/arithmetic.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;

namespace {

Tensor like(Tensor x, double value) {
  return x.builder->full({}, scalar::Number::from(x.dtype(), value));
}

// Folded back between two mirrors.
Tensor reflected(Tensor x, double low, double high) {
  const double span = high - low;
  if (span <= 0) return zero(x);
  const Tensor wide = x.builder->cast(x, DType::F32);
  const Tensor turn = x.builder->map(Op::Mod, {{wide - like(wide, low), like(wide, 2 * span)}});
  const Tensor back = select(turn > like(turn, span), like(turn, 2 * span) - turn, turn);
  const Tensor folded = x.builder->convert(back + like(back, low), x.dtype());
  const Tensor is_inside = both(x >= like(x, low), x <= like(x, high));
  return select(is_inside, x, folded);
}

// A source element along one axis: its index, its weight, and whether it is in range.
struct Tap {
  Tensor index, share, is_there;
};

class Axis {
 public:
  Axis(int64_t size, const SampleOptions& options)
      : last_(static_cast<double>(size - 1)),
        low_(options.align_corners ? 0 : -0.5),
        high_(options.align_corners ? last_ : last_ + 0.5),
        options_(options) {}

  std::vector<Tap> taps(Tensor position) const {
    const auto nearest = [](Tensor x) { return x.builder->map(Op::Nearest, {{x}}); };
    const bool is_nearest = options_.interpolation == Interpolation::Nearest;
    position = inside(is_nearest ? nearest(position) : position);
    if (is_nearest) return {tap(position, {})};
    const Tensor below = detach(floor(position)), share = position - below;
    if (options_.interpolation == Interpolation::Linear) {
      return {tap(below, 1.0f - share), tap(below + 1.0f, share)};
    }
    std::vector<Tap> all;
    for (int k = -1; k <= 2; ++k) {
      const Tensor distance = absolute(share - static_cast<float>(k));
      all.push_back(tap(below + static_cast<float>(k), cubic(distance, k == 0 || k == 1)));
    }
    return all;
  }

 private:
  // The position that is read instead of one outside.
  Tensor inside(Tensor position) const {
    switch (options_.out_of_bounds) {
      case OutOfBounds::Zeros:
        return position;
      case OutOfBounds::Border: {
        // What a cubic is made of is bounded element by element.
        if (options_.interpolation == Interpolation::Cubic) return position;
        const Tensor is_inside =
            both(position >= like(position, low_), position <= like(position, high_));
        const Tensor bounded = minimum(maximum(position, zero(position)), like(position, last_));
        return select(is_inside, position, bounded);
      }
      case OutOfBounds::Reflection:
        return reflected(position, low_, high_);
    }
    return position;
  }

  Tap tap(Tensor number, Tensor share) const {
    Tap result{{}, share, {}};
    if (options_.out_of_bounds == OutOfBounds::Zeros) {
      result.is_there = both(number >= zero(number), number <= like(number, last_));
    } else if (options_.out_of_bounds == OutOfBounds::Reflection) {
      number = reflected(number, low_, high_);
    }
    const Tensor bounded = minimum(maximum(number, zero(number)), like(number, last_));
    result.index = bounded.builder->cast(bounded, DType::I32);
    return result;
  }

  static Tensor cubic(Tensor x, bool is_inner) {
    constexpr float a = -0.75f;
    if (is_inner) return ((a + 2) * x - (a + 3)) * x * x + 1.0f;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  }

  double last_, low_, high_;
  const SampleOptions& options_;
};

Tensor multiplied(Tensor x, Tensor y) {
  if (!x.valid()) return y;
  return y.valid() ? x * y : x;
}

class Sampler {
 public:
  Sampler(Tensor x, const Shape& positions) : builder_(*x.builder), shape_(x.shape()) {
    int64_t elements = 1;
    for (size_t k = 2; k < shape_.size(); ++k) elements *= shape_[k];
    flat_ = builder_.reshape(x, {shape_[0], shape_[1], elements});
    one_ = {positions[0], 1, positions[1]};
    all_ = {positions[0], shape_[1], positions[1]};
  }

  // The sum over the taps of this axis and all that follow.
  void add(const std::vector<std::vector<Tap>>& taps, size_t axis, const Tap& so_far) {
    if (axis == taps.size()) {
      const Tensor index =
          builder_.broadcast_to(builder_.reshape(so_far.index, one_), all_, "sample");
      Tensor value = builder_.gather(flat_, index, 2);
      if (so_far.share.valid()) value = value * builder_.reshape(so_far.share, one_);
      if (so_far.is_there.valid()) {
        value = select(builder_.reshape(so_far.is_there, one_), value, zero(value));
      }
      sum_ = sum_.valid() ? sum_ + value : value;
      return;
    }
    const auto size = static_cast<int32_t>(shape_[axis + 2]);
    for (const Tap& each : taps[axis]) {
      Tap next = each;
      if (so_far.index.valid()) {
        next.index = so_far.index * builder_.full({}, scalar::Number::of(size)) + each.index;
        next.share = multiplied(so_far.share, each.share);
        if (so_far.is_there.valid()) next.is_there = both(so_far.is_there, each.is_there);
      }
      add(taps, axis + 1, next);
    }
  }

  Tensor sum() const { return sum_; }

 private:
  Builder& builder_;
  Shape shape_, one_, all_;
  Tensor flat_, sum_;
};

}  // namespace

Tensor sample(Tensor x, const std::vector<Tensor>& positions, const SampleOptions& options) {
  if (!x.valid()) return x;
  const Shape shape = x.shape();
  bool fits =
      shape.size() >= 3 && positions.size() + 2 == shape.size() && graph::element_count(shape) > 0;
  for (const Tensor& each : positions) {
    if (!each.valid()) return each;
    fits = fits && each.rank() == 2 && each.shape() == positions[0].shape() &&
           each.shape()[0] == shape[0] && each.dtype() == x.dtype();
  }
  if (!fits) {
    return x.builder->error(
        concat("sample: x ", bracketed(shape), " must be [n, c, spatial…] with ",
               "elements, and positions of its type [n, points] for each spatial ", "axis"));
  }
  std::vector<std::vector<Tap>> taps;
  for (size_t k = 0; k < positions.size(); ++k) {
    taps.push_back(Axis(shape[k + 2], options).taps(positions[k]));
  }
  Sampler sampler(x, Shape(positions[0].shape()));
  sampler.add(taps, 0, {});
  return sampler.sum();
}

}  // namespace lathe::ops
