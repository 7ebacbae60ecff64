#include "lathe/nn/layers/pooling.h"

#include "lathe/ops/windows/pool.h"

namespace lathe::nn {
namespace {

using Pool = Tensor (*)(Tensor x, const Shape& size, const ops::WindowOptions& options);
using GlobalPool = Tensor (*)(Tensor x);

class Pooling final : public UnaryLayer {
 public:
  Pooling(std::string_view class_name, size_t axes, Pool pool, PoolingOptions options)
      : UnaryLayer(options),
        class_name_(class_name),
        axes_(axes),
        pool_(pool),
        options_(std::move(options)) {
    if (options_.strides.empty()) options_.strides = options_.pool_size;
  }

  std::string_view class_name() const override { return class_name_; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_ASSIGN_OR_RETURN(Window found, window_on(input));
    found.out.push_back(input.back());
    return UnaryPlan{std::move(found.out), {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    const auto found = window_on({x.shape().begin() + 1, x.shape().end()});
    return found ? pool_(x, found->size, found->options) : x.builder->error(found.error().message);
  }

 private:
  Result<Window> window_on(const Shape& input) const {
    return window(axes_, "poolSize", {options_.pool_size, options_.strides, 1, options_.padding},
                  input);
  }

  std::string_view class_name_;
  size_t axes_;
  Pool pool_;
  PoolingOptions options_;
};

class GlobalPooling final : public UnaryLayer {
 public:
  GlobalPooling(std::string_view class_name, size_t axes, GlobalPool pool,
                const GlobalPoolingOptions& options)
      : UnaryLayer(options), class_name_(class_name), axes_(axes), pool_(pool) {}

  std::string_view class_name() const override { return class_name_; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    LATHE_TRY(check_spatial(axes_, input));
    return UnaryPlan{{input.back()}, {}};
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override { return pool_(x); }

 private:
  std::string_view class_name_;
  size_t axes_;
  GlobalPool pool_;
};

}  // namespace

LayerPtr max_pooling1d(PoolingOptions options) {
  return std::make_shared<Pooling>("MaxPooling1D", 1, ops::max_pool, std::move(options));
}
LayerPtr max_pooling2d(PoolingOptions options) {
  return std::make_shared<Pooling>("MaxPooling2D", 2, ops::max_pool, std::move(options));
}
LayerPtr max_pooling3d(PoolingOptions options) {
  return std::make_shared<Pooling>("MaxPooling3D", 3, ops::max_pool, std::move(options));
}
LayerPtr average_pooling1d(PoolingOptions options) {
  return std::make_shared<Pooling>("AveragePooling1D", 1, ops::average_pool, std::move(options));
}
LayerPtr average_pooling2d(PoolingOptions options) {
  return std::make_shared<Pooling>("AveragePooling2D", 2, ops::average_pool, std::move(options));
}
LayerPtr average_pooling3d(PoolingOptions options) {
  return std::make_shared<Pooling>("AveragePooling3D", 3, ops::average_pool, std::move(options));
}

LayerPtr global_max_pooling1d(GlobalPoolingOptions options) {
  return std::make_shared<GlobalPooling>("GlobalMaxPooling1D", 1, ops::global_max_pool,
                                         std::move(options));
}
LayerPtr global_max_pooling2d(GlobalPoolingOptions options) {
  return std::make_shared<GlobalPooling>("GlobalMaxPooling2D", 2, ops::global_max_pool,
                                         std::move(options));
}
LayerPtr global_average_pooling1d(GlobalPoolingOptions options) {
  return std::make_shared<GlobalPooling>("GlobalAveragePooling1D", 1, ops::global_average_pool,
                                         std::move(options));
}
LayerPtr global_average_pooling2d(GlobalPoolingOptions options) {
  return std::make_shared<GlobalPooling>("GlobalAveragePooling2D", 2, ops::global_average_pool,
                                         std::move(options));
}

}  // namespace lathe::nn
