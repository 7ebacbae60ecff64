// Attention operators of com.microsoft, as ONNX Runtime computes them on processors
// (docs/ContribOperators.md there).
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators.h"
#include "lathe/import/onnx/products.h"
#include "lathe/import/onnx/quantised.h"
#include "lathe/import/onnx/reductions.h"
#include "lathe/import/onnx/tracer.h"
#include "lathe/ops/activations.h"
#include "lathe/ops/attention.h"
#include "lathe/ops/indexing.h"
#include "lathe/ops/movement.h"

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
  Tensor seen = {};  // others count nothing
  Tensor sink = {};  // [h]: scores of a key without value
  float softcap = 0;
};

struct Attended {
  Tensor y;  // [b, n, h e]
  Tensor scores, weights;
};

// Before their sizes are asked for.
Status check_heads(Call& call, const Heads& heads) {
  if (!call.builder().ok()) return call.refuse(call.builder().message());
  if (heads.q.rank() == 4 && heads.k.rank() == 4 && heads.v.rank() == 4) return {};
  return call.refuse(concat("q ", bracketed(heads.q.shape()), ", k ", bracketed(heads.k.shape()),
                            " and v ", bracketed(heads.v.shape()), " are not heads of a batch"));
}

// What is past, where it is given, has four axes, and a bias of projections one.
Status check_axes(Call& call, std::initializer_list<size_t> caches, size_t bias) {
  for (const size_t i : caches) {
    if (call.has(i) && call.rank(i) != 4) {
      return call.refuse(concat("past ", bracketed(call.shape(i)), " has not four axes"));
    }
  }
  if (!call.has(bias) || call.rank(bias) == 1) return {};
  return call.refuse(concat("bias ", bracketed(call.shape(bias)), " has not one axis"));
}

float scale_of(const Call& call, const Tensor& q) {
  const float given = call.float_of("scale", 0);
  return given != 0 ? given : static_cast<float>(1 / std::sqrt(static_cast<double>(q.shape()[3])));
}

