#include "lathe/nn/layers/image_layers.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "lathe/base/text.h"
#include "lathe/ops/images/resize.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/nn/losses.h"

namespace lathe::nn {
namespace {

Status check_interpolation(const std::string& name) {
  if (name == "nearest" || name == "bilinear") return {};
  return fail(
      concat("interpolation must be \"nearest\" or \"bilinear\", got \"", name.substr(0, 60), '"'));
}

Status check_size(int64_t height, int64_t width) {
  if (height >= 1 && width >= 1) return {};
  return fail(concat("height and width must be positive integers, got ", height, " and ", width));
}

Tensor resized(Tensor x, const Shape& size, const std::string& interpolation, bool align_corners) {
  return interpolation == "bilinear" ? ops::resize_bilinear(x, size, align_corners, false)
                                     : ops::resize_nearest(x, size, align_corners, false);
}

class UpSampling2D final : public UnaryLayer {
 public:
  explicit UpSampling2D(UpSampling2DOptions options)
      : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "UpSampling2D"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_image(input));
    LATHE_TRY(check_interpolation(options_.interpolation));
    LATHE_ASSIGN_OR_RETURN(const Shape factors, one_per_axis(2, "size", options_.size));
    return UnaryPlan{{factors[0] * input[0], factors[1] * input[1], input[2]}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const auto& factors = options_.size.values;
    const Shape shape = x.shape();
    return resized(x, {factors.front() * shape[1], factors.back() * shape[2]},
                   options_.interpolation, false);
  }

 private:
  UpSampling2DOptions options_;
};

class Resizing final : public UnaryLayer {
 public:
  explicit Resizing(ResizingOptions options) : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "Resizing"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_image(input));
    LATHE_TRY(check_interpolation(options_.interpolation));
    LATHE_TRY(check_size(options_.height, options_.width));
    return UnaryPlan{{options_.height, options_.width, input[2]}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return resized(x, {options_.height, options_.width}, options_.interpolation,
                   !options_.crop_to_aspect_ratio);
  }

 private:
  ResizingOptions options_;
};

// The first of `size` of `all` rows or columns that TensorFlow.js crops; -1 if there are too few.
int64_t crop_begin(int64_t all, int64_t size, bool is_width) {
  if (all < size) return -1;
  const int64_t begin = (all - size) / 2;
  return is_width && all > size ? std::max<int64_t>(begin, 1) : begin;
}

// `size` of them from `begin` on, as TensorFlow.js selects them: it measures an image by the
// distance of its outermost pixels, so that some are repeated or skipped.
Tensor cropped(Tensor x, int axis, int64_t size, int64_t begin) {
  if (!x.valid()) return x;
  const auto all = static_cast<double>(x.shape()[axis]);
  const auto coordinate = [all](int64_t index) {
    return static_cast<double>(static_cast<float>(static_cast<double>(index) / all)) * (all - 1);
  };
  const double first = coordinate(begin), last = coordinate(begin + size);
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < size; ++i) {
    const double step = static_cast<double>(i) * (last - first) / static_cast<double>(size - 1);
    indices.push_back(
        static_cast<int32_t>(std::floor((size > 1 ? first + step : (first + last) / 2) + 0.5)));
  }
  const auto bytes = std::as_bytes(std::span(indices));
  return ops::gather(
      x, x.builder->constant(graph::DType::I32, {size}, {bytes.begin(), bytes.end()}), axis);
}

class CenterCrop final : public UnaryLayer {
 public:
  explicit CenterCrop(const CenterCropOptions& options)
      : UnaryLayer(options), height_(options.height), width_(options.width) {}

  std::string_view class_name() const override { return "CenterCrop"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_image(input));
    LATHE_TRY(check_size(height_, width_));
    return UnaryPlan{{height_, width_, input[2]}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const Shape shape = x.shape();
    const int64_t top = crop_begin(shape[1], height_, false);
    const int64_t left = crop_begin(shape[2], width_, true);
    if (top < 0 || left < 0) return ops::resize_bilinear(x, {height_, width_}, false, false);
    return cropped(cropped(x, 1, height_, top), 2, width_, left);
  }

 private:
  int64_t height_, width_;
};

class Rescaling final : public UnaryLayer {
 public:
  explicit Rescaling(const RescalingOptions& options)
      : UnaryLayer(options),
        scale_(static_cast<float>(options.scale)),
        offset_(static_cast<float>(options.offset)) {}

  std::string_view class_name() const override { return "Rescaling"; }
  bool supports_masking() const override { return true; }
  Result<UnaryPlan> plan(const Shape& input) const override { return UnaryPlan{input, {}}; }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return x * scale_ + offset_;
  }

 private:
  float scale_, offset_;
};

class CategoryEncoding final : public UnaryLayer {
 public:
  explicit CategoryEncoding(CategoryEncodingOptions options)
      : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "CategoryEncoding"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    const std::string& mode = options_.output_mode;
    if (options_.num_tokens < 1 || options_.num_tokens > INT32_MAX) {
      return fail(concat("numTokens must be a positive integer, got ", options_.num_tokens));
    }
    if (mode != "oneHot" && mode != "multiHot" && mode != "count") {
      return fail(concat("outputMode must be \"oneHot\", \"multiHot\" or \"count\", got \"",
                         mode.substr(0, 60), '"'));
    }
    if (input.size() != 1 || (mode == "oneHot" && input[0] != 1)) {
      return fail(concat("expects examples of shape [", mode == "oneHot" ? "1" : "categories",
                         "], got ", bracketed(input)));
    }
    return UnaryPlan{{options_.num_tokens}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    graph::Builder& builder = *x.builder;
    const Shape shape = x.shape();
    const Tensor flat = builder.reshape(builder.cast(x, graph::DType::I32), {-1});
    const Tensor each = builder.reshape(ops::one_hot(flat, static_cast<int>(options_.num_tokens)),
                                        {shape[0], shape[1], options_.num_tokens});
    return options_.output_mode == "count" ? sum(each, {1}) : max(each, {1});
  }

 private:
  CategoryEncodingOptions options_;
};

}  // namespace

LayerPtr up_sampling2d(UpSampling2DOptions options) {
  return std::make_shared<UpSampling2D>(std::move(options));
}

LayerPtr resizing(ResizingOptions options) {
  return std::make_shared<Resizing>(std::move(options));
}

LayerPtr center_crop(CenterCropOptions options) { return std::make_shared<CenterCrop>(options); }

LayerPtr rescaling(RescalingOptions options) { return std::make_shared<Rescaling>(options); }

LayerPtr category_encoding(CategoryEncodingOptions options) {
  return std::make_shared<CategoryEncoding>(std::move(options));
}

}  // namespace lathe::nn
