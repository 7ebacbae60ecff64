// Transformer layers of com.microsoft: normalization after sums, embeddings, quantized weights, and
// mixtures of experts (docs/ContribOperators.md of ONNX Runtime).
#include <array>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/movement.h"
#include "lathe/import/onnx/operators/quantized.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/linalg/quantized.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/nn/norm.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

namespace {

struct Normed {
  Tensor y, mean, inverse_deviation;
};

// Normalizes along the last axis in F32; simplified: by the root mean square only.
Normed normed(Tensor x, Tensor scale, Tensor offset, float epsilon, bool simplified) {
  Builder& builder = *x.builder;
  const DType dtype = x.dtype();
  x = builder.cast(x, DType::F32);
  Normed result;
  Tensor minus_zero_point = x;
  if (!simplified) {
    result.mean = mean(x, {-1}, true);
    minus_zero_point = x - result.mean;
  }
  result.inverse_deviation =
      1.0f / graph::sqrt(mean(minus_zero_point * minus_zero_point, {-1}, true) + epsilon);
  Tensor y = minus_zero_point * result.inverse_deviation;
  if (scale.valid()) y = y * builder.cast(scale, DType::F32);
  if (offset.valid()) y = y + builder.cast(offset, DType::F32);
  result.y = builder.convert(y, dtype);
  return result;
}

// The sum of operands 0, 1 and the bias, and its norm; results are y, mean, deviation, sum.
Result<Values> skip_norm(Call& call, size_t offset, size_t bias, bool simplified) {
  Tensor x = call.tensor(0) + call.tensor(1);
  if (call.has(bias)) x = x + call.tensor(bias);
  const Tensor shift = offset == 0 ? Tensor{} : call.tensor_or(offset, {});
  const Normed n = normed(x, call.tensor(2), shift, call.float_of("epsilon", 1e-12f), simplified);
  Values results = {n.y, {}, {}, x};
  if (n.mean.valid()) results[1] = n.mean;
  results[2] = n.inverse_deviation;
  return results;
}

}  // namespace

Result<Values> skip_layer_normalization(Call& call) { return skip_norm(call, 3, 4, false); }

Result<Values> skip_simplified_layer_normalization(Call& call) {
  return skip_norm(call, 0, 3, true);
}

Result<Values> simplified_layer_normalization(Call& call) {
  const Tensor x = call.tensor(0);
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -1), x.rank()));
  Shape rows(x.shape().begin(), x.shape().begin() + axis);
  const int64_t width = graph::element_count({x.shape().begin() + axis, x.shape().end()});
  Shape flat = rows;
  flat.push_back(width);
  Builder& builder = call.builder();
  const Tensor scale = builder.reshape(call.tensor(1), {width});
  const Normed n =
      normed(builder.reshape(x, flat), scale, {}, call.float_of("epsilon", 1e-5f), true);
  rows.resize(x.shape().size(), 1);
  return Values{builder.reshape(n.y, x.shape()), builder.reshape(n.inverse_deviation, rows)};
}

// QEmbedLayerNormalization has no position_ids; scales and zero points follow six and eleven
// operands later.
Result<Values> embed_layer_normalization(Call& call) {
  Builder& builder = call.builder();
  const Tensor words = call.tensor(0);
  if (words.rank() != 2) {
    return call.reject(concat("input_ids ", bracketed(words.shape()), " are not [batch, tokens]"));
  }
  const int64_t tokens = words.shape()[1];
  const bool is_quantized = call.op().starts_with('Q');
  Tensor positions = builder.iota({1, tokens}, 1);
  if (!is_quantized && call.has(8)) positions = call.tensor(8);
  const auto numbers = [&](Tensor each, size_t i) {
    return is_quantized ? dequantize(each, call.tensor(i + 6), call.tensor_or(i + 11, {})) : each;
  };
  const auto rows = [&](size_t i, Tensor of) {
    return numbers(ops::gather(call.tensor(i), of, 0), i);
  };
  Tensor x = rows(2, words) + rows(3, positions);
  if (call.has(1) && call.has(4)) x = x + rows(4, call.tensor(1));
  const Normed n = normed(x, numbers(call.tensor(5), 5), numbers(call.tensor(6), 6),
                          call.float_of("epsilon", 1e-12f), false);
  Tensor lengths = builder.full({words.shape()[0]}, scalar::Number::of(0));
  if (call.has(7)) {
    lengths = builder.reduce(Op::Add, builder.cast(call.tensor(7), DType::I32), {1});
  }
  return Values{n.y, lengths, x};
}

