// Operators of com.microsoft over matrices and rows of tokens.
#include <limits>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/linalg/determinant.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/movement/scattering.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

Result<Values> c_dist(Call& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  const std::string metric = call.string_of("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") {
    return call.reject(concat("knows no metric '", metric, '\''));
  }
  if (a.rank() != 2 || b.rank() != 2 || a.shape()[1] != b.shape()[1]) {
    return call.reject(concat("rows ", bracketed(a.shape()), " and ", bracketed(b.shape()),
                              " have not one number of columns"));
  }
  const Tensor difference = ops::expand_dims(a, 1) - ops::expand_dims(b, 0);
  const Tensor squares = sum(difference * difference, {2});
  return Values{metric == "euclidean" ? graph::sqrt(squares) : squares};
}

Result<Values> inverse(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{cast_like(ops::inverse(in_floats(x)), x)};
}

// Scores [b, vocabulary] where the next token may repeat no n tokens of a row [b, s].
Result<Values> ngram_repeat_block(Call& call) {
  const Tensor tokens = call.tensor(0), scores = call.tensor(1);
  const int64_t size = call.int_of("ngram_size", 0);
  if (size < 1 || tokens.rank() != 2 || scores.rank() != 2 ||
      tokens.shape()[0] != scores.shape()[0]) {
    return call.reject(concat("tokens ", bracketed(tokens.shape()), ", scores ",
                              bracketed(scores.shape()), " and ngram_size ", size,
                              " do not go together"));
  }
  const int64_t batch = tokens.shape()[0], length = tokens.shape()[1];
  const int64_t windows = length - size + 1;
  if (windows <= 0) return Values{scores};
  Builder& builder = call.builder();
  Tensor repeats = builder.full({batch, windows}, scalar::Number::of(true));
  for (int64_t k = 0; k + 1 < size; ++k) {
    const Tensor last = ops::slice(tokens, {0, windows + k}, Shape{batch, 1});
    const Tensor each = ops::slice(tokens, {0, k}, Shape{batch, windows});
    repeats = builder.map(Op::And, std::array{repeats, each == last});
  }
  const Tensor next =
      builder.cast(ops::slice(tokens, {0, size - 1}, Shape{batch, windows}), DType::I32);
  const Tensor none = builder.full(scores.shape(), scalar::Number::of(int32_t{0}));
  const Tensor count =
      ops::scatter_along(none, next, builder.cast(repeats, DType::I32), 1, ops::Merge::Max);
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const Tensor lowest = builder.full({}, scalar::Number::from(scores.dtype(), kLowest));
  return Values{select(count > zero(count), lowest, scores)};
}

}  // namespace lathe::onnx::rows
