// The graph of one call of a layer: its ports, and what it rejects.
#include "lathe/nn/layer_graph.h"

#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/graph/verify.h"
#include "lathe/nn/layers/layers.h"

namespace lathe::nn::layer_graph_test {

// "x0 @layer/kernel -> y0", or the error.
std::string ports(const LayerPtr& layer, const LayerCall& call) {
  const auto graph = layer_graph(layer, call);
  if (!graph) return graph.error().message;
  EXPECT_TRUE(graph::verify(*graph));
  std::string out;
  for (const graph::Value input : graph::inputs_of(*graph)) append(out, (*graph)[input].name, ' ');
  out += "->";
  for (const graph::Output& output : graph->outputs) append(out, ' ', output.name);
  return out;
}

TEST(LayerGraph, HasInputsAndWeights) {
  const LayerPtr layer = dense({.units = 3, .name = "layer"});
  EXPECT_EQ(ports(layer, {{{2, 4}}}), "x0 @layer/kernel @layer/bias -> y0");
  EXPECT_EQ(ports(add({.name = "layer"}), {{{2, 4}, {2, 4}}}), "x0 x1 -> y0");
}

TEST(LayerGraph, PassesMasks) {
  const LayerPtr layer = dense({.units = 3, .name = "layer"});
  EXPECT_EQ(ports(layer, {{{2, 5, 4}}, {true}}),
            "x0 mask0 @layer/kernel @layer/bias -> y0 outputMask0");
}

TEST(LayerGraph, UpdatesMovingAveragesWhereItTrains) {
  const LayerPtr layer = batch_normalization({.name = "layer"});
  EXPECT_EQ(ports(layer, {{{2, 4}}}),
            "x0 @layer/gamma @layer/beta @layer/moving_mean @layer/moving_variance -> y0");
  EXPECT_EQ(ports(layer, {{{2, 4}}, {}, true}),
            "x0 @layer/gamma @layer/beta @layer/moving_mean @layer/moving_variance -> y0 "
            "=layer/moving_mean =layer/moving_variance");
}

TEST(LayerGraph, ReadsTheStepForRandomNumbers) {
  const LayerPtr layer = dropout({.rate = 0.5, .name = "layer"});
  EXPECT_EQ(ports(layer, {{{2, 4}}}), "x0 -> y0");
  EXPECT_EQ(ports(layer, {{{2, 4}}, {}, true}), "x0 @optimizer/step -> y0");
}

TEST(LayerGraph, RejectsInputsWithoutACommonBatchOrSteps) {
  const LayerPtr layer = add({.name = "layer"});
  const std::string error =
      "the inputs of a layer need the same batch, and steps if they have a mask";
  EXPECT_EQ(ports(layer, {{{2, 4}, {3, 4}}}), error);
  EXPECT_EQ(ports(layer, {{{}}}), error);
  EXPECT_EQ(ports(layer, {{{2}}, {true}}), error);
}

}  // namespace lathe::nn::layer_graph_test
