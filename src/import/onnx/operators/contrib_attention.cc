// Attention operators of com.microsoft, as ONNX Runtime computes them on processors
// (docs/ContribOperators.md there).
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/products.h"
#include "lathe/import/onnx/operators/quantized.h"
#include "lathe/import/onnx/operators/reductions.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/nn/attention.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

namespace {

Tensor number(Builder& builder, int64_t value) {
  return builder.full({}, scalar::Number::of(static_cast<int32_t>(value)));
}

// Queries, keys and values [b, heads, length, size] and what changes their scores.
struct Heads {
  Tensor q, k, v;
  Tensor bias = {};  // added
  Tensor seen = {};  // keys outside are masked
  Tensor sink = {};  // [h]: scores of a key without value
  float softcap = 0;
};

struct Attended {
  Tensor y;  // [b, n, h e]
  Tensor scores, weights;
};

// Checks ranks before sizes are read.
Status check_heads(Call& call, const Heads& heads) {
  if (!call.builder().ok()) return call.reject(call.builder().message());
  if (heads.q.rank() == 4 && heads.k.rank() == 4 && heads.v.rank() == 4) return {};
  return call.reject(concat("q ", bracketed(heads.q.shape()), ", k ", bracketed(heads.k.shape()),
                            " and v ", bracketed(heads.v.shape()), " are not heads of a batch"));
}

// Past keys and values, if any, must have four axes, and a bias of projections one.
Status check_axes(Call& call, std::initializer_list<size_t> caches, size_t bias) {
  for (const size_t i : caches) {
    if (call.has(i) && call.rank(i) != 4) {
      return call.reject(concat("past ", bracketed(call.shape(i)), " has not four axes"));
    }
  }
  if (!call.has(bias) || call.rank(bias) == 1) return {};
  return call.reject(concat("bias ", bracketed(call.shape(bias)), " has not one axis"));
}

float scale_of(const Call& call, const Tensor& q) {
  const float value = call.float_of("scale", 0);
  return value != 0 ? value : static_cast<float>(1 / std::sqrt(static_cast<double>(q.shape()[3])));
}

Tensor softmax_with_sink(Tensor x, Tensor sink) {
  const Tensor sink_scores = ops::reshape(x.builder->convert(sink, x.dtype()), {1, -1, 1, 1});
  const Tensor highest = maximum(max(x, {3}, true), sink_scores);
  const Tensor power = exp(x - highest);
  return power / (sum(power, {3}, true) + exp(sink_scores - highest));
}

Attended attend(Call& call, const Heads& heads) {
  Builder& builder = *heads.q.builder;
  Tensor scores = ops::attention_scores(heads.q, heads.k, scale_of(call, heads.q));
  if (heads.softcap > 0) scores = tanh(scores / heads.softcap) * heads.softcap;
  if (heads.bias.valid()) scores = scores + builder.convert(heads.bias, scores.dtype());
  if (heads.seen.valid()) {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    scores =
        select(heads.seen, scores, builder.full({}, scalar::Number::from(scores.dtype(), kNone)));
  }
  const Tensor weights = softmax_along(call, scores, 3, [&](Tensor x) {
    if (heads.sink.valid()) return softmax_with_sink(x, heads.sink);
    return heads.seen.valid() ? ops::masked_softmax(x) : ops::softmax(x);
  });
  const Tensor y = ops::merge_heads(weighted_sum(call, weights, heads.v));
  return {builder.convert(y, heads.q.dtype()), scores, weights};
}

// The part [begin, begin + size) of the last axis.
Tensor columns(Tensor x, int64_t begin, int64_t size) {
  Shape first(x.shape().size(), 0), shape = x.shape();
  first.back() = begin;
  shape.back() = size;
  return ops::slice(x, first, shape);
}

// How many keys there are before those of the queries.
Result<int64_t> keys_before(Call& call, const Heads& heads) {
  if (PaddedAxes* rows = call.tracer().padded_axes()) {
    LATHE_TRY(rows->propagate());
    if (rows->is_padded(heads.q, 2) != rows->is_padded(heads.k, 2)) return call.reject_length();
  }
  return heads.k.shape()[2] - heads.q.shape()[2];
}

// What a mask of operand i adds to scores [b, h, n, m]: the filter where a key is padding.
Result<Tensor> mask_bias(Call& call, size_t i, const Heads& heads, float filter) {
  if (!call.has(i)) return Tensor{};
  Builder& builder = call.builder();
  const int64_t batch = heads.q.shape()[0], queries = heads.q.shape()[2], keys = heads.k.shape()[2];
  const Tensor mask = call.tensor(i);
  const Shape shape = mask.shape();
  Tensor is_valid;
  if (shape.size() == 1 && (shape[0] == batch || shape[0] == 3 * batch + 2)) {
    is_valid = ops::length_mask(ops::slice(mask, {0}, Shape{batch}), keys);
  } else if (shape == Shape{2 * batch}) {
    const Tensor before = ops::length_mask(ops::slice(mask, {batch}, Shape{batch}), keys);
    is_valid = mask_and(ops::length_mask(ops::slice(mask, {0}, Shape{batch}), keys),
                        builder.map(Op::Not, std::array{before}));
  } else if (shape.size() == 2 && shape[1] == keys) {
    is_valid = builder.cast(builder.reshape(mask, {shape[0], 1, 1, keys}), DType::Bool);
  } else if (shape == Shape{batch, 1} || shape == Shape{1, 1}) {
    return Tensor{};  // no mask
  } else if (shape.size() == 3 && shape[1] == queries && shape[2] == keys) {
    is_valid = builder.cast(ops::expand_dims(mask, 1), DType::Bool);
  } else if (shape.size() == 4 && shape[2] >= keys && shape[3] >= keys) {
    LATHE_ASSIGN_OR_RETURN(const int64_t before, keys_before(call, heads));
    const Tensor part =
        ops::slice(mask, {0, 0, before, 0}, Shape{shape[0], shape[1], queries, keys});
    is_valid = builder.cast(part, DType::Bool);
  } else {
    return call.reject(concat("the mask ", bracketed(shape), " fits no batch of ", batch, " with ",
                              queries, " queries and ", keys, " keys"));
  }
  return select(is_valid, builder.scalar(0), builder.scalar(filter));
}

// Adds the mask and the attention bias.
Status add_masks(Call& call, Heads& heads, size_t mask, size_t bias) {
  Builder& builder = call.builder();
  LATHE_ASSIGN_OR_RETURN(
      heads.bias, mask_bias(call, mask, heads, call.float_of("mask_filter_value", -10000.0f)));
  if (call.has(bias)) {
    const Tensor value = builder.cast(call.tensor(bias), DType::F32);
    heads.bias = heads.bias.valid() ? heads.bias + value : value;
  }
  return {};
}

// Adds a causal mask. `position`: of the first query, if it does not follow all other keys.
Status add_order(Call& call, Heads& heads, Tensor position = {}) {
  if (call.int_of("unidirectional", 0) == 0) return {};
  if (!position.valid()) {
    LATHE_ASSIGN_OR_RETURN(const int64_t before, keys_before(call, heads));
    position = number(call.builder(), before);
  }
  const ops::KeyWindow window{.first = position, .right = 0};
  heads.seen =
      mask_and(heads.seen, ops::key_window_mask(window, heads.q.shape()[2], heads.k.shape()[2]));
  return {};
}

// The causal mask without past: the first query is at the first key, and with more keys than
// queries ONNX Runtime lets the last query see all.
Status add_order_from_start(Call& call, Heads& heads) {
  const int64_t queries = heads.q.shape()[2], keys = heads.k.shape()[2];
  if (call.int_of("unidirectional", 0) == 0) return {};
  LATHE_ASSIGN_OR_RETURN(const int64_t before, keys_before(call, heads));
  if (before <= 0) return add_order(call, heads, number(call.builder(), 0));
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows != nullptr && rows->is_padded(heads.k, 2)) return call.reject_length();
  Builder& builder = call.builder();
  const Tensor is_last = builder.iota({queries, 1}, 0) == number(builder, queries - 1);
  const Tensor seen =
      ops::key_window_mask({.first = number(builder, 0), .right = 0}, queries, keys);
  heads.seen = mask_and(heads.seen, builder.map(graph::Op::Or, std::array{seen, is_last}));
  return {};
}

