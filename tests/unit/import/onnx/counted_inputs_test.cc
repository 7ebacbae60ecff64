// Models written down for more rows than there are: whatever lies behind them, they give what they
// give when they are written down for just so many rows, or are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/graph/verify.h"
#include "lathe/import/onnx/trace.h"
#include "program.h"

namespace lathe::onnx {
namespace {

using graph::Array;

constexpr int64_t kRoom = 7, kBatch = 2, kWidth = 4;

// A model of inputs "x" [2, rows, 4] and "mask" [2, rows], initialisers for all to use, and an
// output "y".
class Texts : public Model {
 public:
  Texts() {
    input("x").input("mask").output("y");
    ints("zero", {}, {0});
    ints("one", {}, {1});
    ints("two", {}, {2});
    ints("none_of_them", {1}, {-1});
    ints("first", {1}, {0});
    ints("second", {1}, {1});
    ints("third", {1}, {2});
    ints("batch", {1}, {kBatch});
    ints("width", {1}, {kWidth});
    ints("four_axes", {4}, {kBatch, -1, 2, 2});
    hold("table", floats({kRoom + 4, kWidth}, numbers((kRoom + 4) * kWidth)));
    hold("square", floats({kWidth, kWidth}, numbers(kWidth * kWidth)));
    add("Shape", {"x"}, {"sizes"}).add("Gather", {"sizes", "one"}, {"count"});
    add("Unsqueeze", {"count", "first"}, {"counts"});
  }
};

// `rows` rows as they are for every number of them, then others.
Array filled(const Shape& outer, int64_t rows, int64_t inner, int64_t room, float other) {
  std::vector<float> values;
  for (int64_t sample = 0; sample < graph::element_count(outer); ++sample) {
    for (int64_t k = 0; k < room * inner; ++k) {
      const auto place = static_cast<double>(sample * 1000 + k);
      values.push_back(k < rows * inner ? static_cast<float>(std::cos(place * 0.7)) : other);
    }
  }
  Shape shape = outer;
  shape.push_back(room);
  if (inner > 1) shape.push_back(inner);
  return Array::of(shape, values);
}

Result<Trace> traced(const Model& model, int64_t rows, bool is_roomy) {
  const std::vector<int> counted = is_roomy ? std::vector{1} : std::vector<int>{};
  const std::vector<Port> ports = {
      {.kind = Value::Kind::Tensor, .shape = {kBatch, rows, kWidth}, .counted = counted},
      {.kind = Value::Kind::Tensor, .shape = {kBatch, rows}, .counted = counted}};
  return trace(model.proto(), ports, {}, {});
}

std::string refusal(const Model& model) {
  const auto roomy = traced(model, kRoom, true);
  if (!roomy) return roomy.error().message;
  return roomy->is_whole ? "" : roomy->why;
}

// The first `rows` along the axes of a result that have room.
Array cut(const Array& x, const std::vector<int>& axes, int64_t rows) {
  Shape shape = x.shape;
  for (const int axis : axes) shape[static_cast<size_t>(axis)] = rows;
  std::vector<float> values;
  for (int64_t k = 0; k < graph::element_count(shape); ++k) {
    int64_t from = 0, step = 1;
    for (size_t axis = shape.size(), rest = static_cast<size_t>(k); axis-- > 0;) {
      const auto size = static_cast<size_t>(shape[axis]);
      from += static_cast<int64_t>(rest % size) * step;
      step *= x.shape[axis];
      rest /= size;
    }
    values.push_back(static_cast<float>(x[from].as_double()));
  }
  return Array::of(shape, values);
}

void expect_same(const Model& model) {
  const auto roomy = traced(model, kRoom, true);
  ASSERT_TRUE(roomy) << roomy.error().message;
  ASSERT_TRUE(roomy->is_whole) << roomy->why;
  ASSERT_TRUE(graph::verify(roomy->graph));
  for (int64_t rows = 2; rows <= kRoom; ++rows) {
    SCOPED_TRACE(rows);
    const auto exact = traced(model, rows, false);
    ASSERT_TRUE(exact && exact->is_whole);
    const auto inputs = [&](int64_t room, float other) {
      return std::map<std::string, Array>{
          {"i0", filled({kBatch}, rows, kWidth, room, other)},
          {"i1", filled({kBatch}, rows, 1, room, other)},
          {"count", Array::of({}, std::vector{static_cast<int32_t>(rows)})}};
    };
    std::map<std::string, Array> exactly = inputs(rows, 0), none;
    exactly.erase("count");
    const auto wanted = graph::evaluate(exact->graph, exactly, none);
    ASSERT_TRUE(wanted) << wanted.error().message;
    for (const float other : {0.0f, 5.0f, -1e3f}) {
      const auto got = graph::evaluate(roomy->graph, inputs(kRoom, other), none);
      ASSERT_TRUE(got) << got.error().message;
      for (size_t k = 0; k < roomy->results.size(); ++k) {
        const std::string name = "o" + std::to_string(k);
        const Array y = cut(got->at(name), roomy->results[k].counted, rows);
        ASSERT_EQ(y.shape, wanted->at(name).shape);
        for (int64_t e = 0; e < graph::element_count(y.shape); ++e) {
          const double expected = wanted->at(name)[e].as_double();
          if (std::isnan(expected) && std::isnan(y[e].as_double())) continue;
          EXPECT_NEAR(y[e].as_double(), expected, 1e-5 * (1 + std::fabs(expected))) << e;
        }
      }
    }
  }
}

// Scores of all rows with all, softened by the mask.
Texts& scored(Texts& model) {
  model.add("Shape", {"x"}, {"all_sizes"})
      .add("Concat", {"batch", "counts", "third", "third"}, {"by_heads"}, "axis", 0);
  model.add("MatMul", {"x", "square"}, {"flat_q"})
      .add("Reshape", {"flat_q", "by_heads"}, {"rows_q"});
  model.add("Transpose", {"rows_q"}, {"q"}, "perm", {0, 2, 1, 3});
  model.add("Reshape", {"x", "four_axes"}, {"rows_k"});
  model.add("Transpose", {"rows_k"}, {"k"}, "perm", {0, 2, 3, 1});
  model.add("Transpose", {"rows_k"}, {"v"}, "perm", {0, 2, 1, 3});
  model.ints("middle", {2}, {1, 2}).add("Unsqueeze", {"mask", "middle"}, {"bias"});
  model.add("MatMul", {"q", "k"}, {"products"}).add("Add", {"products", "bias"}, {"scores"});
  return model;
}

TEST(CountedInputs, EncodersWithPlacesAndHeads) {
  Texts model;
  model.add("Slice", {"table", "first", "counts", "first"}, {"places"});
  model.add("Add", {"x", "places"}, {"placed"});
  scored(model).add("Softmax", {"scores"}, {"weights"}, "axis", -1);
  model.add("MatMul", {"weights", "v"}, {"mixed"});
  model.add("Transpose", {"mixed"}, {"rows_of"}, "perm", {0, 2, 1, 3});
  model.add("Concat", {"batch", "counts", "width"}, {"flat"}, "axis", 0);
  model.add("Reshape", {"rows_of", "flat"}, {"joined"}).add("Add", {"joined", "placed"}, {"sum"});
  model.hold("gain", floats({kWidth}, {1, 2, 3, 4}));
  model.add("LayerNormalization", {"sum", "gain"}, {"normed"}, "axis", -1);
  model.add("Gelu", {"normed"}, {"y"}).output("cls").output("scores").output("mean");
  model.add("Gather", {"y", "zero"}, {"cls"}, "axis", 1);
  model.add("ReduceMean", {"y", "second"}, {"mean"}, "keepdims", 0);
  expect_same(model);
}

// As sentence transformers average.
TEST(CountedInputs, MeansByAMask) {
  Texts model;
  model.add("Reciprocal", {"x"}, {"wild"}).add("Unsqueeze", {"mask", "third"}, {"marks"});
  model.add("Shape", {"wild"}, {"of"}).add("Expand", {"marks", "of"}, {"all_marks"});
  model.add("Mul", {"wild", "all_marks"}, {"marked"});
  model.add("ReduceSum", {"marked", "second"}, {"sums"}, "keepdims", 0);
  model.add("ReduceSum", {"all_marks", "second"}, {"counted"}, "keepdims", 0);
  expect_same(model.add("Div", {"sums", "counted"}, {"y"}));
}

TEST(CountedInputs, ProductsOverRows) {
  Texts gram;
  gram.add("Log", {"x"}, {"wild"}).add("Transpose", {"wild"}, {"columns"}, "perm", {0, 2, 1});
  expect_same(gram.add("MatMul", {"columns", "x"}, {"y"}));
  Texts turned;
  turned.add("FusedMatMul", {"x", "x"}, {"y"}, "transA", 1, "com.microsoft");
  expect_same(turned);
  Texts weighted;
  weighted.add("Softmax", {"mask"}, {"w"}, "axis", -1).add("Unsqueeze", {"w", "second"}, {"row"});
  weighted.add("Reciprocal", {"x"}, {"wild"});
  expect_same(weighted.add("MatMul", {"row", "wild"}, {"y"}));
}

TEST(CountedInputs, WeightsOfEightBits) {
  Texts model;
  model.add("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero_point"});
  model.hold("bytes", typed(Type::Int8, {kWidth, 3}, {1, -2, 3, 4, -5, 6, 7, 8, -9, 10, -11, 12}));
  model.add("MatMulInteger", {"q", "bytes", "zero_point"}, {"sums"});
  model.add("Cast", {"sums"}, {"wide"}, "to", 1).add("Mul", {"wide", "scale"}, {"y"});
  expect_same(model);
}

TEST(CountedInputs, FusedAttention) {
  Texts plain;
  plain.add("MultiHeadAttention", {"x", "x", "x"}, {"y"}, "num_heads", 2, "com.microsoft");
  expect_same(plain);
  Texts packed;
  packed.hold("wide", floats({kWidth, 3 * kWidth}, Model::numbers(12 * kWidth)));
  packed.hold("bias", floats({3 * kWidth}, Model::numbers(3 * kWidth)));
  packed.add("Cast", {"mask"}, {"seen"}, "to", 6);
  packed.add("Attention", {"x", "wide", "bias", "seen"}, {"y"}, "num_heads", 2, "com.microsoft");
  expect_same(packed);
  Texts standard;
  standard.add("Reshape", {"x", "four_axes"}, {"rows"});
  standard.add("Transpose", {"rows"}, {"q"}, "perm", {0, 2, 1, 3});
  standard.add("Reciprocal", {"q"}, {"v"});
  for (const int64_t is_causal : {0, 1}) {
    Texts each = standard;
    expect_same(each.add("Attention", {"q", "q", "v"}, {"y"}, "is_causal", is_causal));
  }
}

TEST(CountedInputs, ResultsThatAreSizes) {
  Texts shape;
  shape.add("Transpose", {"x"}, {"turned"}, "perm", {1, 0, 2}).add("Shape", {"turned"}, {"of"});
  expect_same(shape.add("Cast", {"of"}, {"y"}, "to", 1));
  Texts untouched;
  expect_same(untouched.add("Identity", {"mask"}, {"y"}));
}

// A table that happens to have as many rows as there is room stays what it is elsewhere.
TEST(CountedInputs, TablesOfWhichRowsAreTaken) {
  Texts model;
  model.hold("seven", floats({kRoom, kWidth}, Model::numbers(kRoom * kWidth)));
  model.add("Slice", {"seven", "first", "counts", "first"}, {"places"});
  model.add("Add", {"x", "places"}, {"placed"}).add("Identity", {"seven"}, {"all"}).output("all");
  model.hold("turned", floats({kWidth, kRoom}, Model::numbers(kRoom * kWidth)));
  model.add("MatMul", {"placed", "turned"}, {"scores"});
  model.add("Softmax", {"scores"}, {"weights"}, "axis", -1);
  expect_same(model.add("MatMul", {"weights", "seven"}, {"y"}));
}

TEST(CountedInputs, WhatMixesRowsIsRefused) {
  const auto refused = [](const std::string& op, Names inputs) {
    Texts model;
    model.ints("flat", {2}, {-1, kWidth}).ints("three", {1}, {3}).ints("last", {1}, {-3});
    model.ints("far", {1}, {INT64_MAX}).ints("pads", {4}, {0, 1, 0, 0});
    model.hold("filter", floats({1, kBatch, 3}, {1, 2, 3, 4, 5, 6}));
    model.add("Transpose", {"x"}, {"turned"}, "perm", {0, 2, 1});
    if (op == "ArgMax") {
      model.add(op, std::move(inputs), {"y"}, "axis", 2);
    } else {
      model.add(op, std::move(inputs), {"y"});
    }
    return refusal(model);
  };
  EXPECT_NE(refused("Reshape", {"x", "flat"}), "") << "rows of samples one behind the other";
  EXPECT_NE(refused("Concat", {"x", "x"}), "");
  EXPECT_NE(refused("TopK", {"mask", "second"}), "");
  EXPECT_NE(refused("Slice", {"x", "last", "far", "second"}), "") << "there may be two rows only";
  EXPECT_NE(refused("Slice", {"x", "first", "three", "second"}), "");
  EXPECT_NE(refused("Pad", {"mask", "pads"}), "");
  EXPECT_NE(refused("LogSoftmax", {"mask"}), "");
  EXPECT_NE(refused("ArgMax", {"turned"}), "");
  EXPECT_NE(refused("GlobalAveragePool", {"turned"}), "");
  EXPECT_NE(refused("Size", {"x"}), "");
  EXPECT_NE(refused("NonZero", {"mask"}), "");
  EXPECT_NE(refused("Einsum", {"x", "x"}), "");
}

// [1, rows, 7] of x.
Texts& as_wide_as_the_room(Texts& model) {
  model.hold("wide", floats({kWidth, kRoom}, Model::numbers(kWidth * kRoom)));
  model.add("Slice", {"x", "first", "second", "first"}, {"one_text"});
  model.add("MatMul", {"one_text", "wide"}, {"room_wide"});
  return model;
}

TEST(CountedInputs, SizesThatHappenToBeTheRoomAreNoRows) {
  Texts turned;
  as_wide_as_the_room(turned).ints("other_way", {2}, {kRoom, -1});
  EXPECT_NE(refusal(turned.add("Reshape", {"room_wide", "other_way"}, {"y"})), "");
  Texts in_parts;
  in_parts.ints("open", {1}, {-1}).hold("squares", floats({kRoom * kRoom}, Model::numbers(49)));
  in_parts.add("Concat", {"counts", "open"}, {"parts"}, "axis", 0);
  EXPECT_NE(refusal(in_parts.add("Reshape", {"squares", "parts"}, {"y"})), "");
  Texts cropped;
  cropped.ints("as_room", {3}, {kBatch, kRoom, kWidth});
  EXPECT_NE(refusal(cropped.add("CenterCropPad", {"x", "as_room"}, {"y"})), "");
  Texts expanded;
  expanded.ints("as_room", {3}, {kBatch, kRoom, kWidth});
  EXPECT_NE(refusal(expanded.add("Expand", {"x", "as_room"}, {"y"})), "");
  Texts resized;
  resized.ints("as_room", {3}, {kBatch, kRoom, kWidth});
  EXPECT_NE(refusal(resized.add("Resize", {"x", "", "", "as_room"}, {"y"})), "");
}

TEST(CountedInputs, WhatIsAsLongAsTheRoomIsRefused) {
  Texts dropout;
  dropout.add("Dropout", {"x"}, {"kept", "y"});
  EXPECT_NE(refusal(dropout), "");
  Texts infinite;
  infinite.add("IsInf", {"x"}, {"y"}, "detect_positive", 0);
  AttributeProto negative;
  negative.kind = AttributeProto::Kind::Int;
  negative.name = "detect_negative";
  EXPECT_NE(refusal(infinite.also(negative)), "");
  Texts drawn;
  drawn.add("Sigmoid", {"x"}, {"shares"}).add("Bernoulli", {"shares"}, {"y"});
  EXPECT_NE(refusal(drawn), "");
}

TEST(CountedInputs, SizesThatDoNotGrowEvenlyAreRefused) {
  const auto refused = [](int64_t type) {
    Texts model;
    model.hold("half", floats({}, {0.5})).ints("some", {}, {5});
    model.add("Cast", {"count"}, {"real"}, "to", 1).add("Mul", {"real", "half"}, {"part"});
    model.add("Sub", {"count", "some"}, {"less"}).add("Cast", {"less"}, {"is_other"}, "to", 9);
    model.add("Cast", {type == 9 ? "is_other" : "part"}, {"whole"}, "to", 7);
    model.add("Range", {"zero", "whole", "one"}, {"places"});
    return refusal(model.add("Cast", {"places"}, {"y"}, "to", 1));
  };
  EXPECT_NE(refused(1), "");
  EXPECT_NE(refused(9), "");
  Texts behind;
  behind.ints("three", {1}, {3}).add("Sub", {"counts", "second"}, {"last"});
  behind.add("Add", {"counts", "three"}, {"beyond"});
  behind.add("Slice", {"x", "last", "beyond", "second"}, {"y"});
  EXPECT_NE(refusal(behind), "");
}

TEST(CountedInputs, SizesInBodiesAreRefused) {
  GraphProto body;
  body.inputs = {{"step", {}}, {"goes_on", {}}, {"sum", {}}};
  body.outputs = {{"goes_on", {}}, {"more", {}}};
  const auto add = [&](std::string op, Names inputs, Names outputs) {
    NodeProto& node = body.nodes.emplace_back();
    node.op_type = std::move(op);
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
  };
  add("ConstantOfShape", {"counts"}, {"zeros"});
  add("Cos", {"zeros"}, {"ones"});
  add("ReduceSum", {"ones", "first"}, {"own"});
  add("Add", {"sum", "own"}, {"more"});
  Texts model;
  model.hold("start", floats({1}, {0}));
  model.add("Loop", {"two", "", "start"}, {"y"}, body);
  EXPECT_NE(refusal(model), "");
}

TEST(CountedInputs, OrderOfOtherQueriesIsRefused) {
  Texts model;
  model.hold("queries", floats({kBatch, 3, kWidth}, Model::numbers(24)));
  model.add("MultiHeadAttention", {"queries", "x", "x"}, {"y"}, "num_heads", 2, "com.microsoft");
  expect_same(model);
  AttributeProto order;
  order.kind = AttributeProto::Kind::Int;
  order.name = "unidirectional";
  order.integer = 1;
  EXPECT_NE(refusal(model.also(order)), "");
}

TEST(CountedInputs, OrderBesideLengthsIsRefused) {
  Texts model;
  model.ints("lengths", {2}, {2, 3}).add("Reshape", {"x", "four_axes"}, {"rows"});
  model.add("Transpose", {"rows"}, {"q"}, "perm", {0, 2, 1, 3});
  model.add("Attention", {"q", "q", "q", "", "", "", "lengths"}, {"y"}, "is_causal", 1);
  EXPECT_NE(refusal(model), "");
}

TEST(CountedInputs, InfinityBehindRowsIsLeftOut) {
  Texts model;
  model.hold("infinity", floats({}, {INFINITY})).hold("limit", floats({}, {2}));
  model.add("Greater", {"x", "limit"}, {"is_large"});
  model.add("Where", {"is_large", "infinity", "x"}, {"values"});
  model.add("Softmax", {"mask"}, {"w"}, "axis", -1).add("Unsqueeze", {"w", "second"}, {"row"});
  expect_same(model.add("MatMul", {"row", "values"}, {"y"}));
}

TEST(CountedInputs, SizesComparedHaveTheShapeOfBoth) {
  Texts model;
  model.add("Equal", {"count", "none_of_them"}, {"is_open"});
  expect_same(model.add("Cast", {"is_open"}, {"y"}, "to", 1));
}

// Only texts of just that length fit them.
TEST(CountedInputs, OtherSizesThatHappenToBeTheRoomAreRefused) {
  const auto refused = [](const std::string& op, Names inputs) {
    Texts model;
    model.hold("places", floats({kRoom, kWidth}, Model::numbers(kRoom * kWidth)));
    model.hold("weights", floats({kRoom, 3}, Model::numbers(kRoom * 3)));
    model.add("Mul", {"places", "places"}, {"squares"});
    model.add("Transpose", {"x"}, {"turned"}, "perm", {0, 2, 1});
    model.ints("batches", {3}, {kBatch, kRoom, kWidth});
    model.add("Expand", {"places", "batches"}, {"wide"});
    model.add(op, std::move(inputs), {"y"});
    return refusal(model);
  };
  EXPECT_NE(refused("Add", {"x", "places"}), "");
  EXPECT_NE(refused("Mul", {"squares", "x"}), "");
  EXPECT_NE(refused("MatMul", {"turned", "places"}), "");
  EXPECT_NE(refused("MatMul", {"mask", "weights"}), "");
  EXPECT_NE(refused("Where", {"x", "wide", "x"}), "");
  EXPECT_NE(refused("Gemm", {"mask", "weights"}), "");
}

TEST(CountedInputs, PortsMustFit) {
  const Texts model;
  const auto message = [&](std::vector<Port> ports, const TraceOptions& options = {}) {
    const auto written = trace(model.proto(), ports, {}, options);
    return written ? "" : written.error().message;
  };
  const Port x{.kind = Value::Kind::Tensor, .shape = {kBatch, 5, kWidth}, .counted = {1}};
  Port mask{.kind = Value::Kind::Tensor, .shape = {kBatch, 6}, .counted = {1}};
  EXPECT_NE(message({x, mask}).find("counted"), std::string::npos);
  mask.shape[1] = 5;
  mask.counted = {2};
  EXPECT_NE(message({x, mask}).find("counted"), std::string::npos);
  mask.counted = {-1};
  EXPECT_NE(message({x, mask}).find("counted"), std::string::npos);
}

}  // namespace
}  // namespace lathe::onnx
