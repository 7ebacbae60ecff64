// Sizes that an ONNX model leaves open, and its graph for them.
#include <gtest/gtest.h>

#include "lathe/models/onnx/input_ports.h"
#include "lathe/models/onnx/module.h"

namespace lathe::onnx {
namespace {

ValueInfo tensor(std::string name, std::vector<Size> shape) {
  TypeProto type;
  type.kind = TypeProto::Kind::Tensor;
  type.has_shape = true;
  type.shape = std::move(shape);
  return {std::move(name), std::move(type)};
}

Size fixed(int64_t value) { return {value, {}}; }
Size named(std::string name) { return {-1, std::move(name)}; }

ModelProto sum_model() {
  ModelProto model;
  model.sets = {{"", 17}};
  model.graph.inputs = {tensor("a", {named("rows"), fixed(3)}), tensor("b", {named("rows"), {}})};
  model.graph.outputs = {tensor("a", {}), tensor("y", {})};
  NodeProto add;
  add.op_type = "Add";
  add.inputs = {"a", "b"};
  add.outputs = {"y"};
  model.graph.nodes = {add};
  return model;
}

std::string error_of(const InputBindings& bindings) {
  const auto ports = ports_of(sum_model(), bindings);
  return ports ? "" : ports.error().message;
}

TEST(OnnxInputPorts, ShapesBindSymbolicSizes) {
  InputBindings bindings;
  bindings.shapes["b"] = {2, 3};
  const auto ports = ports_of(sum_model(), bindings);
  ASSERT_TRUE(ports) << ports.error().message;
  EXPECT_EQ((*ports)[0].shape, (Shape{2, 3}));
  EXPECT_EQ((*ports)[1].shape, (Shape{2, 3}));
}

TEST(OnnxInputPorts, ErrorsNameWhatIsOpenUnknownOrWrong) {
  EXPECT_EQ(error_of({}), "sizes of its inputs are open: 'a' [rows,3], 'b' [rows,?]");
  EXPECT_EQ(error_of({{}, {{"rows", 2}}, {}}), "sizes of its inputs are open: 'b' [rows,?]");
  EXPECT_EQ(error_of({{{"c", {1}}}, {}, {}}), "the model has no input 'c'; known: a, b");
  EXPECT_EQ(error_of({{}, {{"cols", 1}}, {}}), "the model has no size 'cols'; known: rows");
  EXPECT_EQ(error_of({{{"a", {1, 4}}}, {}, {}}), "input 'a' expects [rows,3], not [1,4]");
  EXPECT_EQ(error_of({{{"a", {1, 3}}, {"b", {2, 3}}}, {}, {}}),
            "input 'b' expects [rows,?], not [2,3]: rows is 1 elsewhere");
}

TEST(OnnxInputPorts, TheGraphHasTheNamesOfTheModel) {
  const ModelProto model = sum_model();
  InputBindings bindings;
  bindings.shapes["b"] = {2, 3};
  const auto ports = ports_of(model, bindings);
  ASSERT_TRUE(ports);
  const auto graph = graph_of(model, *ports);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto inputs = graph::inputs_of(*graph);
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ((*graph)[inputs[0]].name, "a");
  // An output that is an input has a separate name.
  EXPECT_EQ(graph->outputs[0].name, "a_out");
  EXPECT_EQ(graph->outputs[1].name, "y");
}

}  // namespace
}  // namespace lathe::onnx
