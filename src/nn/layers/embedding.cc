#include "lathe/nn/layers/embedding.h"

#include "lathe/base/text.h"
#include "lathe/ops/movement/indexing.h"

namespace lathe::nn {
namespace {

using graph::DType;
using graph::Op;

Tensor differs(Tensor x, float value) {
  graph::Builder& builder = *x.builder;
  return builder.map(Op::Ne, {{x, builder.scalar(value)}}, "mask");
}

EmbeddingOptions with_input_shape(EmbeddingOptions options) {
  if (options.input_length > 0 && options.input_shape.empty()) {
    options.input_shape = {options.input_length};
  }
  return options;
}

class Embedding final : public UnaryLayer {
 public:
  explicit Embedding(EmbeddingOptions options)
      : UnaryLayer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "Embedding"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    const auto& [rows, width] = std::pair(options_.input_dim, options_.output_dim);
    if (rows < 1) return fail(concat("inputDim must be a positive integer, got ", rows));
    if (width < 1) return fail(concat("outputDim must be a positive integer, got ", width));
    Shape output = input;
    output.push_back(width);
    return UnaryPlan{std::move(output), {{"embeddings", {rows, width}, options_.embeddings}}};
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context& context) const override {
    if (options_.mask_zero) context.output_masks = {differs(x, 0)};
    return ops::gather(weights[0], x.builder->cast(x, DType::I32), 0);
  }

 private:
  EmbeddingOptions options_;
};

class Masking final : public UnaryLayer {
 public:
  explicit Masking(const MaskingOptions& options)
      : UnaryLayer(options), mask_value_(static_cast<float>(options.mask_value)) {}

  std::string_view class_name() const override { return "Masking"; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    if (input.size() >= 2) return UnaryPlan{input, {}};
    return fail(concat("expects examples of shape [steps, …], got ", bracketed(input)));
  }

  Tensor build(Tensor x, std::span<const Tensor>, Context& context) const override {
    graph::Builder& builder = *x.builder;
    std::vector<int> axes;
    for (int axis = 2; axis < x.rank(); ++axis) axes.push_back(axis);
    const Tensor present = builder.reduce(Op::Or, differs(x, mask_value_), axes, true);
    context.output_masks = {builder.reshape(present, {x.shape().begin(), x.shape().begin() + 2})};
    return x * builder.cast(present, DType::F32);
  }

 private:
  float mask_value_;
};

}  // namespace

LayerPtr embedding(EmbeddingOptions options) {
  return std::make_shared<Embedding>(with_input_shape(std::move(options)));
}

LayerPtr masking(MaskingOptions options) { return std::make_shared<Masking>(options); }

}  // namespace lathe::nn
