// Losses and metrics by name: their graphs for one output of a model.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lathe/nn/layer.h"

namespace lathe::nn {

// A loss or metric that is no row of tables.def.
class CustomLoss {
 public:
  virtual ~CustomLoss() = default;
  // The output and the labels [n, …, c] -> [n, …]; any other shape counts by its mean, for all
  // rows.
  virtual Tensor operator()(Tensor x, Tensor y) const = 0;
};

// A loss at the output of a model.
struct Loss {
  Chosen<LossKind> kind;
  std::shared_ptr<const CustomLoss> custom = {};  // instead of the kind
  bool from_logits = false;  // the loss is of what the last activation was applied to
};

// The loss for an output that ends with this activation; `where` is its name in errors.
// An error if the two do not go together.
Result<Loss> fit_loss(const Choice& choice, std::string_view where, ActivationKind last);

// x, the output or what its activation was applied to, and y [n, …, c] -> [n, …].
Tensor row_losses(const Loss& loss, Tensor x, Tensor y);

// How a metric is made of its sums; see tables.def.
enum class Final : uint8_t { Mean, Ratio, Curve, Determination, Matrix };

// A metric at an output of a model: a row LATHE_METRIC, or a loss.
struct Metric {
  std::string name;  // as logs call it: "acc", else as it was requested
  Final final = Final::Mean;
  std::variant<Chosen<MetricKind>, Loss> what;
};

// "accuracy" means binary accuracy if the loss (or null) is binary cross-entropy.
Result<Metric> fit_metric(const Choice& choice, const Loss* loss, std::string_view where,
                          ActivationKind last);

// Whether a metric is the cross-entropy that fits the loss: "ce" or "crossentropy".
bool is_crossentropy(std::string_view metric);

// The name of that metric: binary if the loss is, or if rows have a single element.
const char* fitting_crossentropy(const Loss& loss, bool is_row_of_one);

// output and y [n, …, c], logits where the last activation was applied, row weights w [n] -> sums
// [k].
Tensor metric_sums(const Metric& metric, Tensor output, Tensor logits, Tensor y, Tensor w);

// The metric of the sums of all batches; a Matrix returns the sums.
std::vector<double> final_value(Final final, std::span<const double> sums);
std::string_view text(Final final);

}  // namespace lathe::nn
