// A model as a layer of another model.
#include "lathe/base/text.h"
#include "lathe/nn/model.h"

namespace lathe::nn {
namespace {

struct NestedOptions {
  LATHE_LAYER_OPTIONS;
};

NestedOptions options_of(const Model& model, bool trainable) {
  const bool is_unary = model.inputs().size() == 1;
  return {is_unary ? model.input_shape() : Shape{}, model.name(), trainable};
}

class NestedModel final : public Layer {
 public:
  NestedModel(Model model, bool trainable)
      : Layer(options_of(model, trainable)), model_(std::move(model)) {}

  std::string_view class_name() const override { return "Model"; }
  const Model* model() const override { return &model_; }

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const override {
    LATHE_TRY(model_.status());
    if (inputs.size() != model_.inputs().size()) {
      return fail(concat("takes ", model_.inputs().size(), " inputs, got ", inputs.size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Port& port = model_.inputs()[i];
      if (inputs[i] == model_.shape(port.value)) continue;
      return fail(concat("input \"", port.name, "\" has shape ",
                         bracketed(model_.shape(port.value)), ", got ", bracketed(inputs[i])));
    }
    LayerPlan plan;
    for (const Port& output : model_.outputs()) plan.outputs.push_back(model_.shape(output.value));
    for (const PlacedLayer& layer : model_.layers()) {
      plan.weights.insert(plan.weights.end(), layer.weights.begin(), layer.weights.end());
    }
    plan.states = model_.states();
    return plan;
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const override {
    return model_.build(inputs, weights, context);
  }

 private:
  Model model_;
};

}  // namespace

LayerPtr as_layer(Model model, bool trainable) {
  return std::make_shared<NestedModel>(std::move(model), trainable);
}

}  // namespace lathe::nn
