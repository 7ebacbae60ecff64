// Tracing of models: graph breaks, required inputs, loops, functions, names.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lathe/graph/verify.h"
#include "lathe/import/onnx/trace/run.h"
#include "lathe/import/onnx/trace/trace.h"
#include "operate.h"

namespace lathe::onnx::tracer_test {
namespace {

using Names = std::vector<std::string>;

NodeProto node(std::string op, Names inputs, Names outputs, std::string name = {}) {
  NodeProto node;
  node.op_type = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.name = std::move(name);
  return node;
}

NodeProto with_graph(NodeProto node, std::string name, GraphProto graph) {
  AttributeProto& attribute = node.attributes.emplace_back();
  attribute.kind = AttributeProto::Kind::Graph;
  attribute.name = std::move(name);
  attribute.graphs.push_back(std::make_shared<const GraphProto>(std::move(graph)));
  return node;
}

TensorProto initializer(std::string name, Value value) {
  return {std::move(name), *value.constant};
}

GraphProto graph(std::vector<NodeProto> nodes, Names inputs, Names outputs,
                 std::vector<TensorProto> initializers = {}) {
  GraphProto graph;
  graph.name = "inner";
  graph.nodes = std::move(nodes);
  graph.initializers = std::move(initializers);
  for (std::string& each : inputs) graph.inputs.push_back({std::move(each), {}});
  for (std::string& each : outputs) graph.outputs.push_back({std::move(each), {}});
  return graph;
}

ModelProto model(std::vector<NodeProto> nodes, Names inputs, Names outputs,
                 std::vector<TensorProto> initializers = {}) {
  ModelProto model;
  model.sets[""] = 21;
  model.graph =
      graph(std::move(nodes), std::move(inputs), std::move(outputs), std::move(initializers));
  return model;
}

Port port(Type type, Shape shape) {
  return {.kind = Value::Kind::Tensor, .type = type, .shape = std::move(shape)};
}

std::string error_of(const ModelProto& model, const std::vector<Port>& inputs) {
  const auto traced = trace(model, inputs, {});
  return traced ? "" : traced.error().message;
}

int count(const graph::Graph& graph, graph::Kind kind) {
  return static_cast<int>(
      std::ranges::count_if(graph.nodes, [&](const auto& each) { return each.kind == kind; }));
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

const Value kTrue = typed(Type::Bool, {}, {1});

TEST(Tracer, BreaksTheGraphAtSizesComputedFromLargeInputs) {
  const auto positive =
      model({node("NonZero", {"x"}, {"at"}), node("Neg", {"at"}, {"y"})}, {"x"}, {"y"});
  const auto first = trace(positive, std::vector{port(Type::Float32, {3, 100})}, {});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->is_complete);
  EXPECT_EQ(first->graph_breaks.size(), 1u);
  EXPECT_TRUE(first->required_inputs.empty());
  EXPECT_TRUE(contains(first->why, "NonZero")) << first->why;
  EXPECT_TRUE(graph::verify(first->graph));
  const graph::Node& break_node = first->graph[first->graph_breaks[0]];
  const std::vector break_values = {
      numbers_content(type_of(break_node.dtype), break_node.shape, {7})};
  const auto second = trace(positive, std::vector{port(Type::Float32, {3, 100})}, break_values);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(second->is_complete);
  EXPECT_EQ(second->results[0].shape, (Shape{2, 7}));
  EXPECT_TRUE(graph::verify(second->graph));
}

TEST(Tracer, RequiresSmallInputsByTheirIndex) {
  const auto reshaped = model({node("Reshape", {"x", "to"}, {"y"})}, {"x", "to"}, {"y"});
  std::vector<Port> inputs = {port(Type::Float32, {6}), port(Type::Int64, {2})};
  const auto first = trace(reshaped, inputs, {});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->is_complete);
  EXPECT_TRUE(first->graph_breaks.empty());
  EXPECT_EQ(first->required_inputs, (std::vector<size_t>{1}));
  inputs[1].constant = typed(Type::Int64, {2}, {3, -1}).constant;
  const auto second = trace(reshaped, inputs, {});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(second->is_complete);
  EXPECT_EQ(second->results[0].shape, (Shape{3, 2}));
}

// A loop of `count` steps over v, which `step` makes "next".
ModelProto looped(double count, std::vector<NodeProto> step) {
  step.push_back(node("Identity", {"go"}, {"more"}));
  NodeProto loop = with_graph(node("Loop", {"count", "", "x"}, {"y"}), "body",
                              graph(std::move(step), {"i", "go", "v"}, {"more", "next"}));
  return model({std::move(loop)}, {"x"}, {"y"},
               {initializer("count", typed(Type::Int64, {}, {count}))});
}

TEST(Tracer, LoopsWhoseTypesStayAreOneNode) {
  const auto same = looped(50, {node("Add", {"v", "x"}, {"next"})});
  const auto traced = trace(same, std::vector{port(Type::Float32, {2})}, {});
  ASSERT_TRUE(traced) << traced.error().message;
  EXPECT_EQ(count(traced->graph, graph::Kind::Loop), 1);
  EXPECT_LT(traced->graph.nodes.size(), 20u);
  const auto results = run(same, std::vector{floats({2}, {1, 2})});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(numbers_of(results->front()), (Numbers{51, 102}));
}

// v and x, concatenated.
NodeProto concatenated() {
  NodeProto concat = node("Concat", {"v", "x"}, {"next"});
  AttributeProto& axis = concat.attributes.emplace_back();
  axis.kind = AttributeProto::Kind::Int;
  axis.name = "axis";
  return concat;
}

TEST(Tracer, UnrollsLoopsOfGrowingTypes) {
  const auto growing = looped(3, {concatenated()});
  const auto traced = trace(growing, std::vector{port(Type::Float32, {2})}, {});
  ASSERT_TRUE(traced) << traced.error().message;
  EXPECT_EQ(count(traced->graph, graph::Kind::Loop), 0);
  EXPECT_EQ(traced->results[0].shape, (Shape{8}));
}

TEST(Tracer, RejectsUnrollingHugeLoops) {
  EXPECT_TRUE(
      contains(error_of(looped(1e18, {concatenated()}), {port(Type::Float32, {2})}), "Loop"));
  const auto same = looped(1e18, {node("Add", {"v", "x"}, {"next"})});
  const auto traced = trace(same, std::vector{port(Type::Float32, {2})}, {});
  EXPECT_TRUE(!traced || graph::verify(traced->graph));
}

TEST(Tracer, BodiesCaptureOuterValuesAndExportOnlyTheirOutputs) {
  const auto branch = [](std::string op) {
    return graph({node(std::move(op), {"x", "w"}, {"inside"})}, {}, {"inside"});
  };
  NodeProto choice = with_graph(node("If", {"yes"}, {"y"}), "then_branch", branch("Add"));
  choice = with_graph(std::move(choice), "else_branch", branch("Mul"));
  const std::vector<TensorProto> initializers = {initializer("w", floats({}, {3})),
                                                 initializer("yes", kTrue)};
  const auto sound = model({choice}, {"x"}, {"y"}, initializers);
  const auto results = run(sound, std::vector{floats({2}, {1, 2})});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(numbers_of(results->front()), (Numbers{4, 5}));
  const auto leaking = model({choice, node("Neg", {"inside"}, {"z"})}, {"x"}, {"z"}, initializers);
  EXPECT_TRUE(contains(error_of(leaking, {port(Type::Float32, {2})}),
                       "no node produces its input 'inside'"));
}

TEST(Tracer, NamesOfBodiesHideThoseAroundThem) {
  // The body's input, its initializer and its node shadow names of the outer graph.
  auto body = graph({node("Add", {"v", "w"}, {"x"}), node("Identity", {"go"}, {"more"})},
                    {"i", "go", "v"}, {"more", "x"}, {initializer("w", floats({}, {10}))});
  NodeProto loop = with_graph(node("Loop", {"count", "", "x"}, {"y"}), "body", std::move(body));
  const auto hiding = model(
      {node("Neg", {"x"}, {"v"}), std::move(loop), node("Add", {"y", "v"}, {"z"}),
       node("Add", {"z", "w"}, {"sum"})},
      {"x"}, {"sum"},
      {initializer("count", typed(Type::Int64, {}, {2})), initializer("w", floats({}, {100}))});
  const auto results = run(hiding, std::vector{floats({}, {1})});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(numbers_of(results->front()), (Numbers{21 - 1 + 100}));
}

TEST(Tracer, NamesInsideAreNoCycle) {
  // The name "b" of the branch is local: the later node is not sorted before it.
  const auto branch = [](std::string op) {
    return graph({node(std::move(op), {"x"}, {"b"}), node("Neg", {"b"}, {"c"})}, {}, {"c"});
  };
  NodeProto choice = with_graph(node("If", {"yes"}, {"a"}), "then_branch", branch("Neg"));
  choice = with_graph(std::move(choice), "else_branch", branch("Abs"));
  const auto sound = model({std::move(choice), node("Abs", {"a"}, {"b"})}, {"x"}, {"b"},
                           {initializer("yes", kTrue)});
  EXPECT_EQ(error_of(sound, {port(Type::Float32, {2})}), "");
}

TEST(Tracer, RejectsWrongNames) {
  const std::vector<Port> one = {port(Type::Float32, {2})};
  const auto message = [&](std::vector<NodeProto> nodes, Names outputs = {"y"}) {
    return error_of(model(std::move(nodes), {"x"}, std::move(outputs)), one);
  };
  EXPECT_TRUE(contains(message({node("Neg", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}),
                       "two nodes produce 'y'"));
  EXPECT_TRUE(contains(message({node("Add", {"x", "b"}, {"a"}), node("Neg", {"a"}, {"b"}),
                                node("Neg", {"b"}, {"y"})}),
                       "a cycle"));
  EXPECT_NE(message({node("Neg", {"y"}, {"y"})}), "");
  EXPECT_TRUE(contains(message({node("Neg", {"z"}, {"y"}, "first")}),
                       "Neg 'first': no node produces its input 'z'"));
  EXPECT_TRUE(contains(message({node("Neg", {"x"}, {"y"})}, {"z"}), "'z'"));
  EXPECT_TRUE(contains(message({node("Neg", {}, {"y"}, "bare")}), "Neg 'bare'"));
  EXPECT_TRUE(contains(message({node("Neg", {""}, {"y"}, "bare")}), "Neg 'bare'"));
  EXPECT_TRUE(contains(message({node("Neg", {"x"}, {"y", "more"})}), "has no output 1"));
}

TEST(Tracer, SortsNodes) {
  const auto mixed = model({node("Neg", {"a"}, {"y"}), node("Abs", {"x"}, {"a"})}, {"x"}, {"y"});
  const auto results = run(mixed, std::vector{floats({2}, {-1, 2})});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(numbers_of(results->front()), (Numbers{-1, -2}));
}

TEST(Tracer, OptionalInputsMayBeLeftOutInTheMiddleAndAtTheEnd) {
  const auto clipped = [](Names inputs) {
    return model({node("Clip", std::move(inputs), {"y"})}, {"x"}, {"y"},
                 {initializer("one", floats({}, {1}))});
  };
  const std::vector inputs = {floats({3}, {-5, 0, 5})};
  for (const auto& [names, expected] : {std::pair<Names, Numbers>{{"x", "", "one"}, {-5, 0, 1}},
                                        {{"x", "one", ""}, {1, 1, 5}},
                                        {{"x", "one"}, {1, 1, 5}},
                                        {{"x"}, {-5, 0, 5}}}) {
    const auto results = run(clipped(names), inputs);
    ASSERT_TRUE(results) << results.error().message;
    EXPECT_EQ(numbers_of(results->front()), expected);
  }
}

FunctionProto function(std::string name, Names inputs, Names outputs,
                       std::vector<NodeProto> nodes) {
  FunctionProto function;
  function.name = std::move(name);
  function.domain = "custom";
  function.inputs = std::move(inputs);
  function.outputs = std::move(outputs);
  function.nodes = std::move(nodes);
  function.sets = {{"", 21}, {"custom", 1}};
  return function;
}

NodeProto custom(NodeProto node) {
  node.domain = "custom";
  return node;
}

TEST(Tracer, FunctionsSeeTheirOperandsAndNothingElse) {
  auto calls = model({custom(node("Twice", {"x"}, {"y"})), custom(node("Twice", {"y"}, {"z"}))},
                     {"x"}, {"z"}, {initializer("w", floats({}, {3}))});
  calls.functions.push_back(
      function("Twice", {"a"}, {"b"}, {node("Add", {"a", "a"}, {"x"}), node("Neg", {"x"}, {"b"})}));
  const auto results = run(calls, std::vector{floats({1}, {3})});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(numbers_of(results->front()), (Numbers{12}));
  calls.functions[0].nodes[0].inputs[1] = "w";
  EXPECT_TRUE(
      contains(error_of(calls, {port(Type::Float32, {1})}), "no node produces its input 'w'"));
}

TEST(Tracer, RejectsEndlessRecursion) {
  auto endless = model({custom(node("f", {"x"}, {"y"}))}, {"x"}, {"y"});
  endless.functions.push_back(function("f", {"a"}, {"b"}, {custom(node("g", {"a"}, {"b"}))}));
  endless.functions.push_back(function("g", {"a"}, {"b"}, {custom(node("f", {"a"}, {"b"}))}));
  EXPECT_TRUE(contains(error_of(endless, {port(Type::Float32, {1})}), "nest more than 256 deep"));
}

TEST(Tracer, RejectsSizesBeyondMemoryByTheirNode) {
  const std::vector<TensorProto> huge = {
      initializer("huge", typed(Type::Int64, {2}, {0x1p40, 0x1p40})),
      initializer("far", typed(Type::Int64, {2}, {-0x1p63, -0x1p63}))};
  for (const char* op : {"Reshape", "Expand", "Tile"}) {
    for (const char* by : {"huge", "far"}) {
      const auto large = model({node(op, {"x", by}, {"y"}, "large")}, {"x"}, {"y"}, huge);
      EXPECT_TRUE(contains(error_of(large, {port(Type::Float32, {1, 1})}), "'large'")) << op << by;
    }
  }
}

TEST(Tracer, NamesAllUnsupportedNodes) {
  const auto wrong =
      model({node("BitwiseNot", {"x"}, {"a"}, "first"), node("Neg", {"a"}, {"b"}),
             node("Unheard", {"x"}, {"c"}, "second"), node("Add", {"b", "c"}, {"y"})},
            {"x"}, {"y"});
  const std::string message = error_of(wrong, {port(Type::Float32, {1})});
  EXPECT_TRUE(contains(message, "2 nodes of the model are not supported")) << message;
  EXPECT_TRUE(contains(message, "'first'") && contains(message, "'second'")) << message;
  EXPECT_TRUE(contains(message, "2 nodes")) << message;
}

TEST(Tracer, RejectsWrongInputCounts) {
  const auto one = model({node("Neg", {"x"}, {"y"})}, {"x"}, {"y"});
  EXPECT_TRUE(contains(error_of(one, {}), "the model has 1 inputs, but the call has 0"));
}

}  // namespace
}  // namespace lathe::onnx::tracer_test