// Appends keys or values to those of the past, operand i: by concatenation, or by writing them into
// a buffer whose first `position` rows are valid.
Tensor append_to_past(Call& call, Tensor rows, size_t i, Tensor position) {
  if (!call.has(i)) return rows;
  const Tensor past = call.tensor(i);
  return position.valid() ? ops::write_rows(past, rows, position, true)
                          : ops::concatenate({past, rows}, 2);
}

Values results_of(Call& call, const Attended& attended, const Heads& heads) {
  Values results = {attended.y, heads.k, heads.v};
  if (call.has_output(3)) results.emplace_back(call.builder().cast(attended.weights, DType::F32));
  return results;
}

}  // namespace

Result<Values> multi_head_attention(Call& call) {
  Builder& builder = call.builder();
  LATHE_TRY(check_axes(call, {6, 7}, 3));
  const int64_t count = call.int_of("num_heads", 0);
  Tensor q = call.tensor(0), k = call.tensor_or(1, {}), v = call.tensor_or(2, {});
  const auto packed = [&](Tensor x, int64_t part) {  // [b, s, h, parts, d] -> [b, h, s, d]
    const Shape s = x.shape();
    const Tensor one = ops::slice(x, {0, 0, 0, part, 0}, Shape{s[0], s[1], s[2], 1, s[4]});
    return builder.permute(builder.reshape(one, {s[0], s[1], s[2], s[4]}), {0, 2, 1, 3});
  };
  Heads heads;
  if (q.rank() == 5) {
    heads = {packed(q, 0), packed(q, 1), packed(q, 2)};
  } else {
    if (!k.valid()) return call.reject("has no key");
    Tensor bias = call.tensor_or(3, {});
    const int64_t width = q.rank() == 3 ? q.shape()[2] : 0;
    if (bias.valid()) q = q + columns(bias, 0, width);
    heads.q = ops::split_heads(q, count);
    if (k.rank() == 5) {
      heads.k = packed(k, 0);
      heads.v = packed(k, 1);
    } else if (k.rank() == 4) {
      heads.k = k;
      heads.v = v;
    } else {
      if (!v.valid()) return call.reject("has no value");
      if (bias.valid()) {
        k = k + columns(bias, width, width);
        v = v + columns(bias, 2 * width, bias.shape()[0] - 2 * width);
      }
      heads.k = ops::split_heads(k, count);
      heads.v = ops::split_heads(v, count);
    }
  }
  LATHE_TRY(check_heads(call, heads));
  Tensor position;
  PaddedAxes* rows = call.tracer().padded_axes();
  const bool is_past = rows != nullptr && call.has(6) && rows->is_past(call.tensor(6), 2) &&
                       rows->is_past(call.tensor_or(7, {}), 2);
  if (is_past) {
    position = rows->past_length();
    heads.k = rows->append_rows(call.tensor(6), heads.k);
    heads.v = rows->append_rows(call.tensor(7), heads.v);
  } else {
    if (call.has(8) && call.has(6)) {
      position = builder.reshape(builder.cast(call.tensor(8), DType::I32), {});
      const Tensor total = position + number(builder, heads.k.shape()[2]);
      heads.seen = ops::length_mask(builder.reshape(total, {1}), call.shape(6)[2]);
    }
    heads.k = append_to_past(call, heads.k, 6, position);
    heads.v = append_to_past(call, heads.v, 7, position);
  }
  LATHE_TRY(add_masks(call, heads, 4, 5));
  LATHE_TRY(call.has(6) ? add_order(call, heads, position) : add_order_from_start(call, heads));
  return results_of(call, attend(call, heads), heads);
}