Tensor softmax_beside(Tensor x, Tensor sink) {
  const Tensor beside = ops::reshape(x.builder->convert(sink, x.dtype()), {1, -1, 1, 1});
  const Tensor highest = maximum(max(x, {3}, true), beside);
  const Tensor power = exp(x - highest);
  return power / (sum(power, {3}, true) + exp(beside - highest));
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
  const Tensor weights = weights_along(call, scores, 3, [&](Tensor x) {
    if (heads.sink.valid()) return softmax_beside(x, heads.sink);
    return heads.seen.valid() ? ops::masked_softmax(x) : ops::softmax(x);
  });
  const Tensor y = ops::merge_heads(weighted(call, weights, heads.v));
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
  if (CountedRows* rows = call.tracer().rows()) {
    LATHE_TRY(rows->follow());
    if (rows->has_rows(heads.q, 2) != rows->has_rows(heads.k, 2)) return call.refuse_rows();
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
  Tensor keeps;
  if (shape.size() == 1 && (shape[0] == batch || shape[0] == 3 * batch + 2)) {
    keeps = ops::first_keys(ops::slice(mask, {0}, Shape{batch}), keys);
  } else if (shape == Shape{2 * batch}) {
    const Tensor before = ops::first_keys(ops::slice(mask, {batch}, Shape{batch}), keys);
    keeps = both(ops::first_keys(ops::slice(mask, {0}, Shape{batch}), keys),
                 builder.map(Op::Not, std::array{before}));
  } else if (shape.size() == 2 && shape[1] == keys) {
    keeps = builder.cast(builder.reshape(mask, {shape[0], 1, 1, keys}), DType::Bool);
  } else if (shape == Shape{batch, 1} || shape == Shape{1, 1}) {
    return Tensor{};  // stands for none
  } else if (shape.size() == 3 && shape[1] == queries && shape[2] == keys) {
    keeps = builder.cast(ops::expand_dims(mask, 1), DType::Bool);
  } else if (shape.size() == 4 && shape[2] >= keys && shape[3] >= keys) {
    LATHE_ASSIGN_OR_RETURN(const int64_t before, keys_before(call, heads));
    const Tensor part =
        ops::slice(mask, {0, 0, before, 0}, Shape{shape[0], shape[1], queries, keys});
    keeps = builder.cast(part, DType::Bool);
  } else {
    return call.refuse(concat("the mask ", bracketed(shape), " fits no batch of ", batch, " with ",
                              queries, " queries and ", keys, " keys"));
  }
  return select(keeps, builder.scalar(0), builder.scalar(filter));
}

// Masks, biases and the order of keys that most operators share.
Status add_masks(Call& call, Heads& heads, size_t mask, size_t bias) {
  Builder& builder = call.builder();
  LATHE_ASSIGN_OR_RETURN(
      heads.bias, mask_bias(call, mask, heads, call.float_of("mask_filter_value", -10000.0f)));
  if (call.has(bias)) {
    const Tensor given = builder.cast(call.tensor(bias), DType::F32);
    heads.bias = heads.bias.valid() ? heads.bias + given : given;
  }
  return {};
}

// `place`: of the first query, where that is not behind all other keys.
Status add_order(Call& call, Heads& heads, Tensor place = {}) {
  if (call.int_of("unidirectional", 0) == 0) return {};
  if (!place.valid()) {
    LATHE_ASSIGN_OR_RETURN(const int64_t before, keys_before(call, heads));
    place = number(call.builder(), before);
  }
  const ops::KeyWindow window{.first = place, .right = 0};
  heads.seen = both(heads.seen, ops::seen_keys(window, heads.q.shape()[2], heads.k.shape()[2]));
  return {};
}

// The order of keys without a past: the first query stands at the first key, and of more keys than
// queries ONNX Runtime lets the last query see all.
Status add_order_from_start(Call& call, Heads& heads) {
  const int64_t queries = heads.q.shape()[2], keys = heads.k.shape()[2];
  if (call.int_of("unidirectional", 0) == 0) return {};
  LATHE_ASSIGN_OR_RETURN(const int64_t before, keys_before(call, heads));
  if (before <= 0) return add_order(call, heads, number(call.builder(), 0));
  CountedRows* rows = call.tracer().rows();
  if (rows != nullptr && rows->has_rows(heads.k, 2)) return call.refuse_rows();
  Builder& builder = call.builder();
  const Tensor is_last = builder.iota({queries, 1}, 0) == number(builder, queries - 1);
  const Tensor seen = ops::seen_keys({.first = number(builder, 0), .right = 0}, queries, keys);
  heads.seen = both(heads.seen, builder.map(graph::Op::Or, std::array{seen, is_last}));
  return {};
}

// Keys or values behind those of the past, operand i: longer by theirs, or, in a buffer whose first
// `place` ones are the past, in it; then only those that are there are seen.
Tensor behind_past(Call& call, Tensor fresh, size_t i, Tensor place) {
  if (!call.has(i)) return fresh;
  const Tensor past = call.tensor(i);
  return place.valid() ? ops::with_rows(past, fresh, place, true)
                       : ops::concatenate({past, fresh}, 2);
}

Values results_of(Call& call, const Attended& attended, const Heads& heads) {
  Values results = {attended.y, heads.k, heads.v};
  if (call.wants(3)) results.emplace_back(call.builder().cast(attended.weights, DType::F32));
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
    if (!k.valid()) return call.refuse("has no key");
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
      if (!v.valid()) return call.refuse("has no value");
      if (bias.valid()) {
        k = k + columns(bias, width, width);
        v = v + columns(bias, 2 * width, bias.shape()[0] - 2 * width);
      }
      heads.k = ops::split_heads(k, count);
      heads.v = ops::split_heads(v, count);
    }
  }
  LATHE_TRY(check_heads(call, heads));
  Tensor place;
  CountedRows* rows = call.tracer().rows();
  const bool is_kept = rows != nullptr && call.has(6) && rows->is_state(call.tensor(6)) &&
                       rows->is_state(call.tensor_or(7, {}));
  if (is_kept) {
    place = rows->earlier();
    heads.k = rows->written(call.tensor(6), heads.k);
    heads.v = rows->written(call.tensor(7), heads.v);
  } else {
    if (call.has(8) && call.has(6)) {
      place = builder.reshape(builder.cast(call.tensor(8), DType::I32), {});
      const Tensor total = place + number(builder, heads.k.shape()[2]);
      heads.seen = ops::first_keys(builder.reshape(total, {1}), call.shape(6)[2]);
    }
    heads.k = behind_past(call, heads.k, 6, place);
    heads.v = behind_past(call, heads.v, 7, place);
  }
  LATHE_TRY(add_masks(call, heads, 4, 5));
  LATHE_TRY(call.has(6) ? add_order(call, heads, place) : add_order_from_start(call, heads));
  return results_of(call, attend(call, heads), heads);
}

