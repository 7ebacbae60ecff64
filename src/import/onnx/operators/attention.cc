// Attention of ai.onnx, its relatives, and rotary embeddings.
#include "lathe/ops/nn/attention.h"

#include <array>
#include <cmath>
#include <limits>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/control.h"
#include "lathe/import/onnx/operators/products.h"
#include "lathe/import/onnx/operators/reductions.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

namespace {

Tensor lowest(Tensor like) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  return like.builder->full({}, scalar::Number::from(like.dtype(), kNone));
}

// Exponentials are computed in f32 or narrower.
Tensor softmax(Tensor scores, bool may_see_none) {
  Builder& builder = *scores.builder;
  const Tensor x = builder.cast(scores, DType::F32);
  return builder.convert(may_see_none ? ops::masked_softmax(x) : ops::softmax(x), scores.dtype());
}

// Queries, keys and values [b, heads, length, size], the latter two with what is past in front.
struct Operands {
  Tensor q, k, v;
  bool is_flat;  // the heads were in the last axis
  Tensor past;   // keys, I32 []
};

Result<Operands> read_operands(Call& call) {
  const auto number = [&](int64_t value) {
    return call.builder().full({}, scalar::Number::of(static_cast<int32_t>(value)));
  };
  Operands x{call.tensor(0), call.tensor(1), call.tensor(2), call.rank(0) == 3, number(0)};
  if (x.is_flat) {
    const int64_t heads = call.int_of("q_num_heads", 0), groups = call.int_of("kv_num_heads", 0);
    x.q = ops::split_heads(x.q, heads);
    x.k = ops::split_heads(x.k, groups);
    x.v = ops::split_heads(x.v, groups);
  }
  if (call.has(4) != call.has(5)) return call.reject("past key and value come together");
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows != nullptr && call.has(4) && rows->is_past(call.tensor(4), 2) &&
      rows->is_past(call.tensor(5), 2)) {
    x.past = rows->past_length();
    x.k = rows->append_rows(call.tensor(4), x.k);
    x.v = rows->append_rows(call.tensor(5), x.v);
  } else if (call.has(4)) {
    x.past = number(call.rank(4) == 4 ? call.shape(4)[2] : 0);
    x.k = ops::concatenate({call.tensor(4), x.k}, 2);
    x.v = ops::concatenate({call.tensor(5), x.v}, 2);
  }
  if (x.q.valid() && x.k.valid() && x.v.valid() && x.q.rank() == 4 && x.k.rank() == 4) return x;
  if (!call.builder().ok()) return call.reject(call.builder().message());
  return call.reject(concat("requires three or four axes, has ", bracketed(call.shape(0))));
}

// The mask as what is added to scores and what may be seen: [.., m], missing keys are not.
struct Mask {
  Tensor bias = {}, seen = {};
};
Mask read_mask(Call& call, const Operands& x, DType dtype) {
  Mask mask;
  if (!call.has(3)) return mask;
  Tensor mask_input = call.tensor(3);
  if (mask_input.rank() == 0) mask_input = ops::expand_dims(mask_input, 0);
  Builder& builder = call.builder();
  if (mask_input.rank() == 0) {
    builder.error("its mask requires an axis of keys");
    return mask;
  }
  const int64_t missing = x.k.shape()[2] - mask_input.shape().back();
  const bool is_truth = mask_input.dtype() == DType::Bool;
  if (!is_truth) mask_input = builder.convert(mask_input, dtype);
  if (missing > 0 && mask_input.valid()) {
    ops::Pairs padding(mask_input.shape().size());
    padding.back().second = missing;
    mask_input = is_truth ? ops::pad(mask_input, padding, 0)
                          : ops::pad_with(mask_input, padding, lowest(mask_input));
  }
  if (is_truth) {
    mask.seen = mask_input;
  } else {
    mask.bias = mask_input;
    mask.seen = builder.map(Op::Ne, std::array{mask_input, lowest(mask_input)});
  }
  return mask;
}

}  // namespace