namespace {

// Where each row of the weights names its group, in g_idx.
Tensor mat_mul_groups(Call& call, const ops::NBits& format) {
  Builder& builder = call.builder();
  const Tensor x = call.tensor(0);
  const int64_t depth = x.shape().empty() ? 0 : x.shape().back();
  const Tensor group = ops::slice(call.tensor(4), {0}, Shape{depth});
  const auto numbers = [&](size_t i) {
    Tensor rows = builder.reshape(call.tensor(i), {format.columns, -1});
    if (rows.dtype() == DType::U8) rows = ops::unpack_bits(rows, format.bits, false);
    rows = i == 1 ? ops::slice(rows, {0, 0}, Shape{format.columns, depth})
                  : ops::gather(rows, group, 1);
    return builder.cast(rows, DType::F32);
  };
  const Tensor zero = call.has(3) ? numbers(3) : builder.scalar(std::ldexp(0.5f, format.bits));
  const Tensor weights = (numbers(1) - zero) * numbers(2);
  return builder.convert(builder.matmul(builder.cast(x, DType::F32), weights, false, true),
                         x.dtype());
}

}  // namespace

Result<Values> mat_mul_nbits(Call& call) {
  const ops::NBits format{.columns = call.int_of("N", 0),
                          .bits = static_cast<int>(call.int_of("bits", 4)),
                          .block_size = call.int_of("block_size", 32)};
  const Tensor y = call.has(4) ? mat_mul_groups(call, format)
                               : ops::mat_mul_nbits(call.tensor(0), call.tensor(1), call.tensor(2),
                                                    call.tensor_or(3, {}), format);
  return Values{call.has(5) ? y + call.tensor(5) : y};
}

// Weights of four bits that index a table, times the maximum of their block: NF4 of
// Dettmers et al., "QLoRA", 2023, or floats of four bits. The first of two is in the high bits.
Result<Values> mat_mul_bnb4(Call& call) {
  constexpr float kNormal[] = {-1.0f,        -0.69619280f, -0.52507305f, -0.39491749f,
                               -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
                               0.07958030f,  0.16093020f,  0.24611230f,  0.33791524f,
                               0.44070983f,  0.56261700f,  0.72295684f,  1.0f};
  constexpr float kFloats4[] = {
      0.0f, 0.00520833f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
      0.0f, -0.00520833f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
  const int64_t rows = call.int_of("K", 0), columns = call.int_of("N", 0);
  const int64_t block = call.int_of("block_size", 64), bytes = graph::element_count(call.shape(1));
  if (rows <= 0 || columns <= 0 || block <= 0 || 2 * bytes != rows * columns ||
      2 * bytes % block != 0 || graph::element_count(call.shape(2)) != 2 * bytes / block) {
    return call.reject(concat(bytes, " bytes and ", bracketed(call.shape(2)),
                              " blocks are not weights [", columns, ",", rows, "]"));
  }
  Builder& builder = call.builder();
  const Tensor packed = builder.reshape(builder.cast(call.tensor(1), DType::I32), {bytes, 1});
  const Tensor sixteen = builder.full({}, scalar::Number::of(16));
  const std::array operands = {packed, sixteen};
  const Tensor high = builder.map(Op::FloorDiv, operands), low = builder.map(Op::Mod, operands);
  const bool is_normal = call.int_of("quant_type", 1) == 1;
  const auto codes = std::as_bytes(std::span(is_normal ? kNormal : kFloats4));
  const Tensor table = builder.constant(DType::F32, {16}, {codes.begin(), codes.end()});
  const Tensor values = ops::gather(table, ops::concatenate({high, low}, 1), 0);
  const Tensor scales = builder.reshape(builder.cast(call.tensor(2), DType::F32), {-1, 1});
  const Tensor blocks = builder.reshape(values, {2 * bytes / block, block}) * scales;
  const Tensor weights = builder.reshape(blocks, {columns, rows});
  const Tensor x = call.tensor(0);
  return Values{builder.convert(builder.matmul(x, weights, false, true), x.dtype())};
}

Result<Values> expand_dims(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int64_t axis_value, call.integer(1));
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(axis_value, call.rank(0) + 1));
  Shape shape = call.shape(0);
  shape.insert(shape.begin() + axis, 1);
  return reshaped(call, std::move(shape));
}

