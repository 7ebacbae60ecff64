// Linear models and support vector machines.
#include <algorithm>
#include <array>

#include "lathe/base/text.h"
#include "lathe/import/onnx/ml/ml.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

namespace {

constexpr std::string_view kIntegers = "classlabels_ints", kTexts = "classlabels_strings";

// Operand 0 as F32 [n, features].
Result<Tensor> rows_of(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, features(call));
  return call.builder().cast(x, DType::F32);
}

// x · coefficientsᵀ + intercepts: [n, rows].
Result<Tensor> linear(Call& call, Tensor x, int64_t rows) {
  const std::vector<float> weights = call.floats_of("coefficients");
  const std::vector<float> biases = call.floats_of("intercepts");
  const int64_t width = x.shape()[1];
  if (rows <= 0 || static_cast<int64_t>(weights.size()) != rows * width ||
      (!biases.empty() && static_cast<int64_t>(biases.size()) != rows)) {
    return call.reject(concat(weights.size(), " coefficients and ", biases.size(),
                              " intercepts do not fit ", rows, " rows of ", width, " features"));
  }
  Builder& builder = call.builder();
  const Tensor scores =
      builder.matmul(x, floats_constant(builder, {rows, width}, weights), false, true);
  return biases.empty() ? scores : scores + floats_constant(builder, {rows}, biases);
}

}  // namespace

Result<Values> linear_regressor(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, rows_of(call));
  LATHE_ASSIGN_OR_RETURN(const PostTransform transform, post_transform_of(call));
  LATHE_ASSIGN_OR_RETURN(const Tensor scores, linear(call, x, call.int_of("targets", 1)));
  return Values{transformed(scores, transform)};
}

Result<Values> linear_classifier(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, rows_of(call));
  LATHE_ASSIGN_OR_RETURN(const PostTransform transform, post_transform_of(call));
  const auto weights = static_cast<int64_t>(call.floats_of("coefficients").size());
  const int64_t rows = weights / std::max<int64_t>(x.shape()[1], 1);
  LATHE_ASSIGN_OR_RETURN(Tensor scores, linear(call, x, rows));
  const Tensor single = scores;
  const bool is_binary = rows == 1 && count_labels(call, kIntegers, kTexts) == 2;
  if (is_binary) scores = ops::concatenate({-scores, scores}, 1);
  if (scores.shape()[1] == 1) {
    const Tensor positive = transformed(scores, transform);
    const Tensor is_one = ops::reshape(scores > zero(scores), {x.shape()[0]});
    const Tensor label = call.builder().cast(is_one, DType::I64);
    const std::vector<int64_t> integers = call.ints_of(kIntegers);
    if (integers.empty()) return Values{label, positive};
    return Values{label * call.builder().full({}, scalar::Number::of(integers[0])), positive};
  }
  LATHE_ASSIGN_OR_RETURN(Value label, labels(call, ops::argmax(scores, 1), kIntegers, kTexts));
  if (is_binary && transform != PostTransform::Probit) {
    return Values{std::move(label), binary_scores(single, true, transform)};
  }
  return Values{std::move(label), transformed(scores, transform)};
}

namespace {

// k(x, v) of rows x [n, f] and all support vectors [count, f]: [n, count].
Result<Tensor> kernel(Call& call, Tensor x, int64_t count) {
  const std::vector<float> all = call.floats_of("support_vectors");
  const std::vector<float> parameters = call.floats_of("kernel_params");
  const int64_t width = x.shape()[1];
  if (count <= 0 || static_cast<int64_t>(all.size()) != count * width) {
    return call.reject(
        concat(all.size(), " numbers are not ", count, " support vectors of ", width, " features"));
  }
  const auto parameter = [&](size_t k) { return k < parameters.size() ? parameters[k] : 0.0f; };
  const float gamma = parameter(0), offset = parameter(1), degree = parameter(2);
  Builder& builder = call.builder();
  const Tensor vectors = floats_constant(builder, {count, width}, all);
  LATHE_ASSIGN_OR_RETURN(const auto type,
                         call.choice_of("kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"}));
  const Tensor products = builder.matmul(x, vectors, false, true);
  if (type == "LINEAR") return products;
  if (type == "POLY") {
    Tensor power = builder.full({1, 1}, scalar::Number::of(1.0f));
    for (int k = 0; k < std::min(static_cast<int>(degree), 64); ++k) {
      power = power * (products * gamma + offset);
    }
    return power;
  }
  if (type == "SIGMOID") return tanh(products * gamma + offset);
  const Tensor difference = ops::expand_dims(x, 1) - ops::expand_dims(vectors, 0);
  return exp(-(sum(difference * difference, {2}) * gamma));
}

}  // namespace

