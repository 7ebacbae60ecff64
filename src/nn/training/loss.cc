#include "lathe/nn/training/loss.h"

#include <cmath>

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/nn/losses.h"
#include "lathe/ops/nn/metrics.h"

namespace lathe::nn {
namespace {

// The column FORM of a row.
struct Form {
  ActivationKind activation = ActivationKind::Linear;  // whose input the loss is computed from
  bool always = false;                                 // not only where the model ends with it
};

Form form_of(LossKind kind) {
  switch (kind) {
#define OUTPUT(of_) \
  {}
#define LOGITS(activation_, of_) \
  { ActivationKind::activation_, true }
#define EITHER(activation_, of_, otherwise_) \
  { ActivationKind::activation_, false }
#define LATHE_LOSS(name_, text_, short_, form_, ...) \
  case LossKind::name_:                              \
    return form_;
#include "lathe/nn/tables.def"
#undef OUTPUT
#undef LOGITS
#undef EITHER
  }
  return {};
}

std::string_view name_of(ActivationKind kind) {
  return activations()[static_cast<size_t>(kind)].name;
}

Final final_of(MetricKind kind) {
  switch (kind) {
#define FINAL(name_) Final::name_
#define LATHE_METRIC(name_, text_, short_, final_, sums_, ...) \
  case MetricKind::name_:                                      \
    return final_;
#include "lathe/nn/tables.def"
#undef FINAL
  }
  return Final::Mean;
}

Tensor custom_losses(const CustomLoss& loss, Tensor x, Tensor y) {
  graph::Builder& builder = *x.builder;
  const int64_t rows = x.shape().front();
  const Tensor result = loss(x, y);
  if (!result.valid()) return result;
  const Tensor values = builder.cast(result, graph::DType::F32);
  if (values.rank() > 0 && values.shape().front() == rows) return values;
  return builder.broadcast_to(mean(builder.reshape(values, {1, -1}), {1}), {rows});
}

// Logits whose sigmoids are epsilon away from 0 and 1, in float32 as TensorFlow.js computes them.
Tensor bounded(Tensor x, float epsilon) {
  if (epsilon == 0) return x;
  const float high = 1 - epsilon;
  return ops::clip_by_value(x, std::log(epsilon / high), std::log(high / (1 - high)));
}

// softmax_cross_entropy of probabilities that are epsilon away from 0 and 1.
Tensor bounded_cross_entropy(Tensor x, Tensor y, float epsilon) {
  if (epsilon == 0) return ops::softmax_cross_entropy(x, y);
  const Tensor logs =
      ops::clip_by_value(ops::log_softmax(x), std::log(epsilon), std::log(1 - epsilon));
  return -sum(y * logs, {-1});
}

double ratio(double part, double total) { return total != 0 ? part / total : 0; }

// Points for falling thresholds, linearly interpolated; Keras' AUC of the kind "interpolation".
double area_under_curve(std::span<const double> sums) {
  const size_t count = sums.size() / 2;
  const auto positives = sums.first(count), negatives = sums.last(count);
  double area = 0;
  for (size_t i = 0; i + 1 < count; ++i) {
    area += (negatives[i] - negatives[i + 1]) * (positives[i] + positives[i + 1]) / 2;
  }
  return ratio(area, positives[0] * negatives[0]);
}

}  // namespace

Result<Loss> fit_loss(const Choice& choice, std::string_view where, ActivationKind last) {
  Loss loss;
  loss.custom = choice.custom;
  if (loss.custom != nullptr) return loss;
  LATHE_ASSIGN_OR_RETURN(loss.kind, find_loss(choice));
  const Form form = form_of(loss.kind.kind);
  if (form.activation == ActivationKind::Linear) return loss;
  loss.from_logits = last == form.activation;
  if (!form.always || loss.from_logits || last == ActivationKind::Linear) return loss;
  const std::string_view required = name_of(form.activation);
  return fail(concat("loss ", losses()[static_cast<size_t>(loss.kind.kind)].name,
                     " requires a model that ends with ", required, " or linear, but ", where,
                     " ends with ", name_of(last), ": change its activation to \"", required,
                     "\""));
}

Tensor row_losses(const Loss& loss, Tensor x, Tensor y) {
  if (!x.valid() || !y.valid()) return x;
  if (loss.custom != nullptr) return custom_losses(*loss.custom, x, y);
  const auto p = floats(loss.kind.parameters);
  switch (loss.kind.kind) {
#define OUTPUT(of_) of_
#define LOGITS(activation_, of_) of_
#define EITHER(activation_, of_, otherwise_) loss.from_logits ? of_ : otherwise_
#define LATHE_LOSS(name_, text_, short_, form_, ...) \
  case LossKind::name_:                              \
    return form_;
#include "lathe/nn/tables.def"
#undef OUTPUT
#undef LOGITS
#undef EITHER
  }
  return x;
}

Result<Metric> fit_metric(const Choice& choice, const Loss* loss, std::string_view where,
                          ActivationKind last) {
  Metric metric;
  metric.name = choice.name;
  if (choice.custom != nullptr || find_loss(choice)) {
    LATHE_ASSIGN_OR_RETURN(metric.what, fit_loss(choice, where, last));
    return metric;
  }
  LATHE_ASSIGN_OR_RETURN(Chosen<MetricKind> chosen, find_metric(choice));
  if (chosen.kind == MetricKind::Accuracy) {
    metric.name = "acc";
    if (loss != nullptr && loss->custom == nullptr &&
        loss->kind.kind == LossKind::BinaryCrossentropy) {
      chosen.kind = MetricKind::BinaryAccuracy;
    }
  }
  metric.final = final_of(chosen.kind);
  metric.what = chosen;
  return metric;
}

bool is_crossentropy(std::string_view metric) { return metric == "ce" || metric == "crossentropy"; }

const char* fitting_crossentropy(const Loss& loss, bool is_row_of_one) {
  const bool is_binary =
      is_row_of_one || (loss.custom == nullptr && loss.kind.kind == LossKind::BinaryCrossentropy);
  return is_binary ? "binaryCrossentropy" : "categoricalCrossentropy";
}

Tensor metric_sums(const Metric& metric, Tensor output, Tensor logits, Tensor y, Tensor w) {
  if (const Loss* loss = std::get_if<Loss>(&metric.what)) {
    return ops::mean_over_rows(row_losses(*loss, loss->from_logits ? logits : output, y), w);
  }
  const auto& chosen = std::get<Chosen<MetricKind>>(metric.what);
  const Tensor x = output;
  const auto p = floats(chosen.parameters);
  switch (chosen.kind) {
#define SUMS(...) __VA_ARGS__
#define LATHE_METRIC(name_, text_, short_, final_, sums_, ...) \
  case MetricKind::name_:                                      \
    return sums_;
#include "lathe/nn/tables.def"
#undef SUMS
  }
  return x;
}

std::vector<double> final_value(Final final, std::span<const double> s) {
  switch (final) {
    case Final::Mean:
      return {ratio(s[0], s[1])};
    case Final::Ratio:
      return {ratio(s[0], s[0] + s[1])};
    case Final::Curve:
      return {area_under_curve(s)};
    case Final::Determination:
      return {1 - ratio(s[0], s[2] - ratio(s[1] * s[1], s[3]))};
    case Final::Matrix:
      return {s.begin(), s.end()};
  }
  return {};
}

std::string_view text(Final final) {
  switch (final) {
    case Final::Mean:
      return "mean";
    case Final::Ratio:
      return "ratio";
    case Final::Curve:
      return "curve";
    case Final::Determination:
      return "determination";
    case Final::Matrix:
      return "matrix";
  }
  return {};
}

}  // namespace lathe::nn