// x + bias + skip.
Result<Values> bias_add(Call& call) {
  return Values{call.tensor(0) + call.tensor(1) + call.tensor(2)};
}

Result<Values> gather_block_quantized(Call& call) {
  const bool is_typed = call.type(0) != Type::UInt8;  // numbers of four bits, one in a byte here
  const Tensor data = call.tensor(0);
  LATHE_ASSIGN_OR_RETURN(const int gathered, call.axis(call.int_of("gather_axis", 0), data.rank()));
  LATHE_ASSIGN_OR_RETURN(const int quantize,
                         call.axis(call.int_of("quantize_axis", 1), data.rank()));
  const ops::BlockGather format{.bits = is_typed ? 8 : static_cast<int>(call.int_of("bits", 4)),
                                .block_size = call.int_of("block_size", 128),
                                .gather_axis = gathered,
                                .quantize_axis = quantize};
  Tensor zero_points = call.tensor_or(3, {});
  if (is_typed && !zero_points.valid()) {
    zero_points = call.builder().full(call.shape(2), scalar::Number::from(data.dtype(), 0));
  }
  const Tensor indices = ops::wrap_negative_indices(call.tensor(1), data.shape()[gathered]);
  return Values{ops::gather_block_quantized(data, indices, call.tensor(2), zero_points, format)};
}

namespace {

// One matrix of all experts of QMoE: weights, scales, bias and zero points are these operands.
struct Matrices {
  size_t weights, scales, bias, zero_points;
};

// x · w of expert e transposed, and its bias.
Tensor of_expert(Call& call, Tensor x, const Matrices& matrices, int64_t expert, int bits) {
  Builder& builder = call.builder();
  const auto one = [&](size_t i) {
    if (!call.has(i)) return Tensor{};
    const Tensor all = call.tensor(i);
    if (all.rank() < 2) return builder.error(concat("input ", i, " has not one row an expert"));
    Shape begin(all.shape().size(), 0), size = all.shape();
    begin[0] = expert;
    size[0] = 1;
    const Tensor part = ops::slice(all, begin, size);
    size.erase(size.begin());
    return builder.reshape(part, size);
  };
  const Tensor packed = one(matrices.weights), scales = one(matrices.scales);
  if (!packed.valid() || packed.rank() != 2 || !scales.valid()) {
    return builder.error("its weights and scales are not matrices of experts");
  }
  const int64_t columns = packed.shape()[0], rows = packed.shape().back() * 8 / bits;
  const int64_t block = scales.rank() < 2 ? rows : call.int_of("block_size", rows);
  const ops::NBits format{.columns = columns, .bits = bits, .block_size = block};
  const Tensor blocks =
      builder.reshape(packed, {columns, rows / std::max<int64_t>(block, 1), block * bits / 8});
  const Tensor y = ops::mat_mul_nbits(x, blocks, builder.reshape(scales, {columns, -1}),
                                      one(matrices.zero_points), format);
  const Tensor bias = one(matrices.bias);
  return bias.valid() ? y + bias : y;
}

// gate · sigmoid(alpha gate) · (linear + beta), both clamped.
Tensor swiglu(Call& call, Tensor gate, Tensor linear) {
  if (call.has_attribute("swiglu_limit")) {
    const float limit = call.float_of("swiglu_limit", 0);
    gate = minimum(gate, zero(gate) + limit);
    linear = maximum(minimum(linear, zero(linear) + limit), zero(linear) - limit);
  }
  const float alpha = call.float_of("activation_alpha", 1),
              beta = call.float_of("activation_beta", 0);
  return ops::swish(gate, alpha) * (linear + beta);
}

Result<Tensor> activated(Call& call, Tensor x, Tensor other) {
  const std::string type = call.string_of("activation_type", "relu");
  if (type == "relu") return ops::relu(x);
  if (type == "gelu") return ops::gelu(x);
  if (type == "silu") return ops::swish(x, 1);
  if (type == "identity") return x;
  if (type != "swiglu") return call.reject(concat("knows no activation_type '", type, '\''));
  if (other.valid()) return swiglu(call, x, other);
  const Shape shape = x.shape();
  if (shape.size() != 2) return call.reject("its experts must return rows");
  const int64_t half = shape[1] / 2;
  const bool interleaved = call.int_of("swiglu_fusion", 0) == 1;
  const auto part = [&](int64_t k) {
    return ops::strided_slice(x, {0, interleaved ? k : k * half}, {1, interleaved ? 2 : 1},
                              {shape[0], half});
  };
  return swiglu(call, part(0), part(1));
}

}  // namespace