Result<Values> svm_regressor(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, rows_of(call));
  LATHE_ASSIGN_OR_RETURN(const PostTransform transform, post_transform_of(call));
  const std::vector<float> weights = call.floats_of("coefficients"), rho = call.floats_of("rho");
  const int64_t count = call.int_of("n_supports", 0);
  Tensor of = x;
  if (count > 0) {
    LATHE_ASSIGN_OR_RETURN(of, kernel(call, x, count));
  }
  if (rho.empty() || static_cast<int64_t>(weights.size()) != of.shape()[1]) {
    return call.reject(concat(weights.size(), " coefficients and ", rho.size(), " rho do not fit ",
                              of.shape()[1], " terms"));
  }
  Builder& builder = call.builder();
  const Tensor column = floats_constant(builder, {of.shape()[1], 1}, weights);
  Tensor y = builder.matmul(of, column) + rho[0];
  if (call.int_of("one_class", 0) != 0) y = select(y > zero(y), zero(y) + 1.0f, zero(y) - 1.0f);
  return Values{transformed(y, transform)};
}

namespace {

// One machine for each pair of classes.
struct Pairs {
  Tensor scores;  // [n, pairs]
  Tensor votes;   // [n, classes]: how many pairs a class wins
};

Result<Pairs> pairs_of(Call& call, Tensor x, const std::vector<int64_t>& sizes) {
  const auto classes = static_cast<int64_t>(sizes.size());
  int64_t count = 0;
  std::vector<int64_t> starts;
  for (const int64_t each : sizes) {
    starts.push_back(count);
    if (each < 0 || each > int64_t{1} << 30) return call.reject("vectors_per_class has no counts");
    count += each;
  }
  const int64_t pairs = classes * (classes - 1) / 2;
  const std::vector<float> weights = call.floats_of("coefficients"), rho = call.floats_of("rho");
  if (static_cast<int64_t>(rho.size()) != pairs ||
      static_cast<int64_t>(weights.size()) != (classes - 1) * count) {
    return call.reject(concat(weights.size(), " coefficients and ", rho.size(), " rho do not fit ",
                              count, " vectors of ", classes, " classes"));
  }
  LATHE_ASSIGN_OR_RETURN(const Tensor k, kernel(call, x, count));
  std::vector<float> matrix(count * pairs);
  std::vector<float> wins(pairs * classes), losses = wins;
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      const auto put = [&](int64_t of, int64_t row) {
        const int64_t first = starts[of];
        for (int64_t v = first; v < first + sizes[of]; ++v) {
          matrix[v * pairs + pair] = weights[row * count + v];
        }
      };
      put(i, j - 1);
      put(j, i);
      wins[pair * classes + i] = 1;
      losses[pair * classes + j] = 1;
    }
  }
  Builder& builder = call.builder();
  const Tensor scores = builder.matmul(k, floats_constant(builder, {count, pairs}, matrix)) +
                        floats_constant(builder, {pairs}, rho);
  const Tensor won = builder.cast(scores > zero(scores), DType::F32);
  const Tensor votes =
      builder.matmul(won, floats_constant(builder, {pairs, classes}, wins)) +
      builder.matmul(1.0f - won, floats_constant(builder, {pairs, classes}, losses));
  return Pairs{scores, votes};
}

// [n, 1] of [n, k].
Tensor column(Tensor x, int64_t at) { return ops::slice(x, {0, at}, Shape{x.shape()[0], 1}); }

