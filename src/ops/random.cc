// Each is a chain of elementwise operations over the positions of the elements.
#include "lathe/ops/random.h"

#include <array>

#include "lathe/base/text.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;

namespace {

Tensor apply(Op op, Tensor x, Tensor y) { return x.builder->map(op, std::array{x, y}); }

Tensor scalar_of(Builder& builder, int32_t value) {
  return builder.full({}, scalar::Number::of(value));
}

Tensor rotated_left(Tensor x, int count) {
  Builder& builder = *x.builder;
  const Tensor low = apply(Op::BitAnd, apply(Op::ShiftRight, x, scalar_of(builder, 32 - count)),
                           scalar_of(builder, static_cast<int32_t>((uint32_t{1} << count) - 1)));
  return apply(Op::BitOr, apply(Op::ShiftLeft, x, scalar_of(builder, count)), low);
}

// 24 random bits for every element of a row of `count`.
Tensor random_bits(const RandomKey& key, int64_t count) {
  Builder& builder = *key.seed.builder;
  const Tensor position = builder.iota({count}, 0);
  const Tensor step = builder.broadcast_to(key.step, {count}, "random numbers");
  const Tensor word = threefry({key.seed, key.stream}, {position, step}).first;
  return apply(Op::BitAnd, apply(Op::ShiftRight, word, scalar_of(builder, 8)),
               scalar_of(builder, 0xffffff));
}

// p - 1/2 for probabilities p in (0, 1), none of them 1/2: odd multiples of 2^-25.
Tensor centered_probabilities(const RandomKey& key, int64_t count) {
  Builder& builder = *key.seed.builder;
  const Tensor bits = random_bits(key, count);
  const Tensor odd = bits + bits + scalar_of(builder, 1 - (1 << 24));
  return builder.cast(odd, DType::F32) * 0x1p-25f;
}

// The x below which a standard normal number is with probability 1/2 + q.
Tensor normal_quantile(Tensor q) {
  const Tensor near = 0.180625f - q * q;
  const Tensor middle =
      q * (((59.10937472f * near + 159.29113202f) * near + 50.434271938f) * near + 3.3871327179f) /
      (((67.187563600f * near + 78.757757664f) * near + 17.895169469f) * near + 1.0f);
  const Tensor far = graph::sqrt(-log(0.5f - absolute(q))) - 1.6f;
  const Tensor tail =
      (((0.17023821103f * far + 1.3067284816f) * far + 2.75681539f) * far + 1.4234372777f) /
      ((0.12021132975f * far + 0.7370016425f) * far + 1.0f);
  return select(near >= zero(near), middle, select(q < zero(q), -tail, tail));
}

// The key of a seed, or an error if the tensor is no seed.
bool read_seed(std::string_view what, Tensor seed, RandomKey& key) {
  if (!seed.valid()) return false;
  Builder& builder = *seed.builder;
  const bool is_pair = seed.shape() == Shape{2};
  if (seed.dtype() != DType::I32 || (seed.rank() != 0 && !is_pair)) {
    builder.error(concat(what, ": the seed must be i32 of shape [] or [2], not ",
                         scalar::text(seed.dtype()), bracketed(seed.shape())));
    return false;
  }
  const auto word = [&](int64_t at) { return builder.reshape(slice(seed, {at}, Shape{1}), {}); };
  key.seed = is_pair ? word(0) : seed;
  key.stream = is_pair ? word(1) : scalar_of(builder, 0);
  key.step = scalar_of(builder, 0);
  return true;
}

}  // namespace

WordPair threefry(WordPair key, WordPair counter) {
  constexpr int kRounds = 20;
  constexpr int kRotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  Builder& builder = *key.first.builder;
  const Tensor parity =
      apply(Op::BitXor, apply(Op::BitXor, key.first, key.second), scalar_of(builder, 0x1bd11bda));
  const Tensor keys[] = {key.first, key.second, parity};
  Tensor x = counter.first + keys[0], y = counter.second + keys[1];
  for (int round = 0; round < kRounds; ++round) {
    x = x + y;
    y = apply(Op::BitXor, rotated_left(y, kRotations[round % 8]), x);
    if (round % 4 != 3) continue;
    const int block = round / 4 + 1;
    x = x + keys[block % 3];
    y = y + (keys[(block + 1) % 3] + scalar_of(builder, block));
  }
  return {x, y};
}

Tensor uniform_numbers(const RandomKey& key, Shape shape) {
  Builder& builder = *key.seed.builder;
  const Tensor bits = random_bits(key, graph::element_count(shape));
  return builder.reshape(builder.cast(bits, DType::F32) * 0x1p-24f, shape);
}

Tensor normal_numbers(const RandomKey& key, Shape shape) {
  const Tensor q = centered_probabilities(key, graph::element_count(shape));
  return key.seed.builder->reshape(normal_quantile(q), shape);
}

Tensor truncated_numbers(const RandomKey& key, Shape shape) {
  constexpr float kWithinTwo = 0.954499736f;  // the accepted share of normal numbers
  const Tensor q = kWithinTwo * centered_probabilities(key, graph::element_count(shape));
  return key.seed.builder->reshape(normal_quantile(q), shape);
}

Tensor random_uniform(Tensor seed, Shape shape, float low, float high) {
  RandomKey key;
  if (!read_seed("random_uniform", seed, key)) return {seed.builder, {}};
  return uniform_numbers(key, shape) * (high - low) + low;
}

Tensor random_normal(Tensor seed, Shape shape, float mean, float deviation) {
  RandomKey key;
  if (!read_seed("random_normal", seed, key)) return {seed.builder, {}};
  return normal_numbers(key, shape) * deviation + mean;
}

Tensor truncated_normal(Tensor seed, Shape shape, float mean, float deviation) {
  RandomKey key;
  if (!read_seed("truncated_normal", seed, key)) return {seed.builder, {}};
  return truncated_numbers(key, shape) * deviation + mean;
}

}  // namespace lathe::ops