// Every expert is computed for every token, and counts nothing where it is not chosen.
Result<Values> q_moe(Call& call) {
  Builder& builder = call.builder();
  const int bits = static_cast<int>(call.int_of("expert_weight_bits", 4));
  const int64_t chosen = call.int_of("k", 1);
  if (call.string_of("quant_type", "int") != "int")
    return call.reject("supports integer weights only");
  const Tensor input = call.tensor(0), router = builder.cast(call.tensor(1), DType::F32);
  if (input.rank() < 2 || router.rank() != 2 || call.rank(2) != 3 || call.rank(5) != 3 ||
      call.shape(2)[0] != router.shape()[1] || chosen < 1 || chosen > router.shape()[1]) {
    return call.reject(concat("router_probs ", bracketed(router.shape()), " do not choose ", chosen,
                              " of the experts of ", bracketed(call.shape(2))));
  }
  if (call.has(14)) return call.reject("does not support router_weights");
  const int64_t tokens = router.shape()[0], experts = router.shape()[1];
  const Tensor x = builder.reshape(input, {tokens, input.shape().back()});
  // Shares of the chosen experts, zero elsewhere.
  const Tensor best = builder.sort(router, 1, true, chosen);
  const Tensor is_chosen =
      builder.cast(builder.scatter(builder.full({tokens, chosen}, scalar::Number::of(1)), best, 1,
                                   {tokens, experts}),
                   DType::Bool);
  // ONNX Runtime on CPUs ignores normalize_routing_weights and always divides by the sum.
  const Tensor all = ops::softmax(router), selected = select(is_chosen, all, zero(all));
  const Tensor shares = selected / sum(selected, {1}, true);
  Tensor total;
  for (int64_t e = 0; e < experts; ++e) {
    const Tensor first = of_expert(call, x, {2, 3, 4, 11}, e, bits);
    const Tensor other = call.has(8) ? of_expert(call, x, {8, 9, 10, 13}, e, bits) : Tensor{};
    LATHE_ASSIGN_OR_RETURN(const Tensor inner, activated(call, first, other));
    const Tensor y = of_expert(call, inner, {5, 6, 7, 12}, e, bits);
    const Tensor part = builder.cast(y, DType::F32) * ops::slice(shares, {0, e}, Shape{tokens, 1});
    total = total.valid() ? total + part : part;
  }
  return Values{builder.reshape(builder.convert(total, input.dtype()), input.shape())};
}

// A causal depthwise convolution; the state has the preceding elements.
Result<Values> causal_conv_with_state(Call& call) {
  Builder& builder = call.builder();
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  const Shape s = x.shape(), w = weights.shape();
  if (s.size() != 3 || w.size() != 3 || w[0] != s[1] || w[1] != 1 || w[2] < 1) {
    return call.reject(concat("x ", bracketed(s), " and weights ", bracketed(w),
                              " are not [batch, channels, length] and [channels, 1, taps]"));
  }
  const int64_t past = w[2] - 1;
  const Tensor padded = call.has(3) ? ops::concatenate({call.tensor(3), x}, 2)
                                    : ops::pad(x, {{0, 0}, {0, 0}, {past, 0}}, 0);
  Tensor y;
  for (int64_t k = 0; k < w[2]; ++k) {
    const Tensor tap =
        builder.reshape(ops::slice(weights, {0, 0, k}, Shape{w[0], 1, 1}), {w[0], 1});
    const Tensor part =
        builder.cast(ops::slice(padded, {0, 0, k}, s), DType::F32) * builder.cast(tap, DType::F32);
    y = y.valid() ? y + part : part;
  }
  if (call.has(2)) {
    y = y + builder.cast(builder.reshape(call.tensor(2), {w[0], 1}), DType::F32);
  }
  const std::string activation = call.string_of("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = ops::swish(y, 1);
  } else if (activation != "none") {
    return call.reject(concat("knows no activation '", activation, '\''));
  }
  const Tensor state = ops::slice(padded, {0, 0, s[2]}, Shape{s[0], s[1], past});
  return Values{builder.convert(y, x.dtype()), state};
}

}  // namespace lathe::onnx::rows