// The operands of MultiHeadAttention in another order.
Result<Values> decoder_masked_attention(Call& call) {
  if (call.has(9)) return call.reject("does not follow beams through cache_indirection");
  std::vector<Value> operands;
  for (const size_t i : {0, 1, 2, 10, 3, 4, 5, 6, 7}) operands.push_back(call.operand(i));
  Call other = call.with_operands(std::move(operands));
  return multi_head_attention(other);
}

namespace {

// Where the operands are that follow a projection: the bias of scores is none of QAttention's.
struct Projected {
  size_t mask, past, bias;
};

// The projection is part of the operator; past and present are keys and values in one tensor.
Result<Values> attend_projected(Call& call, Tensor x, Tensor weights, Tensor scale, Projected at) {
  Builder& builder = call.builder();
  const int64_t count = call.int_of("num_heads", 0);
  if (x.rank() != 3 || weights.rank() != 2 || count <= 0) {
    return call.reject(concat("x ", bracketed(x.shape()), " and weights ",
                              bracketed(weights.shape()), " do not fit ", count, " heads"));
  }
  if (call.int_of("do_rotary", 0) != 0) return call.reject("does not turn keys (do_rotary)");
  const int64_t width = weights.shape()[1];
  std::vector<int64_t> sizes = call.ints_of("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != width) {
    return call.reject(
        concat("sizes ", bracketed(sizes), " do not make weights of ", width, " columns"));
  }
  Tensor all = builder.matmul(x, weights);
  all = scale.valid() ? builder.cast(all, DType::F32) * scale : builder.convert(all, x.dtype());
  if (call.has(2)) all = all + call.tensor(2);
  Heads heads{ops::split_heads(columns(all, 0, sizes[0]), count),
              ops::split_heads(columns(all, sizes[0], sizes[1]), count),
              ops::split_heads(columns(all, sizes[0] + sizes[1], sizes[2]), count)};
  LATHE_TRY(check_heads(call, heads));
  if (call.has(at.past)) {
    const Tensor past = call.tensor(at.past);
    const Shape s = past.shape();
    if (s.size() != 5) return call.reject(concat("past ", bracketed(s), " has not five axes"));
    const auto part = [&](int64_t k) {
      const Tensor one = ops::slice(past, {k}, Shape{1, s[1], s[2], s[3], s[4]});
      return builder.reshape(one, {s[1], s[2], s[3], s[4]});
    };
    heads.k = ops::concatenate({part(0), heads.k}, 2);
    heads.v = ops::concatenate({part(1), heads.v}, 2);
  }
  LATHE_TRY(add_masks(call, heads, at.mask, at.bias));
  LATHE_TRY(add_order(call, heads));
  Values results = {attend(call, heads).y};
  if (call.has_output(1)) results.emplace_back(ops::stack({heads.k, heads.v}, 0));
  return results;
}

}  // namespace

