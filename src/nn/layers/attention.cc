#include "lathe/nn/layers/attention.h"

#include <cmath>

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/activations.h"

namespace lathe::nn {
namespace {

using graph::Builder;

// Added to the scores of steps that are left out, as TensorFlow.js and Keras do.
constexpr float kMasked = -1e9f;

class MultiHeadAttention final : public Layer {
 public:
  explicit MultiHeadAttention(MultiHeadAttentionOptions options)
      : Layer(options), options_(std::move(options)) {
    if (options_.value_dim == 0) options_.value_dim = options_.key_dim;
  }

  std::string_view class_name() const override { return "MultiHeadAttention"; }

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const override {
    if (options_.num_heads < 1 || options_.key_dim < 1) {
      return fail(concat("numHeads and keyDim must be positive integers, got ", options_.num_heads,
                         " and ", options_.key_dim));
    }
    if (inputs.size() > 3) return fail(concat("expects up to three inputs, got ", inputs.size()));
    for (const Shape& input : inputs) {
      if (input.size() != 2) {
        return fail(concat("expects examples of shape [steps, channels], got ", bracketed(input)));
      }
    }
    const Shape &query = inputs[0], &value = inputs[inputs.size() > 1], &key = inputs.back();
    if (inputs.size() == 3 && key[0] != value[0]) {
      return fail(concat("value ", bracketed(value), " and key ", bracketed(key),
                         " must have as many steps"));
    }
    const int64_t heads = options_.num_heads, out = output_channels(query);
    LayerPlan plan{{{query[0], out}}, {}};
    add_weights(plan, "query", {query[1], heads, options_.key_dim}, {heads, options_.key_dim});
    const Shape& keys = inputs.size() == 3 ? key : value;
    add_weights(plan, "key", {keys[1], heads, options_.key_dim}, {heads, options_.key_dim});
    add_weights(plan, "value", {value[1], heads, options_.value_dim}, {heads, options_.value_dim});
    add_weights(plan, "attention_output", {heads, options_.value_dim, out}, {out});
    return plan;
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const override {
    for (const Tensor& input : inputs) {
      if (!input.valid()) return {input};
    }
    const Tensor query = inputs[0], value = inputs[inputs.size() > 1];
    const Tensor key = inputs.size() == 3 ? inputs[2] : value;
    Builder& builder = *query.builder;
    const size_t step = options_.use_bias ? 2 : 1;
    const auto heads_of = [&](Tensor x, size_t which) {
      return builder.permute(project(x, weights.subspan(which * step, step)), {0, 2, 1, 3});
    };
    const float scale = 1 / std::sqrt(static_cast<float>(options_.key_dim));
    Tensor scores = builder.matmul(heads_of(query, 0) * scale, heads_of(key, 1), false, true);
    scores = masked(scores, context);
    const Tensor mixed = builder.matmul(ops::softmax(scores), heads_of(value, 2));
    return {merge_heads(builder.permute(mixed, {0, 2, 1, 3}), weights.subspan(3 * step, step))};
  }

 private:
  int64_t output_channels(const Shape& query) const {
    return options_.output_shape > 0 ? options_.output_shape : query[1];
  }

  void add_weights(LayerPlan& plan, std::string_view name, Shape kernel, Shape bias) const {
    plan.weights.push_back({concat(name, "/kernel"), std::move(kernel), options_.kernel});
    if (options_.use_bias) {
      plan.weights.push_back({concat(name, "/bias"), std::move(bias), options_.bias});
    }
  }

  // x [batch, steps, c] by kernel [c, heads, n] -> [batch, steps, heads, n].
  Tensor project(Tensor x, std::span<const Tensor> weights) const {
    Builder& builder = *x.builder;
    const Shape in = x.shape(), kernel = weights[0].shape();
    Tensor y = builder.matmul(builder.reshape(x, {-1, kernel[0]}),
                              builder.reshape(weights[0], {kernel[0], -1}));
    if (options_.use_bias) y = y + builder.reshape(weights[1], {-1});
    return builder.reshape(y, {in[0], in[1], kernel[1], kernel[2]});
  }

  // x [batch, steps, heads, n] by kernel [heads, n, c] -> [batch, steps, c].
  Tensor merge_heads(Tensor x, std::span<const Tensor> weights) const {
    Builder& builder = *x.builder;
    const Shape in = x.shape();
    const int64_t channels = weights[0].shape().back();
    Tensor y = builder.matmul(builder.reshape(x, {in[0] * in[1], -1}),
                              builder.reshape(weights[0], {-1, channels}));
    if (options_.use_bias) y = y + weights[1];
    return builder.reshape(y, {in[0], in[1], channels});
  }

  // Scores [batch, heads, t, s] with those that must not be seen lowered.
  Tensor masked(Tensor scores, const Context& context) const {
    Builder& builder = *scores.builder;
    const Shape shape = scores.shape();
    const auto lower = [&](Tensor seen, Shape spread) {
      const Tensor present =
          builder.reshape(builder.cast(seen, graph::DType::F32), std::move(spread));
      scores = scores + (1.0f - present) * kMasked;
    };
    const auto mask_of = [&](size_t input) {
      return input < context.masks.size() ? context.masks[input] : Tensor{};
    };
    const Tensor queries = mask_of(0), values = mask_of(context.masks.size() > 1 ? 1 : 0);
    if (queries.valid()) lower(queries, {shape[0], 1, shape[2], 1});
    if (values.valid()) lower(values, {shape[0], 1, 1, shape[3]});
    if (options_.use_causal_mask) {
      const Shape square = {shape[2], shape[3]};
      lower(builder.iota(square, 1) <= builder.iota(square, 0), {1, 1, shape[2], shape[3]});
    }
    return scores;
  }

  MultiHeadAttentionOptions options_;
};

}  // namespace

LayerPtr multi_head_attention(MultiHeadAttentionOptions options) {
  return std::make_shared<MultiHeadAttention>(std::move(options));
}

}  // namespace lathe::nn