// The operands of MultiHeadAttention in another order.
Result<Values> decoder_masked_attention(Call& call) {
  if (call.has(9)) return call.refuse("does not follow beams through cache_indirection");
  std::vector<Value> operands;
  for (const size_t i : {0, 1, 2, 10, 3, 4, 5, 6, 7}) operands.push_back(call.operand(i));
  Call other = call.over(std::move(operands));
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
    return call.refuse(concat("x ", bracketed(x.shape()), " and weights ",
                              bracketed(weights.shape()), " do not fit ", count, " heads"));
  }
  if (call.int_of("do_rotary", 0) != 0) return call.refuse("does not turn keys (do_rotary)");
  const int64_t width = weights.shape()[1];
  std::vector<int64_t> sizes = call.ints_of("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != width) {
    return call.refuse(
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
    if (s.size() != 5) return call.refuse(concat("past ", bracketed(s), " has not five axes"));
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
  if (call.wants(1)) results.emplace_back(ops::stack({heads.k, heads.v}, 0));
  return results;
}

}  // namespace

Result<Values> contrib_attention(Call& call) {
  if (call.has(6)) return call.refuse("takes no past_sequence_length");
  return attend_projected(call, call.tensor(0), call.tensor(1), {}, {3, 4, 5});
}

Result<Values> quantised_attention(Call& call) {
  return attend_projected(call, centred(call.tensor(0), call.tensor_or(6, {})),
                          centred(call.tensor(1), call.tensor_or(7, {})),
                          call.tensor(3) * call.tensor(4), {5, 8, call.operands()});
}

