#include "lathe/network/host_layer.h"

#include <algorithm>
#include <array>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/nn/layers/recurrent_cells.h"
#include "lathe/nn/model.h"

namespace lathe::network {
namespace {

using graph::Builder;
using graph::Shape;
using graph::Tensor;

// Batch size of the examples that output shapes are inferred from. Not 1, which would broadcast.
constexpr int64_t kPlannedRows = 2;
constexpr std::string_view kNoHost = "is implemented by a layer host, and none is registered";

Status trace_host(int32_t id, std::span<const Tensor> inputs, std::span<const Tensor> weights,
                  std::span<const Tensor> masks, bool trains, HostTrace& traced) {
  if (layer_host() == nullptr) return fail(std::string(kNoHost));
  return layer_host()->trace(id, inputs, weights, masks, trains, traced);
}

Result<std::vector<nn::Weight>> query_weights(int32_t id, std::span<const Shape> inputs) {
  if (layer_host() == nullptr) return fail(std::string(kNoHost));
  return layer_host()->weights(id, inputs);
}

class HostLayer final : public nn::Layer {
 public:
  explicit HostLayer(HostLayerOptions options) : Layer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return options_.class_name; }
  bool supports_masking() const override { return options_.supports_masking; }

  Result<nn::LayerPlan> plan_call(std::span<const Shape> inputs) const override {
    nn::LayerPlan plan;
    LATHE_ASSIGN_OR_RETURN(plan.weights, query_weights(options_.id, inputs));
    Builder builder("plan");
    std::vector<Tensor> examples, weights;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Shape shape = inputs[i];
      insert_at(shape, 0, kPlannedRows);
      examples.push_back(builder.input(concat('x', i), graph::DType::F32, std::move(shape)));
    }
    for (const nn::Weight& weight : plan.weights) {
      LATHE_TRY(nn::check_shape(weight.name, weight.shape));
      weights.push_back(builder.state(weight.name, graph::DType::F32, weight.shape));
    }
    HostTrace traced;
    LATHE_TRY(trace(examples, weights, {}, false, traced));
    for (const Tensor& output : traced.outputs) {
      plan.outputs.emplace_back(output.shape().begin() + 1, output.shape().end());
    }
    return plan;
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 nn::Context& context) const override {
    Builder& builder = *inputs[0].builder;
    if (!builder.ok()) return {Tensor{&builder, {}}};
    std::vector<Tensor> current;
    for (const Tensor& weight : weights) current.push_back(context.current(weight));
    HostTrace traced;
    const Status status = trace(inputs, current, context.masks, context.trains(), traced);
    if (!status) {
      return {builder.error(concat("layer \"", context.layer(), "\" (", class_name(),
                                   "): ", status.error().message))};
    }
    for (const auto& [weight, value] : traced.updates) {
      if (context.trainable()) context.update(weights[weight], value);
    }
    return std::move(traced.outputs);
  }

 private:
  Status trace(std::span<const Tensor> inputs, std::span<const Tensor> weights,
               std::span<const Tensor> masks, bool trains, HostTrace& traced) const {
    LATHE_TRY(trace_host(options_.id, inputs, weights, masks, trains, traced));
    const int64_t rows = inputs[0].shape()[0];
    for (const Tensor& output : traced.outputs) {
      if (output.dtype() != graph::DType::F32) {
        return fail(concat("call must return float32, got ", scalar::text(output.dtype())));
      }
      if (output.shape().empty() || output.shape()[0] != rows) {
        return fail(concat("call must return the batch as first axis: for inputs of ", rows,
                           " rows it returned ", bracketed(output.shape())));
      }
    }
    return {};
  }

  HostLayerOptions options_;
};

// A call of the host returns the output, then the new states.
class HostCell final : public nn::RecurrentCell {
 public:
  explicit HostCell(HostLayerOptions options)
      : RecurrentCell(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return options_.class_name; }

  Result<std::vector<Shape>> state_shapes(const Shape&) const override {
    std::vector<Shape> shapes;
    for (const int64_t size : options_.state_sizes) {
      shapes.push_back({size});
      LATHE_TRY(nn::check_shape("stateSize", shapes.back()));
    }
    return shapes;
  }
  Result<std::vector<nn::Weight>> weights(const Shape& input) const override {
    LATHE_ASSIGN_OR_RETURN(auto weights, query_weights(options_.id, {&input, 1}));
    count_ = weights.size();
    return weights;
  }
  Tensor project(Tensor x, std::span<const Tensor>) const override { return x; }
  std::vector<Tensor> shared(std::span<const Tensor> weights) const override {
    return {weights.begin(), weights.end()};
  }
  size_t weight_count() const override { return count_; }
  size_t shared_count() const override { return count_; }
  size_t state_count() const override { return options_.state_sizes.size(); }
  bool has_separate_output() const override { return true; }
  std::vector<Tensor> masks(graph::Builder&, const Shape&, nn::Context& context) const override {
    trains_ = context.trains();
    return std::vector<Tensor>(2);
  }
  std::vector<Tensor> step(Tensor x, std::span<const Tensor> states, std::span<const Tensor> shared,
                           std::span<const Tensor>) const override {
    std::vector<Tensor> inputs = {x};
    inputs.insert(inputs.end(), states.begin(), states.end());
    HostTrace traced;
    Status status =
        x.builder->ok() ? trace_host(options_.id, inputs, shared, {}, trains_, traced) : fail("");
    // The shape of an output that is not stacked is checked nowhere else.
    const bool fits = traced.outputs.size() == inputs.size() &&
                      traced.outputs[0].shape() == states[0].shape() &&
                      traced.outputs[0].dtype() == graph::DType::F32;
    if (status && !fits) {
      status = fail(concat("call must return the output, float32 ", bracketed(states[0].shape()),
                           ", and ", states.size(), " states"));
    }
    if (status) return std::move(traced.outputs);
    const Tensor wrong = x.builder->error(concat(class_name(), ": ", status.error().message));
    return std::vector<Tensor>(inputs.size(), wrong);
  }

 private:
  HostLayerOptions options_;
  mutable size_t count_ = 0;  // of the weights
  mutable bool trains_ = false;
};

class HostLoss final : public nn::CustomLoss {
 public:
  HostLoss(std::string name, int32_t id) : name_(std::move(name)), id_(id) {}

  Tensor operator()(Tensor x, Tensor y) const override {
    if (!x.builder->ok()) return {x.builder, {}};
    HostTrace traced;
    const Status status = trace_host(id_, std::array{y, x}, {}, {}, true, traced);
    if (!status) return x.builder->error(concat(name_, ": ", status.error().message));
    return traced.outputs[0];
  }

 private:
  std::string name_;
  int32_t id_;
};

}  // namespace

const LayerHost*& layer_host() {
  static const LayerHost* the_host = nullptr;
  return the_host;
}

nn::LayerPtr host_layer(HostLayerOptions options) {
  if (!options.state_sizes.empty()) return std::make_shared<HostCell>(std::move(options));
  return std::make_shared<HostLayer>(std::move(options));
}

std::shared_ptr<const nn::CustomLoss> host_loss(std::string name, int32_t id) {
  return std::make_shared<HostLoss>(std::move(name), id);
}

}  // namespace lathe::network
