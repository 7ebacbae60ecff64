#include "lathe/nn/layers/shaping.h"

#include <algorithm>
#include <array>

#include "lathe/base/insert.h"
#include "lathe/base/sort.h"
#include "lathe/base/text.h"

namespace lathe::nn {
namespace {

Tensor reshaped(Tensor x, Shape example) {
  if (!x.valid()) return x;
  insert_at(example, 0, x.shape().front());
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
                       " does not have the ", count, " elements of ", bracketed(input),
                       "; it needs positive integers, one of which may be -1"));
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return reshaped(x, options_.target_shape.values);
  }

 private:
  ReshapeOptions options_;
};

class Permute final : public UnaryLayer {
 public:
  explicit Permute(PermuteOptions options)
      : UnaryLayer(options), dims_(std::move(options.dims.values)) {}

  std::string_view class_name() const override { return "Permute"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    Shape sorted = dims_, output;
    sort_ascending(sorted);
    bool sound = sorted.size() == input.size();
    for (size_t i = 0; sound && i < sorted.size(); ++i) {
      sound = sorted[i] == static_cast<int64_t>(i) + 1;
    }
    if (!sound) {
      return fail(concat("dims ", bracketed(dims_), " must name each of the axes 1 to ",
                         input.size(), " of ", bracketed(input), " once"));
    }
    for (const int64_t axis : dims_) output.push_back(input[axis - 1]);
    return UnaryPlan{std::move(output), {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    std::vector<int> order = {0};
    for (const int64_t axis : dims_) order.push_back(static_cast<int>(axis));
    return x.builder->permute(x, order);
  }

 private:
  Shape dims_;
};

class RepeatVector final : public UnaryLayer {
 public:
  explicit RepeatVector(RepeatVectorOptions options) : UnaryLayer(options), n_(options.n) {}

  std::string_view class_name() const override { return "RepeatVector"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    if (n_ < 1) return fail(concat("n must be a positive integer, got ", n_));
    if (input.size() != 1) {
      return fail(concat("expects examples of shape [channels], got ", bracketed(input)));
    }
    return UnaryPlan{{n_, input[0]}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const Shape shape = x.shape();
    const Tensor row = x.builder->reshape(x, {shape[0], 1, shape[1]});
    return x.builder->broadcast_to(row, {shape[0], n_, shape[1]});
  }

 private:
  int64_t n_;
};

// Adds rows and columns of zeros around images, or removes some.
class Frame2D final : public UnaryLayer {
 public:
  Frame2D(std::string_view class_name, std::string_view option, bool crops, Sizes sizes,
          const auto& options)
      : UnaryLayer(options),
        class_name_(class_name),
        option_(option),
        crops_(crops),
        sizes_(std::move(sizes)) {}

  std::string_view class_name() const override { return class_name_; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_image(input));
    const auto& values = sizes_.values;
    const bool sound =
        (values.size() == 1 || values.size() == 2 || values.size() == 4) &&
        std::ranges::all_of(values, [](int64_t v) { return v >= 0 && v <= INT32_MAX; });
    if (!sound) {
      return fail(concat(option_,
                         " must be an integer of at least 0, two ([height, width]) or four "
                         "([[top, bottom], [left, right]]), got ",
                         bracketed(values)));
    }
    const auto [top, bottom, left, right] = sides();
    Shape output = {top + input[0] + bottom, left + input[1] + right, input[2]};
    if (output[0] < 1 || output[1] < 1) {
      return fail(concat(option_, ' ', bracketed(values), " leaves nothing of ", bracketed(input)));
    }
    return UnaryPlan{std::move(output), {}};
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
  // What is added to each side; below zero where it is cropped.
  std::array<int64_t, 4> sides() const {
    const auto& v = sizes_.values;
    std::array<int64_t, 4> sides = {v.front(), v.front(), v.back(), v.back()};
    if (v.size() == 4) std::ranges::copy(v, sides.begin());
    if (crops_) {
      for (int64_t& side : sides) side = -side;
    }
    return sides;
  }

  std::string_view class_name_, option_;
  bool crops_;
  Sizes sizes_;
};

}  // namespace

LayerPtr flatten(FlattenOptions options) { return std::make_shared<Flatten>(std::move(options)); }

LayerPtr reshape(ReshapeOptions options) { return std::make_shared<Reshape>(std::move(options)); }

LayerPtr permute(PermuteOptions options) { return std::make_shared<Permute>(std::move(options)); }

LayerPtr repeat_vector(RepeatVectorOptions options) {
  return std::make_shared<RepeatVector>(std::move(options));
}

LayerPtr zero_padding2d(ZeroPadding2DOptions options) {
  return std::make_shared<Frame2D>("ZeroPadding2D", "padding", false, options.padding, options);
}

LayerPtr cropping2d(Cropping2DOptions options) {
  return std::make_shared<Frame2D>("Cropping2D", "cropping", true, options.cropping, options);
}

}  // namespace lathe::nn