Result<Values> contrib_attention(Call& call) {
  if (call.has(6)) return call.reject("does not support past_sequence_length");
  return attend_projected(call, call.tensor(0), call.tensor(1), {}, {3, 4, 5});
}

Result<Values> quantized_attention(Call& call) {
  return attend_projected(call, minus_zero_point(call.tensor(0), call.tensor_or(6, {})),
                          minus_zero_point(call.tensor(1), call.tensor_or(7, {})),
                          call.tensor(3) * call.tensor(4), {5, 8, call.operands()});
}

namespace {

// Token positions of GroupQueryAttention: past tokens are the first of the cache.
struct Tokens {
  int64_t cache = 0;  // rows of the present cache
  Tensor first;       // I32 [] or [b]: number of past tokens
  Tensor count = {};  // I32 [b]: number of all tokens; invalid: all of the cache
};

Result<Tokens> tokens_of(Call& call, int64_t batch, int64_t rows) {
  Builder& builder = call.builder();
  const int64_t past = call.has(3) && call.rank(3) == 4 ? call.shape(3)[2] : 0;
  LATHE_ASSIGN_OR_RETURN(const int64_t total, call.integer(6));
  const bool grows = total == past + rows;
  if (!grows && total > past) {
    return call.reject(concat("total_sequence_length ", total, " is neither ", past + rows,
                              " nor inside a cache of ", past));
  }
  Tokens tokens{.cache = grows ? total : past, .first = number(builder, grows ? past : 0)};
  if (grows && batch == 1) return tokens;
  const Tensor last = builder.reshape(builder.cast(call.tensor(5), DType::I32), {batch});
  tokens.count = last + number(builder, 1);
  if (total != rows) tokens.first = tokens.count - number(builder, rows);
  return tokens;
}

// Rotary embedding by the rows of cos_cache and sin_cache at the tokens' positions.
Tensor rotated(Call& call, Tensor x, const Tokens& tokens) {
  Builder& builder = call.builder();
  const int64_t count = x.shape()[2];
  Tensor position;
  if (call.has(9)) {
    position = builder.cast(call.tensor(9), DType::I32);
  } else {
    const int64_t batch = tokens.first.rank() == 0 ? 1 : tokens.first.shape()[0];
    position = builder.reshape(tokens.first, {batch, 1}) + builder.iota({1, count}, 1);
  }
  const auto rows = [&](size_t i) {
    return builder.convert(ops::gather(call.tensor(i), position, 0), scalar::computed(x.dtype()));
  };
  const bool interleaved = call.int_of("rotary_interleaved", 0) != 0;
  const Tensor wide = builder.convert(x, scalar::computed(x.dtype()));
  const Tensor cosine = rows(7), sine = rows(8);
  return builder.convert(ops::rotary_embedding(wide, cosine, sine, interleaved), x.dtype());
}

// The cache with the new rows appended to the past ones.
Tensor updated_cache(Call& call, Tensor rows, size_t i, const Tokens& tokens) {
  if (!call.has(i)) return rows;
  const Tensor past = call.tensor(i);
  const int64_t more = tokens.cache - past.shape()[2];
  if (more > 0 && !tokens.count.valid()) return ops::concatenate({past, rows}, 2);
  const Tensor padded = more > 0 ? ops::pad(past, {{0, 0}, {0, 0}, {0, more}, {0, 0}}, 0) : past;
  const bool is_state = call.builder().graph()[past.value].kind == graph::Kind::State;
  return ops::write_rows(padded, rows, tokens.first, is_state);
}

}  // namespace

