#include "nn/shaping.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace lathe::nn {
namespace {

Tensor reshaped(Tensor x, Shape example) {
  if (!x.valid()) return x;
  example.insert(example.begin(), x.shape().front());
  return x.builder->reshape(x, std::move(example));
}

class Flatten final : public UnaryLayer {
 public:
  explicit Flatten(FlattenOptions options) : UnaryLayer(options) {}

  std::string_view class_name() const override { return "Flatten"; }
  Result<UnaryPlan> plan(const Shape& input) const override {
    return UnaryPlan{{graph::element_count(input)}, {}};
  }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return reshaped(x, {-1});
  }
};

class Reshape final : public UnaryLayer {
 public:
  explicit Reshape(ReshapeOptions options) : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "Reshape"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    Shape target = options_.target_shape.values;
    const int64_t count = graph::element_count(input);
    int64_t rest = 1;
    bool sound = !target.empty() && std::ranges::count(target, -1) <= 1;
    for (int64_t size : target) {
      sound = sound && (size == -1 || (size >= 1 && size <= count));
      if (sound && size > 0) rest = std::min(rest * size, count + 1);
    }
    std::ranges::replace(target, int64_t{-1}, count / rest);
    if (sound && graph::element_count(target) == count) return UnaryPlan{std::move(target), {}};
    return fail(concat("targetShape ", bracketed(options_.target_shape.values),
                       " does not hold the ", count, " elements of ", bracketed(input),
                       "; it needs positive integers, one of which may be -1"));
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return reshaped(x, options_.target_shape.values);
  }

 private:
  ReshapeOptions options_;
};

class ZeroPadding2D final : public UnaryLayer {
 public:
  explicit ZeroPadding2D(ZeroPadding2DOptions options)
      : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "ZeroPadding2D"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    TRY(check_picture(input));
    const auto& values = options_.padding.values;
    const bool sound =
        (values.size() == 1 || values.size() == 2 || values.size() == 4) &&
        std::ranges::all_of(values, [](int64_t v) { return v >= 0 && v <= INT32_MAX; });
    if (!sound) {
      return fail(
          concat("padding must be an integer of at least 0, two ([height, width]) or four "
                 "([[top, bottom], [left, right]]), got ",
                 bracketed(values)));
    }
    const auto [top, bottom, left, right] = sides();
    return UnaryPlan{{top + input[0] + bottom, left + input[1] + right, input[2]}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const auto [top, bottom, left, right] = sides();
    Shape shape = x.shape();
    shape[1] += top + bottom;
    shape[2] += left + right;
    graph::AffineMap map = graph::AffineMap::project(4, {0, 1, 2, 3});
    map.axes[1].offset = -top;
    map.axes[2].offset = -left;
    return x.builder->reindex(x, std::move(map), std::move(shape));
  }

 private:
  std::array<int64_t, 4> sides() const {
    const auto& v = options_.padding.values;
    if (v.size() == 4) return {v[0], v[1], v[2], v[3]};
    return {v.front(), v.front(), v.back(), v.back()};
  }

  ZeroPadding2DOptions options_;
};

}  // namespace

LayerPtr flatten(FlattenOptions options) { return std::make_shared<Flatten>(std::move(options)); }

LayerPtr reshape(ReshapeOptions options) { return std::make_shared<Reshape>(std::move(options)); }

LayerPtr zero_padding2d(ZeroPadding2DOptions options) {
  return std::make_shared<ZeroPadding2D>(std::move(options));
}

}  // namespace lathe::nn
