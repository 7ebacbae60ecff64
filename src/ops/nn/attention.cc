#include "lathe/ops/nn/attention.h"

#include <array>

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;

namespace {

Tensor number(Builder& builder, int64_t value) {
  return builder.full({}, scalar::Number::of(static_cast<int32_t>(value)));
}

// x [b, h, n, ..] as [b, g, h / g · n, ..], so that heads that share keys are one product.
Tensor grouped(Tensor x, int64_t groups) {
  const Shape s = x.shape();
  if (s[1] == groups) return x;
  return x.builder->reshape(x, {s[0], groups, s[1] / groups * s[2], s[3]});
}

bool fit(const Shape& x, const Shape& y) {
  return x.size() == 4 && y.size() == 4 && x[0] == y[0] && y[1] > 0 && x[1] % y[1] == 0;
}

Tensor part(Tensor x, int64_t begin, int64_t size, int64_t step) {
  Shape first(x.shape().size(), 0), steps(x.shape().size(), 1), shape = x.shape();
  first.back() = begin;
  steps.back() = step;
  shape.back() = size;
  return strided_slice(x, first, steps, shape);
}

}  // namespace

Tensor split_heads(Tensor x, int64_t heads) {
  if (!x.valid()) return x;
  const Shape s = x.shape();
  if (s.size() != 3 || heads <= 0 || s[2] % heads != 0) {
    return x.builder->error(concat("attention: ", bracketed(s), " is not ", heads, " heads"));
  }
  return x.builder->permute(x.builder->reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

Tensor merge_heads(Tensor x) {
  if (!x.valid()) return x;
  const Shape s = x.shape();
  return x.builder->reshape(x.builder->permute(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

Tensor attention_scores(Tensor q, Tensor k, float scale) {
  if (!q.valid() || !k.valid()) return q;
  const Shape x = q.shape(), y = k.shape();
  if (!fit(x, y) || x[3] != y[3]) {
    return q.builder->error(concat("attention: queries ", bracketed(x), " do not fit keys ",
                                   bracketed(y), "; both are [batch, heads, length, size]"));
  }
  const Tensor scores = q.builder->matmul(grouped(q, y[1]), k, false, true);
  return q.builder->reshape(scores * scale, {x[0], x[1], x[2], y[2]});
}

Tensor weighted_values(Tensor weights, Tensor v) {
  if (!weights.valid() || !v.valid()) return weights;
  const Shape x = weights.shape(), y = v.shape();
  if (!fit(x, y) || x[3] != y[2]) {
    return v.builder->error(concat("attention: values ", bracketed(y), " do not fit weights ",
                                   bracketed(x), " of queries and keys"));
  }
  const Tensor sums = v.builder->matmul(grouped(weights, y[1]), v);
  return v.builder->reshape(sums, {x[0], x[1], x[2], y[3]});
}

Tensor write_rows(Tensor buffer, Tensor fresh, Tensor first, bool preserve_rest, int axis) {
  Builder& builder = *buffer.builder;
  const auto at = static_cast<size_t>(axis);
  const int64_t n = fresh.shape()[at], rows = buffer.shape()[at];
  Shape positions(buffer.shape().size(), 1), begins = positions, index = fresh.shape();
  positions[at] = index[at] = rows;
  if (first.rank() > 0) begins[0] = first.shape()[0];
  const Tensor from = builder.iota(positions, axis) - builder.reshape(first, begins);
  const Tensor moved = builder.gather(fresh, builder.broadcast_to(from, index, "cache"), axis);
  const Tensor rest = preserve_rest ? buffer : zero(buffer);
  const Tensor tail = select(from < number(builder, n), moved, rest);
  return select(from < number(builder, 0), buffer, tail);
}

Tensor masked_softmax(Tensor x) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  // With a finite maximum exp(-inf) is 0, and the sum is at least 1 unless
  // the entire row is -inf.
  const Tensor lowest = builder.full({}, scalar::Number::from(x.dtype(), -3e38));
  const Tensor highest = detach(max(x, {-1}, true));
  const Tensor power = exp(x - maximum(highest, lowest));
  const Tensor one = builder.full({}, scalar::Number::from(x.dtype(), 1));
  return power * (one / maximum(sum(power, {-1}, true), one));
}

Tensor key_window_mask(const KeyWindow& window, int64_t queries, int64_t keys) {
  Builder& builder = *window.first.builder;
  if ((window.left < 0 && window.right < 0) || !window.first.valid()) return {&builder, {}};
  const int64_t batch = window.first.rank() == 0 ? 1 : window.first.shape()[0];
  const Tensor first = builder.reshape(window.first, {batch, 1, 1, 1});
  const Tensor position = first + builder.iota({1, 1, queries, 1}, 2);
  const Tensor key = builder.iota({1, 1, 1, keys}, 3);
  Tensor seen;
  if (window.right >= 0) seen = key <= position + number(builder, window.right);
  if (window.left >= 0) {
    const Tensor near = key >= position - number(builder, window.left);
    seen = seen.valid() ? both(seen, near) : near;
  }
  return seen;
}

Tensor length_mask(Tensor lengths, int64_t keys) {
  Builder& builder = *lengths.builder;
  const Tensor length = builder.reshape(builder.cast(lengths, DType::I32), {-1, 1, 1, 1});
  return builder.iota({1, 1, 1, keys}, 3) < length;
}

Tensor rotary_embedding(Tensor x, Tensor cosine, Tensor sine, bool interleaved) {
  if (!x.valid() || !cosine.valid() || !sine.valid()) return x;
  Builder& builder = *x.builder;
  const Shape s = x.shape(), angles = cosine.shape();
  const int64_t half = angles.empty() ? 0 : angles.back();
  if (s.size() != 4 || angles.size() != 3 || sine.shape() != angles || angles[1] != s[2] ||
      (angles[0] != 1 && angles[0] != s[0]) || 2 * half > s[3]) {
    return builder.error(concat("rotary embedding: cosines ", bracketed(angles), " and sines ",
                                bracketed(sine.shape()), " do not fit x ", bracketed(s)));
  }
  const Tensor c = expand_dims(cosine, 1), n = expand_dims(sine, 1);
  const int64_t step = interleaved ? 2 : 1;
  const Tensor a = part(x, 0, half, step), b = part(x, interleaved ? 1 : half, half, step);
  const Tensor real = a * c - b * n, imaginary = a * n + b * c;
  Tensor rotated;
  if (interleaved) {
    rotated = builder.reshape(stack({real, imaginary}, 4), {s[0], s[1], s[2], 2 * half});
  } else {
    rotated = concatenate({real, imaginary}, 3);
  }
  if (2 * half == s[3]) return rotated;
  return concatenate({rotated, part(x, 2 * half, s[3] - 2 * half, 1)}, 3);
}

}  // namespace lathe::ops
