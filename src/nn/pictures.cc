#include "lathe/nn/pictures.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/ops/losses.h"
#include "lathe/ops/movement.h"
#include "lathe/ops/resize.h"

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
    LATHE_TRY(check_picture(input));
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
    LATHE_TRY(check_picture(input));
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

class CenterCrop final : public UnaryLayer {
 public:
  explicit CenterCrop(const CenterCropOptions& options)
      : UnaryLayer(options), height_(options.height), width_(options.width) {}

  std::string_view class_name() const override { return "CenterCrop"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_picture(input));
    LATHE_TRY(check_size(height_, width_));
    return UnaryPlan{{height_, width_, input[2]}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const Shape shape = x.shape();
    if (shape[1] < height_ || shape[2] < width_) {
      return ops::resize_bilinear(x, {height_, width_}, false, false);
    }
    return ops::slice(x, {0, (shape[1] - height_) / 2, (shape[2] - width_) / 2, 0},
                      Shape{shape[0], height_, width_, shape[3]});
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
      return fail(concat("takes examples of shape [", mode == "oneHot" ? "1" : "categories",
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