Result<Values> group_query_attention(Call& call) {
  Builder& builder = call.builder();
  const int64_t count = call.int_of("num_heads", 0), groups = call.int_of("kv_num_heads", 0);
  Tensor q = call.tensor(0);
  if (q.rank() != 3 || count <= 0 || groups <= 0) {
    return call.reject(concat("q ", bracketed(q.shape()), " is not ", count, " heads"));
  }
  LATHE_TRY(check_axes(call, {3, 4}, call.operands()));
  for (const char* each : {"k_quant_type", "v_quant_type"}) {
    if (call.string_of(each, "NONE") != "NONE")
      return call.reject("does not support a quantized cache");
  }
  if (call.int_of("sliding_window_cache", 0) != 0 || call.has(14)) {
    return call.reject("does not support sliding_window_cache and weights of norms");
  }
  Tensor k = call.tensor_or(1, {}), v = call.tensor_or(2, {});
  if (!k.valid()) {
    const int64_t size = q.shape()[2] / (count + 2 * groups);
    k = columns(q, count * size, groups * size);
    v = columns(q, (count + groups) * size, groups * size);
    q = columns(q, 0, count * size);
  }
  const int64_t batch = q.shape()[0], queries = q.shape()[1];
  LATHE_ASSIGN_OR_RETURN(const Tokens tokens, tokens_of(call, batch, queries));
  Heads heads{ops::split_heads(q, count), ops::split_heads(k, groups), ops::split_heads(v, groups)};
  LATHE_TRY(check_heads(call, heads));
  if (call.int_of("do_rotary", 0) != 0) {
    if (!call.has(7) || !call.has(8)) return call.reject("has no cos_cache and sin_cache");
    heads.q = rotated(call, heads.q, tokens);
    heads.k = rotated(call, heads.k, tokens);
  }
  heads.k = updated_cache(call, heads.k, 3, tokens);
  heads.v = updated_cache(call, heads.v, 4, tokens);
  LATHE_TRY(check_heads(call, heads));
  ops::KeyWindow window{.first = tokens.first};
  if (call.int_of("causal", 1) != 0) window.right = 0;
  if (const int64_t local = call.int_of("local_window_size", -1); local > 0)
    window.left = local - 1;
  heads.seen = ops::key_window_mask(window, queries, tokens.cache);
  // Shorter sequences of a batch are padded: their queries see the tokens of the cache only.
  if ((batch > 1 || window.right < 0) && tokens.count.valid()) {
    heads.seen = mask_and(heads.seen, ops::length_mask(tokens.count, tokens.cache));
  }
  heads.softcap = call.float_of("softcap", 0);
  if (call.has(10)) {
    if (call.rank(10) != 4) return call.reject("its attention_bias has not four axes");
    heads.bias = builder.cast(call.tensor(10), DType::F32);
    const int64_t missing = tokens.cache - heads.bias.shape().back();
    heads.bias = ops::pad(heads.bias, {{0, 0}, {0, 0}, {0, 0}, {0, missing}}, 0);
  }
  if (call.has(11)) {
    heads.sink = call.tensor(11);
  } else if (call.int_of("smooth_softmax", 0) == 1) {
    heads.sink = builder.full({count}, scalar::Number::of(0.0f));
  }
  const Attended attended = attend(call, heads);
  Values results = {attended.y, heads.k, heads.v};
  if (call.has_output(3)) {
    const bool is_before = call.int_of("qk_output", 0) == 1;
    results.emplace_back(
        builder.convert(is_before ? attended.scores : attended.weights, q.dtype()));
  }
  return results;
}

}  // namespace lathe::onnx::rows
