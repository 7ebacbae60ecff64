#include "lathe/nn/layer_graph.h"

#include "lathe/base/text.h"
#include "lathe/graph/segment.h"
#include "lathe/nn/model.h"

namespace lathe::nn {
namespace {

std::string numbered(std::string_view stem, size_t number) { return concat(stem, number); }

}  // namespace

Result<graph::Graph> layer_graph(const LayerPtr& layer, const LayerCall& call) {
  Model model("layer", 0);
  graph::Builder builder("layer");
  BuildState build{.trains = call.trains};
  Context context(build, "", true);
  std::vector<ModelValue> ports;
  std::vector<Tensor> inputs, weights;
  const int64_t batch = call.shapes.empty() || call.shapes[0].empty() ? 0 : call.shapes[0][0];
  for (size_t i = 0; i < call.shapes.size(); ++i) {
    const Shape& shape = call.shapes[i];
    const bool masked = i < call.masked.size() && call.masked[i];
    if (shape.size() < (masked ? 2 : 1) || shape[0] != batch) {
      return fail("the inputs of a layer need the same batch, and steps if they have a mask");
    }
    const std::string name = numbered("x", i);
    ports.push_back(model.input({shape.begin() + 1, shape.end()}, name));
    inputs.push_back(builder.input(name, graph::DType::F32, shape));
    Tensor mask;
    if (masked) mask = builder.input(numbered("mask", i), graph::DType::Bool, {batch, shape[1]});
    context.masks.push_back(mask);
  }
  for (const ModelValue output : model.call_all(layer, ports)) {
    model.output(output, numbered("y", model.outputs().size()));
  }
  LATHE_TRY(model.status());
  if (call.trains) {
    const Tensor rows = builder.full({}, scalar::Number::of(static_cast<int32_t>(batch)));
    build.present = builder.cast(builder.iota({batch}, 0) < rows, graph::DType::F32);
  }
  for (const Variable& weight : model.weights()) {
    weights.push_back(builder.state(weight.name, graph::DType::F32, weight.shape));
  }
  const std::vector<Tensor> outputs = model.build(inputs, weights, context);
  for (size_t i = 0; i < outputs.size(); ++i) builder.output(numbered("y", i), outputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor mask = context.output_masks[i];
    if (mask.builder != nullptr) builder.output(numbered("outputMask", i), mask);
  }
  for (const auto& [state, value] : build.updates) builder.update({&builder, state}, value);
  LATHE_ASSIGN_OR_RETURN(const graph::Graph graph, std::move(builder).finish());
  return graph::segment(graph, {}, 0);
}

}  // namespace lathe::nn
