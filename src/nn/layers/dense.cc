#include "lathe/nn/layers/dense.h"

#include "lathe/base/text.h"

namespace lathe::nn {
namespace {

class Dense final : public UnaryLayer {
 public:
  explicit Dense(DenseOptions options)
      : UnaryLayer(options, options.activation), options_(std::move(options)) {}

  std::string_view class_name() const override { return "Dense"; }
  bool supports_masking() const override { return true; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    if (options_.units < 1 || options_.units > INT32_MAX) {
      return fail(concat("units must be a positive integer, got ", options_.units));
    }
    if (input.empty()) return fail(scalar_example_error());
    UnaryPlan plan{input, {}};
    plan.output.back() = options_.units;
    plan.weights.push_back({"kernel", {input.back(), options_.units}, options_.kernel});
    if (options_.use_bias) plan.weights.push_back({"bias", {options_.units}, options_.bias});
    return plan;
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context&) const override {
    Shape out = x.shape();
    const int64_t width = out.back();
    out.back() = options_.units;
    graph::Builder& builder = *x.builder;
    if (out.size() > 2) x = builder.reshape(x, {-1, width});
    x = builder.matmul(x, weights[0]);
    if (options_.use_bias) x = x + weights[1];
    return out.size() > 2 ? builder.reshape(x, out) : x;
  }

 private:
  DenseOptions options_;
};

}  // namespace

LayerPtr dense(DenseOptions options) { return std::make_shared<Dense>(std::move(options)); }

}  // namespace lathe::nn