Result<Values> attention(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Operands x, read_operands(call));
  Builder& builder = call.builder();
  const int64_t queries = x.q.shape()[2], keys = x.k.shape()[2];
  const double size = static_cast<double>(x.q.shape()[3]);
  const float scale = call.float_of("scale", static_cast<float>(1 / std::sqrt(size)));
  Tensor scores = ops::attention_scores(x.q, x.k, scale);
  std::array<Tensor, 4> stages = {scores};
  if (const float cap = call.float_of("softcap", 0); cap > 0) scores = tanh(scores / cap) * cap;
  stages[1] = scores;
  Mask mask = read_mask(call, x, scores.dtype());
  if (mask.bias.valid()) scores = scores + mask.bias;
  ops::KeyWindow window{.first = x.past,
                        .left = call.int_of("left_window_size", -1),
                        .right = call.int_of("right_window_size", -1)};
  if (call.int_of("is_causal", 0) != 0) window.right = 0;
  const bool has_lengths = call.has(6);
  if (has_lengths) {
    if (PaddedAxes* rows = call.tracer().padded_axes()) {
      LATHE_TRY(rows->propagate());
      if (rows->is_padded(x.q, 2)) return call.reject_length();
    }
    const Tensor count = builder.full({}, scalar::Number::of(static_cast<int32_t>(queries)));
    window.first = builder.cast(call.tensor(6), DType::I32) - count;
    mask.seen = mask_and(mask.seen, ops::length_mask(call.tensor(6), keys));
  }
  const bool may_see_none = mask.seen.valid() || has_lengths || window.left >= 0;
  mask.seen = mask_and(mask.seen, ops::key_window_mask(window, queries, keys));
  if (mask.seen.valid()) scores = select(mask.seen, scores, lowest(scores));
  stages[2] = scores;
  const Tensor weights = softmax_along(
      call, scores, 3, [&](Tensor mask_input) { return softmax(mask_input, may_see_none); });
  stages[3] = weights;
  Tensor y = builder.convert(weighted_sum(call, weights, x.v), x.q.dtype());
  if (x.is_flat) y = ops::merge_heads(y);
  Values results = {y, x.k, x.v};
  if (call.has_output(3)) {
    const int64_t mode = call.int_of("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3) return call.reject(concat("knows no qk_matmul_output_mode ", mode));
    results.emplace_back(builder.convert(stages[static_cast<size_t>(mode)], x.q.dtype()));
  }
  return results;
}

// Attention whose scores and weights go through graphs of the node.
Result<Values> flex_attention(Call& call) {
  const Tensor q = call.tensor(0), k = call.tensor(1), v = call.tensor(2);
  if (q.rank() != 4) return call.reject(concat("q ", bracketed(q.shape()), " has not four axes"));
  Builder& builder = call.builder();
  const double size = static_cast<double>(q.shape()[3]);
  const float scale = call.float_of("scale", static_cast<float>(1 / std::sqrt(size)));
  const auto precision = type_of(call.int_of("softmax_precision", 0));
  const auto modified = [&](std::string_view name, Tensor x) -> Result<Tensor> {
    if (!call.has_attribute(name)) return x;
    LATHE_ASSIGN_OR_RETURN(const GraphProto* graph, graph_of(call, name));
    LATHE_ASSIGN_OR_RETURN(const Values outputs, call.tracer().inlined(*graph, {Value(x)}));
    if (outputs.size() != 1) return call.reject(concat("graph '", name, "' must have one output"));
    return builder.convert(call.tracer().tensor(outputs[0]), x.dtype());
  };
  Tensor scores = ops::attention_scores(q, k, scale);
  if (precision) scores = builder.convert(scores, dtype_of(*precision));
  LATHE_ASSIGN_OR_RETURN(scores, modified("score_mod", scores));
  LATHE_ASSIGN_OR_RETURN(const Tensor weights, modified("prob_mod", softmax(scores, false)));
  const Tensor wide = builder.convert(weights, scalar::computed(v.dtype()));
  return Values{builder.convert(ops::weighted_values(wide, v), v.dtype())};
}

namespace {

// [b, t, h d] or [b, t, h] -> [t, b, h, d or 1], of f32.
Tensor by_steps(Tensor x, int64_t heads) {
  const Shape s = x.shape();
  if (s.size() != 3 || heads <= 0 || s[2] % heads != 0) {
    return x.builder->error(concat(bracketed(s), " is not [batch, steps, heads·size]"));
  }
  const Tensor wide = x.builder->cast(x, DType::F32);
  return x.builder->permute(x.builder->reshape(wide, {s[0], s[1], heads, s[2] / heads}),
                            {1, 0, 2, 3});
}

}  // namespace

