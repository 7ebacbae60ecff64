// A model as a layer of another model.
#include <algorithm>

#include "lathe/base/check.h"
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
      return fail(concat("expects ", model_.inputs().size(), " inputs, got ", inputs.size()));
    }
    if (fits(inputs)) return plan_of(model_);
    LATHE_ASSIGN_OR_RETURN(const Model other, model_.with_inputs(inputs));
    return plan_of(other);
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const override {
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs) {
      if (!input.valid()) return model_.build(inputs, weights, context);
      shapes.push_back(input.shape());
      shapes.back().erase(shapes.back().begin());
    }
    if (fits(shapes)) return model_.build(inputs, weights, context);
    const Result<Model> other = model_.with_inputs(shapes);
    LATHE_CHECK(other);
    return other->build(inputs, weights, context);
  }

 private:
  bool fits(std::span<const Shape> shapes) const {
    return std::ranges::equal(shapes, model_.inputs(), {}, {},
                              [this](const Port& port) { return model_.shape(port.value); });
  }

  static LayerPlan plan_of(const Model& model) {
    LayerPlan plan;
    for (const Port& output : model.outputs()) plan.outputs.push_back(model.shape(output.value));
    for (const BuiltLayer& layer : model.layers()) {
      plan.weights.insert(plan.weights.end(), layer.weights.begin(), layer.weights.end());
    }
    plan.states = model.states();
    return plan;
  }

  Model model_;
};

}  // namespace

LayerPtr as_layer(Model model, bool trainable) {
  return std::make_shared<NestedModel>(std::move(model), trainable);
}

}  // namespace lathe::nn
