#include "lathe/import/onnx/ml/ml.h"

#include <array>
#include <iterator>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

using graph::Builder;

namespace {

template <class T>
Tensor constant_of(Builder& builder, DType dtype, Shape shape, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return builder.constant(dtype, std::move(shape), {bytes.begin(), bytes.end()});
}

// Exponentials, except that zeros stay such, over their sum.
Tensor softmax_zero(Tensor x) {
  const Tensor highest = max(x, {1}, true);
  const Tensor is_zero = absolute(x) <= zero(x) + 1e-7f;
  const Tensor power = select(is_zero, x * exp(-highest), exp(x - highest));
  const Tensor total = sum(power, {1}, true);
  return select(total == zero(total), zero(power) + 0.5f, power / total);
}

// The number that a standard normal one is below with probability x, as ONNX Runtime has it:
// Winitzki, "A handy approximation for the error function and its inverse", 2008.
Tensor probit(Tensor x) {
  const Tensor minus_zero_point = 2.0f * x - 1.0f;
  const Tensor logarithm = log((1.0f - minus_zero_point) * (1.0f + minus_zero_point));
  const Tensor v = 4.33074675f + 0.5f * logarithm;
  const Tensor size = graph::sqrt(graph::sqrt(v * v - 6.80272109f * logarithm) - v);
  return 1.41421356f * select(minus_zero_point < zero(minus_zero_point), -size, size);
}

}  // namespace

Tensor floats_constant(Builder& builder, Shape shape, std::span<const float> values) {
  return constant_of(builder, DType::F32, std::move(shape), values);
}

Tensor indices_constant(Builder& builder, Shape shape, std::span<const int32_t> values) {
  return constant_of(builder, DType::I32, std::move(shape), values);
}

Result<Tensor> features(Call& call, size_t i) {
  Tensor x = call.tensor(i);
  if (x.dtype() != DType::F64) x = call.builder().cast(x, DType::F32);
  if (x.rank() == 1) x = ops::expand_dims(x, 0);
  if (x.rank() == 2) return x;
  return call.reject(
      concat("input ", bracketed(x.shape()), " is neither [features] nor [n, features]"));
}

size_t count_labels(const Call& call, std::string_view integers, std::string_view texts) {
  return std::max(call.ints_of(integers).size(), call.strings_of(texts).size());
}

Result<Value> labels(Call& call, Tensor indices, std::string_view integers,
                     std::string_view texts) {
  const std::vector<std::string> names = call.strings_of(texts);
  if (names.empty()) {
    const std::vector<int64_t> numbers = call.ints_of(integers);
    const auto count = static_cast<int64_t>(numbers.size());
    if (numbers.empty()) return Value(call.builder().cast(indices, DType::I64));
    const Tensor all = constant_of<int64_t>(call.builder(), DType::I64, {count}, numbers);
    return Value(ops::gather(all, indices, 0));
  }
  LATHE_ASSIGN_OR_RETURN(const Content content, call.tracer().content(Value(indices)));
  std::vector<std::string> chosen;
  for (int64_t k = 0; k < content.count(); ++k) {
    const auto at = static_cast<size_t>(content.integer(k));
    chosen.push_back(at < names.size() ? names[at] : std::string{});
  }
  return Value(strings_content(content.shape, std::move(chosen)));
}

Result<PostTransform> post_transform_of(const Call& call) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const AttributeProto* found = call.attribute("post_transform");
  if (found != nullptr && found->kind == AttributeProto::Kind::Int) {
    if (found->integer >= 0 && found->integer < static_cast<int64_t>(std::size(kNames))) {
      return static_cast<PostTransform>(found->integer);
    }
    return call.reject(concat("knows no post_transform ", found->integer));
  }
  const std::string name = call.string_of("post_transform", "NONE");
  for (size_t k = 0; k < std::size(kNames); ++k) {
    if (kNames[k] == name) return static_cast<PostTransform>(k);
  }
  return call.reject(concat("knows no post_transform '", name, '\''));
}

Tensor transformed(Tensor scores, PostTransform transform) {
  if (!scores.valid()) return scores;
  Builder& builder = *scores.builder;
  const Tensor x = builder.cast(scores, DType::F32);
  const auto result = [&] {
    switch (transform) {
      case PostTransform::None:
        return scores;
      case PostTransform::Softmax:
        return ops::softmax(x);
      case PostTransform::Logistic:
        return ops::sigmoid(x);
      case PostTransform::SoftmaxZero:
        return softmax_zero(x);
      case PostTransform::Probit:
        return probit(x);
    }
    return scores;
  }();
  return builder.convert(result, scores.dtype());
}

Tensor binary_scores(Tensor single, bool is_share, PostTransform transform) {
  if (transform == PostTransform::Probit) return transformed(single, transform);
  if (transform == PostTransform::Logistic) single = ops::sigmoid(single);
  const bool is_probability = is_share || transform == PostTransform::Logistic;
  return ops::concatenate({is_probability ? 1.0f - single : -single, single}, 1);
}

}  // namespace lathe::onnx::rows
