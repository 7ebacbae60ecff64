#include "nn/pooling.h"

#include "ops/pool.h"

namespace lathe::nn {
namespace {

using Pool = Tensor (*)(Tensor x, const Shape& size, const ops::WindowOptions& options);
using GlobalPool = Tensor (*)(Tensor x);

class Pooling2D final : public UnaryLayer {
 public:
  Pooling2D(std::string_view class_name, Pool pool, Pooling2DOptions options)
      : UnaryLayer(options), class_name_(class_name), pool_(pool), options_(std::move(options)) {
    if (options_.strides.empty()) options_.strides = options_.pool_size;
  }

  std::string_view class_name() const override { return class_name_; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    ASSIGN_OR_RETURN(const Window2D found, window(input));
    return UnaryPlan{{found.out[0], found.out[1], input.back()}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const auto found = window({x.shape().begin() + 1, x.shape().end()});
    return found ? pool_(x, found->size, found->options) : x.builder->error(found.error().message);
  }

 private:
  Result<Window2D> window(const Shape& input) const {
    return window2d("poolSize", {options_.pool_size, options_.strides, 1, options_.padding}, input);
  }

  std::string_view class_name_;
  Pool pool_;
  Pooling2DOptions options_;
};

class GlobalPooling2D final : public UnaryLayer {
 public:
  GlobalPooling2D(std::string_view class_name, GlobalPool pool, GlobalPooling2DOptions options)
      : UnaryLayer(options), class_name_(class_name), pool_(pool) {}

  std::string_view class_name() const override { return class_name_; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    TRY(check_picture(input));
    return UnaryPlan{{input.back()}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override { return pool_(x); }

 private:
  std::string_view class_name_;
  GlobalPool pool_;
};

}  // namespace

LayerPtr max_pooling2d(Pooling2DOptions options) {
  return std::make_shared<Pooling2D>("MaxPooling2D", ops::max_pool, std::move(options));
}

LayerPtr average_pooling2d(Pooling2DOptions options) {
  return std::make_shared<Pooling2D>("AveragePooling2D", ops::average_pool, std::move(options));
}

LayerPtr global_max_pooling2d(GlobalPooling2DOptions options) {
  return std::make_shared<GlobalPooling2D>("GlobalMaxPooling2D", ops::global_max_pool,
                                           std::move(options));
}

LayerPtr global_average_pooling2d(GlobalPooling2DOptions options) {
  return std::make_shared<GlobalPooling2D>("GlobalAveragePooling2D", ops::global_average_pool,
                                           std::move(options));
}

}  // namespace lathe::nn