// Of pairwise probabilities r [n, pairs] those of classes [n, k]: the second method of Wu, Lin and
// Weng, "Probability estimates for multi-class classification by pairwise coupling", 2004, which
// libsvm iterates up to 100 times; rows that are near enough stay.
Tensor coupled(Tensor r, int64_t classes) {
  constexpr int64_t kIterations = 100;
  Builder& outer = *r.builder;
  const int64_t n = r.shape()[0];
  const Tensor start =
      outer.full({n, classes}, scalar::Number::of(1.0f / static_cast<float>(classes)));
  const auto body = [&](const ops::ScanStep& step) {
    const Tensor all = step.invariants[0];
    std::vector<std::vector<Tensor>> p(classes, std::vector<Tensor>(classes));
    int64_t pair = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      for (size_t j = i + 1; j < p.size(); ++j, ++pair) {
        p[i][j] = column(all, pair);
        p[j][i] = 1.0f - p[i][j];
      }
    }
    // Rows of q [n, k] and their products with the probabilities.
    std::vector<Tensor> q, products;
    Tensor x = step.carried[0];
    for (size_t t = 0; t < p.size(); ++t) {
      std::vector<Tensor> row(p.size());
      for (size_t j = 0; j < p.size(); ++j) {
        if (j == t) continue;
        const Tensor square = p[j][t] * p[j][t];
        row[t] = row[t].valid() ? row[t] + square : square;
        row[j] = -(p[j][t] * p[t][j]);
      }
      q.push_back(ops::concatenate(row, 1));
      products.push_back(sum(q.back() * x, {1}, true));
    }
    Tensor qp = ops::concatenate(products, 1);
    Tensor pqp = sum(x * qp, {1}, true);
    const Tensor error = max(absolute(qp - pqp), {1}, true);
    const Tensor is_near = error < zero(error) + 0.005f / static_cast<float>(classes);
    for (size_t t = 0; t < p.size(); ++t) {
      const auto at = static_cast<int64_t>(t);
      const Tensor diagonal = column(q[t], at), qp_t = column(qp, at);
      const Tensor change = (pqp - qp_t) / diagonal;
      const Tensor share = 1.0f / (1.0f + change);
      const Tensor position = step.builder.iota({1, classes}, 1);
      const Tensor here =
          position == step.builder.full({}, scalar::Number::of(static_cast<int32_t>(t)));
      pqp = (pqp + change * (change * diagonal + 2.0f * qp_t)) * share * share;
      x = select(here, x + change, x) * share;
      qp = (qp + change * q[t]) * share;
    }
    return ops::ScanResult{{select(is_near, step.carried[0], x)}, {}};
  };
  const auto result = ops::scan(outer, {.steps = kIterations}, {{start}}, {}, {{r}}, body);
  return result.carried.empty() ? r : result.carried[0];
}

Tensor probabilities(Call& call, Tensor scores, int64_t classes) {
  const std::vector<float> a = call.floats_of("prob_a"), b = call.floats_of("prob_b");
  Builder& builder = call.builder();
  const auto pairs = static_cast<int64_t>(a.size());
  const Tensor logit =
      scores * floats_constant(builder, {pairs}, a) + floats_constant(builder, {pairs}, b);
  const Tensor r =
      minimum(maximum(sigmoid(-logit), zero(logit) + 1e-7f), zero(logit) + (1 - 1e-7f));
  return coupled(r, classes);
}

}  // namespace

Result<Values> svm_classifier(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, rows_of(call));
  LATHE_ASSIGN_OR_RETURN(const PostTransform transform, post_transform_of(call));
  const std::vector<int64_t> sizes = call.ints_of("vectors_per_class");
  const auto classes =
      static_cast<int64_t>(std::max<size_t>(count_labels(call, kIntegers, kTexts), 1));
  if (sizes.empty()) {
    LATHE_ASSIGN_OR_RETURN(Tensor scores, linear(call, x, classes));
    const std::vector<float> rho = call.floats_of("rho");
    if (!rho.empty()) scores = scores + rho[0];
    LATHE_ASSIGN_OR_RETURN(Value label, labels(call, ops::argmax(scores, 1), kIntegers, kTexts));
    return Values{std::move(label), transformed(scores, transform)};
  }
  if (static_cast<int64_t>(sizes.size()) != classes || classes < 2) {
    return call.reject(
        concat("vectors_per_class ", bracketed(sizes), " do not fit ", classes, " classes"));
  }
  LATHE_ASSIGN_OR_RETURN(const Pairs pairs, pairs_of(call, x, sizes));
  LATHE_ASSIGN_OR_RETURN(Value label, labels(call, ops::argmax(pairs.votes, 1), kIntegers, kTexts));
  const size_t integers = call.floats_of("prob_a").size();
  if (integers > 0) {
    if (integers != call.floats_of("rho").size() || integers != call.floats_of("prob_b").size()) {
      return call.reject("prob_a, prob_b and rho have not one length");
    }
    return Values{std::move(label),
                  transformed(probabilities(call, pairs.scores, classes), transform)};
  }
  if (classes == 2) {
    const bool is_share = transform != PostTransform::None;
    return Values{std::move(label), binary_scores(pairs.scores, is_share, transform)};
  }
  return Values{std::move(label), transformed(pairs.scores, transform)};
}

}  // namespace lathe::onnx::rows