namespace {

// Where the tokens of GroupQueryAttention stand: those of the past are the first of the cache.
struct Tokens {
  int64_t cache = 0;  // rows of the cache that it gives
  Tensor first;       // I32 [] or [b]: how many are past
  Tensor count = {};  // I32 [b]: how many there are; invalid: all of the cache
};

Result<Tokens> tokens_of(Call& call, int64_t batch, int64_t fresh) {
  Builder& builder = call.builder();
  const int64_t past = call.has(3) && call.rank(3) == 4 ? call.shape(3)[2] : 0;
  LATHE_ASSIGN_OR_RETURN(const int64_t total, call.integer(6));
  const bool grows = total == past + fresh;
  if (!grows && total > past) {
    return call.refuse(concat("total_sequence_length ", total, " is neither ", past + fresh,
                              " nor inside a cache of ", past));
  }
  Tokens tokens{.cache = grows ? total : past, .first = number(builder, grows ? past : 0)};
  if (grows && batch == 1) return tokens;
  const Tensor last = builder.reshape(builder.cast(call.tensor(5), DType::I32), {batch});
  tokens.count = last + number(builder, 1);
  if (total != fresh) tokens.first = tokens.count - number(builder, fresh);
  return tokens;
}

// Turned by the rows of the caches where the tokens stand.
Tensor turned(Call& call, Tensor x, const Tokens& tokens) {
  Builder& builder = call.builder();
  const int64_t count = x.shape()[2];
  Tensor place;
  if (call.has(9)) {
    place = builder.cast(call.tensor(9), DType::I32);
  } else {
    const int64_t batch = tokens.first.rank() == 0 ? 1 : tokens.first.shape()[0];
    place = builder.reshape(tokens.first, {batch, 1}) + builder.iota({1, count}, 1);
  }
  const auto rows = [&](size_t i) {
    return builder.convert(ops::gather(call.tensor(i), place, 0), scalar::computed(x.dtype()));
  };
  const bool interleaved = call.int_of("rotary_interleaved", 0) != 0;
  const Tensor wide = builder.convert(x, scalar::computed(x.dtype()));
  const Tensor cosine = rows(7), sine = rows(8);
  return builder.convert(ops::rotary_embedding(wide, cosine, sine, interleaved), x.dtype());
}

// The cache with the fresh rows behind those that are past.
Tensor cached(Call& call, Tensor fresh, size_t i, const Tokens& tokens) {
  if (!call.has(i)) return fresh;
  const Tensor past = call.tensor(i);
  const int64_t more = tokens.cache - past.shape()[2];
  if (more > 0 && !tokens.count.valid()) return ops::concatenate({past, fresh}, 2);
  const Tensor room = more > 0 ? ops::pad(past, {{0, 0}, {0, 0}, {0, more}, {0, 0}}, 0) : past;
  const bool is_kept = call.builder().graph()[past.value].kind == graph::Kind::State;
  return ops::with_rows(room, fresh, tokens.first, is_kept);
}

}  // namespace

Result<Values> group_query_attention(Call& call) {
  Builder& builder = call.builder();
  const int64_t count = call.int_of("num_heads", 0), groups = call.int_of("kv_num_heads", 0);
  Tensor q = call.tensor(0);
  if (q.rank() != 3 || count <= 0 || groups <= 0) {
    return call.refuse(concat("q ", bracketed(q.shape()), " is not ", count, " heads"));
  }
  LATHE_TRY(check_axes(call, {3, 4}, call.operands()));
  for (const char* each : {"k_quant_type", "v_quant_type"}) {
    if (call.text_of(each, "NONE") != "NONE") return call.refuse("takes no quantised cache");
  }
  if (call.int_of("sliding_window_cache", 0) != 0 || call.has(14)) {
    return call.refuse("takes no sliding_window_cache and no weights of norms");
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
    if (!call.has(7) || !call.has(8)) return call.refuse("has no cos_cache and sin_cache");
    heads.q = turned(call, heads.q, tokens);
    heads.k = turned(call, heads.k, tokens);
  }
  heads.k = cached(call, heads.k, 3, tokens);
  heads.v = cached(call, heads.v, 4, tokens);
  LATHE_TRY(check_heads(call, heads));
  ops::KeyWindow window{.first = tokens.first};
  if (call.int_of("causal", 1) != 0) window.right = 0;
  if (const int64_t local = call.int_of("local_window_size", -1); local > 0)
    window.left = local - 1;
  heads.seen = ops::seen_keys(window, queries, tokens.cache);
  // Behind the end of a shorter one of a batch, queries see what the cache has.
  if ((batch > 1 || window.right < 0) && tokens.count.valid()) {
    heads.seen = both(heads.seen, ops::first_keys(tokens.count, tokens.cache));
  }
  heads.softcap = call.float_of("softcap", 0);
  if (call.has(10)) {
    if (call.rank(10) != 4) return call.refuse("its attention_bias has not four axes");
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
  if (call.wants(3)) {
    const bool is_before = call.int_of("qk_output", 0) == 1;
    results.emplace_back(
        builder.convert(is_before ? attended.scores : attended.weights, q.dtype()));
  }
  return results;
}

}  // namespace lathe::onnx::rows