// Attention without softmax as a recurrence over a state [b, g, d, e]: Katharopoulos et al.,
// "Transformers are RNNs", 2020; with decay and the delta rule Yang et al., "Gated delta networks",
// 2024.
Result<Values> linear_attention(Call& call) {
  const int64_t heads = call.int_of("q_num_heads", 0), groups = call.int_of("kv_num_heads", 0);
  const std::string rule = call.string_of("update_rule", "gated_delta");
  const bool decays = rule == "gated" || rule == "gated_delta";
  const bool corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear") {
    return call.reject(concat("knows no update_rule '", rule, '\''));
  }
  if (heads <= 0 || groups <= 0 || heads % groups != 0 || call.rank(0) != 3 || call.rank(1) != 3 ||
      call.rank(2) != 3 || call.shape(0)[2] % heads != 0 || call.shape(1)[2] % groups != 0 ||
      call.shape(2)[2] % groups != 0) {
    return call.reject(concat("q ", bracketed(call.shape(0)), " is not ", heads, " heads, or k ",
                              bracketed(call.shape(1)), " not ", groups));
  }
  if (decays != call.has(4) || corrects != call.has(5)) {
    return call.reject(concat("update_rule '", rule, "' requires ", decays ? "a" : "no",
                              " decay and ", corrects ? "a" : "no", " beta"));
  }
  for (const size_t i : {4, 5}) {
    if (call.has(i) && call.rank(i) != 3) {
      return call.reject(concat("input ", bracketed(call.shape(i)), " has not three axes"));
    }
  }
  Builder& builder = call.builder();
  const Tensor q = by_steps(call.tensor(0), heads), k = by_steps(call.tensor(1), groups),
               v = by_steps(call.tensor(2), groups);
  if (!builder.ok()) return call.reject(builder.message());
  const int64_t steps = q.shape()[0], batch = q.shape()[1], d = q.shape()[3], e = v.shape()[3];
  const double mask_input = call.float_of("scale", 0);
  const auto scale =
      static_cast<float>(mask_input == 0 ? 1 / std::sqrt(static_cast<double>(d)) : mask_input);
  std::vector<Tensor> slices = {q, k, v};
  if (decays) slices.push_back(exp(by_steps(call.tensor(4), groups)));
  if (corrects)
    slices.push_back(by_steps(call.tensor(5), call.rank(5) > 0 ? call.shape(5).back() : 0));
  const Tensor state = call.has(3) ? builder.cast(call.tensor(3), DType::F32)
                                   : builder.full({batch, groups, d, e}, scalar::Number::of(0.0f));
  const auto body = [&](const ops::ScanStep& step) {
    Builder& inner = step.builder;
    Tensor memory = step.carried[0], value = ops::expand_dims(step.slices[2], 2);
    const Tensor key = ops::expand_dims(step.slices[1], 3);  // [b, g, d, 1]
    if (decays) memory = memory * ops::expand_dims(step.slices[3], 3);
    if (corrects) {
      const Tensor retrieved = inner.matmul(key, memory, true);  // [b, g, 1, e]
      value = ops::expand_dims(step.slices.back(), 3) * (value - retrieved);
    }
    memory = memory + key * value;
    const Tensor query = inner.reshape(step.slices[0], {batch, groups, heads / groups, d});
    return ops::ScanResult{{memory}, {inner.matmul(query, memory) * scale}};
  };
  const ops::ScanResult result = ops::scan(builder, {.steps = steps}, {{state}}, slices, {}, body);
  if (result.stacked.empty()) return Values{};
  const Tensor all = builder.reshape(result.stacked[0], {steps, batch, heads * e});
  const Type of_state = call.has(3) ? call.type(3) : call.type(0);
  return Values{builder.convert(builder.permute(all, {1, 0, 2}), dtype_of(call.type(0))),
                builder.convert(result.carried[0], dtype_of(of_state))};
}

namespace {

// x as [b, h, n, d], rotated by cosines and sines of shape [b, n, d / 2].
Result<Values> rotated(Call& call, Tensor x, Tensor cosine, Tensor sine) {
  if (cosine.rank() != 3) {
    return call.reject(concat("its cosines ", bracketed(cosine.shape()), " do not fit the tokens"));
  }
  const bool is_flat = call.rank(0) == 3;
  if (is_flat) {
    const int64_t size = cosine.shape().back() * 2;
    const int64_t heads = call.int_of("num_heads", 0);
    x = ops::split_heads(x, heads > 0 ? heads : x.shape()[2] / std::max<int64_t>(size, 1));
  }
  const DType dtype = x.dtype(), wide = scalar::computed(dtype);
  Builder& builder = call.builder();
  x = ops::rotary_embedding(builder.convert(x, wide), builder.convert(cosine, wide),
                            builder.convert(sine, wide), call.int_of("interleaved", 0) != 0);
  x = builder.convert(x, dtype);
  return Values{is_flat ? ops::merge_heads(x) : x};
}

}  // namespace

Result<Values> rotary_embedding(Call& call) {
  Tensor cosine = call.tensor(1), sine = call.tensor(2);
  if (call.has(3)) {
    cosine = ops::gather(cosine, call.tensor(3), 0);
    sine = ops::gather(sine, call.tensor(3), 0);
  }
  return rotated(call, call.tensor(0), cosine, sine);
}

// Its positions are one for each token, or the first one of all.
Result<Values> contrib_rotary_embedding(Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() != 3 && x.rank() != 4) {
    return call.reject(concat("x ", bracketed(x.shape()), " has not three or four axes"));
  }
  Builder& builder = call.builder();
  Tensor position = builder.cast(call.tensor(1), DType::I32);
  if (graph::element_count(position.shape()) == 1 && position.rank() < 2) {
    const int64_t tokens = x.shape()[x.rank() == 4 ? 2 : 1];
    position = builder.reshape(position, {1, 1}) + builder.iota({1, tokens}, 1);
  }
  return rotated(call, x, ops::gather(call.tensor(2), position, 0),
                 ops::gather(call.tensor(3), position, 0));
}

}  // namespace lathe::onnx::rows
