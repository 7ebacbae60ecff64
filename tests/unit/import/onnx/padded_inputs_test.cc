// Models traced for padded inputs: for any padding their results equal those of the model traced
// for the exact length, or they are rejected.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/graph/verify.h"
#include "lathe/import/onnx/trace/trace.h"
#include "program.h"

namespace lathe::onnx {
namespace {

using graph::Array;

constexpr int64_t kCapacity = 7, kBatch = 2, kWidth = 4;

// A model of inputs "x" [2, rows, 4] and "mask" [2, rows], common initializers, and an output "y".
class SequenceModel : public Model {
 public:
  SequenceModel() {
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
    initializer("table", floats({kCapacity + 4, kWidth}, numbers((kCapacity + 4) * kWidth)));
    initializer("square", floats({kWidth, kWidth}, numbers(kWidth * kWidth)));
    add("Shape", {"x"}, {"sizes"}).add("Gather", {"sizes", "one"}, {"count"});
    add("Unsqueeze", {"count", "first"}, {"counts"});
  }
};

// `rows` rows of values that do not depend on `rows`, padded with `other`.
Array filled(const Shape& outer, int64_t rows, int64_t inner, int64_t capacity, float other) {
  std::vector<float> values;
  for (int64_t sample = 0; sample < graph::element_count(outer); ++sample) {
    for (int64_t k = 0; k < capacity * inner; ++k) {
      const auto index = static_cast<double>(sample * 1000 + k);
      values.push_back(k < rows * inner ? static_cast<float>(std::cos(index * 0.7)) : other);
    }
  }
  Shape shape = outer;
  shape.push_back(capacity);
  if (inner > 1) shape.push_back(inner);
  return Array::of(shape, values);
}

Result<Trace> traced(const Model& model, int64_t rows, bool is_padded) {
  const std::vector<int> axes = is_padded ? std::vector{1} : std::vector<int>{};
  const std::vector<Port> ports = {
      {.kind = Value::Kind::Tensor, .shape = {kBatch, rows, kWidth}, .padded_axes = axes},
      {.kind = Value::Kind::Tensor, .shape = {kBatch, rows}, .padded_axes = axes}};
  return trace(model.proto(), ports, {}, {});
}

std::string error_of(const Model& model) {
  const auto padded = traced(model, kCapacity, true);
  if (!padded) return padded.error().message;
  return padded->is_complete ? "" : padded->why;
}

// The first `rows` elements along the padded axes of a result.
Array truncated(const Array& x, const std::vector<int>& axes, int64_t rows) {
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
  const auto padded = traced(model, kCapacity, true);
  ASSERT_TRUE(padded) << padded.error().message;
  ASSERT_TRUE(padded->is_complete) << padded->why;
  ASSERT_TRUE(graph::verify(padded->graph));
  for (int64_t rows = 2; rows <= kCapacity; ++rows) {
    SCOPED_TRACE(rows);
    const auto exact = traced(model, rows, false);
    ASSERT_TRUE(exact && exact->is_complete);
    const auto inputs = [&](int64_t capacity, float other) {
      return std::map<std::string, Array>{
          {"i0", filled({kBatch}, rows, kWidth, capacity, other)},
          {"i1", filled({kBatch}, rows, 1, capacity, other)},
          {"count", Array::of({}, std::vector{static_cast<int32_t>(rows)})}};
    };
    std::map<std::string, Array> exactly = inputs(rows, 0), none;
    exactly.erase("count");
    const auto expected = graph::evaluate(exact->graph, exactly, none);
    ASSERT_TRUE(expected) << expected.error().message;
    for (const float other : {0.0f, 5.0f, -1e3f}) {
      const auto actual = graph::evaluate(padded->graph, inputs(kCapacity, other), none);
      ASSERT_TRUE(actual) << actual.error().message;
      for (size_t k = 0; k < padded->results.size(); ++k) {
        const std::string name = "o" + std::to_string(k);
        const Array y = truncated(actual->at(name), padded->results[k].padded_axes, rows);
        ASSERT_EQ(y.shape, expected->at(name).shape);
        for (int64_t e = 0; e < graph::element_count(y.shape); ++e) {
          const double value = expected->at(name)[e].as_double();
          if (std::isnan(value) && std::isnan(y[e].as_double())) continue;
          EXPECT_NEAR(y[e].as_double(), value, 1e-5 * (1 + std::fabs(value))) << e;
        }
      }
    }
  }
}

// Attention scores with an additive mask.
SequenceModel& scored(SequenceModel& model) {
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

TEST(PaddedInputs, EncodersWithPositionsAndHeads) {
  SequenceModel model;
  model.add("Slice", {"table", "first", "counts", "first"}, {"positions"});
  model.add("Add", {"x", "positions"}, {"embedded"});
  scored(model).add("Softmax", {"scores"}, {"weights"}, "axis", -1);
  model.add("MatMul", {"weights", "v"}, {"mixed"});
  model.add("Transpose", {"mixed"}, {"rows_of"}, "perm", {0, 2, 1, 3});
  model.add("Concat", {"batch", "counts", "width"}, {"flat"}, "axis", 0);
  model.add("Reshape", {"rows_of", "flat"}, {"merged"}).add("Add", {"merged", "embedded"}, {"sum"});
  model.initializer("gain", floats({kWidth}, {1, 2, 3, 4}));
  model.add("LayerNormalization", {"sum", "gain"}, {"normed"}, "axis", -1);
  model.add("Gelu", {"normed"}, {"y"}).output("cls").output("scores").output("mean");
  model.add("Gather", {"y", "zero"}, {"cls"}, "axis", 1);
  model.add("ReduceMean", {"y", "second"}, {"mean"}, "keepdims", 0);
  expect_same(model);
}

// As sentence transformers average.
TEST(PaddedInputs, MeansByAMask) {
  SequenceModel model;
  model.add("Reciprocal", {"x"}, {"wild"}).add("Unsqueeze", {"mask", "third"}, {"marks"});
  model.add("Shape", {"wild"}, {"of"}).add("Expand", {"marks", "of"}, {"all_marks"});
  model.add("Mul", {"wild", "all_marks"}, {"marked"});
  model.add("ReduceSum", {"marked", "second"}, {"sums"}, "keepdims", 0);
  model.add("ReduceSum", {"all_marks", "second"}, {"total"}, "keepdims", 0);
  expect_same(model.add("Div", {"sums", "total"}, {"y"}));
}

TEST(PaddedInputs, ProductsOverRows) {
  SequenceModel gram;
  gram.add("Log", {"x"}, {"wild"}).add("Transpose", {"wild"}, {"columns"}, "perm", {0, 2, 1});
  expect_same(gram.add("MatMul", {"columns", "x"}, {"y"}));
  SequenceModel transposed;
  transposed.add("FusedMatMul", {"x", "x"}, {"y"}, "transA", 1, "com.microsoft");
  expect_same(transposed);
  SequenceModel weighted;
  weighted.add("Softmax", {"mask"}, {"w"}, "axis", -1).add("Unsqueeze", {"w", "second"}, {"row"});
  weighted.add("Reciprocal", {"x"}, {"wild"});
  expect_same(weighted.add("MatMul", {"row", "wild"}, {"y"}));
}

TEST(PaddedInputs, QuantizedWeights) {
  SequenceModel model;
  model.add("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero_point"});
  model.initializer("bytes",
                    typed(Type::Int8, {kWidth, 3}, {1, -2, 3, 4, -5, 6, 7, 8, -9, 10, -11, 12}));
  model.add("MatMulInteger", {"q", "bytes", "zero_point"}, {"sums"});
  model.add("Cast", {"sums"}, {"wide"}, "to", 1).add("Mul", {"wide", "scale"}, {"y"});
  expect_same(model);
}

TEST(PaddedInputs, FusedAttention) {
  SequenceModel plain;
  plain.add("MultiHeadAttention", {"x", "x", "x"}, {"y"}, "num_heads", 2, "com.microsoft");
  expect_same(plain);
  SequenceModel packed;
  packed.initializer("wide", floats({kWidth, 3 * kWidth}, Model::numbers(12 * kWidth)));
  packed.initializer("bias", floats({3 * kWidth}, Model::numbers(3 * kWidth)));
  packed.add("Cast", {"mask"}, {"seen"}, "to", 6);
  packed.add("Attention", {"x", "wide", "bias", "seen"}, {"y"}, "num_heads", 2, "com.microsoft");
  expect_same(packed);
  SequenceModel standard;
  standard.add("Reshape", {"x", "four_axes"}, {"rows"});
  standard.add("Transpose", {"rows"}, {"q"}, "perm", {0, 2, 1, 3});
  standard.add("Reciprocal", {"q"}, {"v"});
  for (const int64_t is_causal : {0, 1}) {
    SequenceModel each = standard;
    expect_same(each.add("Attention", {"q", "q", "v"}, {"y"}, "is_causal", is_causal));
  }
}

TEST(PaddedInputs, SizesAsResults) {
  SequenceModel shape;
  shape.add("Transpose", {"x"}, {"transposed"}, "perm", {1, 0, 2})
      .add("Shape", {"transposed"}, {"of"});
  expect_same(shape.add("Cast", {"of"}, {"y"}, "to", 1));
  SequenceModel untouched;
  expect_same(untouched.add("Identity", {"mask"}, {"y"}));
}

// A table of as many rows as the capacity is unpadded elsewhere.
TEST(PaddedInputs, SlicesOfTables) {
  SequenceModel model;
  model.initializer("seven", floats({kCapacity, kWidth}, Model::numbers(kCapacity * kWidth)));
  model.add("Slice", {"seven", "first", "counts", "first"}, {"positions"});
  model.add("Add", {"x", "positions"}, {"embedded"})
      .add("Identity", {"seven"}, {"all"})
      .output("all");
  model.initializer("transposed", floats({kWidth, kCapacity}, Model::numbers(kCapacity * kWidth)));
  model.add("MatMul", {"embedded", "transposed"}, {"scores"});
  model.add("Softmax", {"scores"}, {"weights"}, "axis", -1);
  expect_same(model.add("MatMul", {"weights", "seven"}, {"y"}));
}

TEST(PaddedInputs, RejectsOperatorsThatMixPadding) {
  const auto error_with = [](const std::string& op, Names inputs) {
    SequenceModel model;
    model.ints("flat", {2}, {-1, kWidth}).ints("three", {1}, {3}).ints("last", {1}, {-3});
    model.ints("far", {1}, {INT64_MAX}).ints("pads", {4}, {0, 1, 0, 0});
    model.initializer("filter", floats({1, kBatch, 3}, {1, 2, 3, 4, 5, 6}));
    model.add("Transpose", {"x"}, {"transposed"}, "perm", {0, 2, 1});
    if (op == "ArgMax") {
      model.add(op, std::move(inputs), {"y"}, "axis", 2);
    } else {
      model.add(op, std::move(inputs), {"y"});
    }
    return error_of(model);
  };
  EXPECT_NE(error_with("Reshape", {"x", "flat"}), "")
      << "merges the batch axis and the padded axis";
  EXPECT_NE(error_with("Concat", {"x", "x"}), "");
  EXPECT_NE(error_with("TopK", {"mask", "second"}), "");
  EXPECT_NE(error_with("Slice", {"x", "last", "far", "second"}), "")
      << "there may be two rows only";
  EXPECT_NE(error_with("Slice", {"x", "first", "three", "second"}), "");
  EXPECT_NE(error_with("Pad", {"mask", "pads"}), "");
  EXPECT_NE(error_with("LogSoftmax", {"mask"}), "");
  EXPECT_NE(error_with("ArgMax", {"transposed"}), "");
  EXPECT_NE(error_with("GlobalAveragePool", {"transposed"}), "");
  EXPECT_NE(error_with("Size", {"x"}), "");
  EXPECT_NE(error_with("NonZero", {"mask"}), "");
  EXPECT_NE(error_with("Einsum", {"x", "x"}), "");
}

// [1, rows, 7] of x.
SequenceModel& with_capacity_width(SequenceModel& model) {
  model.initializer("wide", floats({kWidth, kCapacity}, Model::numbers(kWidth * kCapacity)));
  model.add("Slice", {"x", "first", "second", "first"}, {"one_sample"});
  model.add("MatMul", {"one_sample", "wide"}, {"capacity_wide"});
  return model;
}

TEST(PaddedInputs, RejectsUnpaddedAxesOfTheCapacity) {
  SequenceModel transposed;
  with_capacity_width(transposed).ints("other_way", {2}, {kCapacity, -1});
  EXPECT_NE(error_of(transposed.add("Reshape", {"capacity_wide", "other_way"}, {"y"})), "");
  SequenceModel in_parts;
  in_parts.ints("open", {1}, {-1})
      .initializer("squares", floats({kCapacity * kCapacity}, Model::numbers(49)));
  in_parts.add("Concat", {"counts", "open"}, {"parts"}, "axis", 0);
  EXPECT_NE(error_of(in_parts.add("Reshape", {"squares", "parts"}, {"y"})), "");
  SequenceModel cropped;
  cropped.ints("full_shape", {3}, {kBatch, kCapacity, kWidth});
  EXPECT_NE(error_of(cropped.add("CenterCropPad", {"x", "full_shape"}, {"y"})), "");
  SequenceModel expanded;
  expanded.ints("full_shape", {3}, {kBatch, kCapacity, kWidth});
  EXPECT_NE(error_of(expanded.add("Expand", {"x", "full_shape"}, {"y"})), "");
  SequenceModel resized;
  resized.ints("full_shape", {3}, {kBatch, kCapacity, kWidth});
  EXPECT_NE(error_of(resized.add("Resize", {"x", "", "", "full_shape"}, {"y"})), "");
}

TEST(PaddedInputs, RejectsResultsOfTheCapacity) {
  SequenceModel dropout;
  dropout.add("Dropout", {"x"}, {"dropped", "y"});
  EXPECT_NE(error_of(dropout), "");
  SequenceModel infinite;
  infinite.add("IsInf", {"x"}, {"y"}, "detect_positive", 0);
  AttributeProto negative;
  negative.kind = AttributeProto::Kind::Int;
  negative.name = "detect_negative";
  EXPECT_NE(error_of(infinite.also(negative)), "");
  SequenceModel drawn;
  drawn.add("Sigmoid", {"x"}, {"shares"}).add("Bernoulli", {"shares"}, {"y"});
  EXPECT_NE(error_of(drawn), "");
}

TEST(PaddedInputs, RejectsNonlinearSizes) {
  const auto error_with = [](int64_t type) {
    SequenceModel model;
    model.initializer("half", floats({}, {0.5})).ints("some", {}, {5});
    model.add("Cast", {"count"}, {"real"}, "to", 1).add("Mul", {"real", "half"}, {"part"});
    model.add("Sub", {"count", "some"}, {"less"}).add("Cast", {"less"}, {"is_other"}, "to", 9);
    model.add("Cast", {type == 9 ? "is_other" : "part"}, {"size_i64"}, "to", 7);
    model.add("Range", {"zero", "size_i64", "one"}, {"positions"});
    return error_of(model.add("Cast", {"positions"}, {"y"}, "to", 1));
  };
  EXPECT_NE(error_with(1), "");
  EXPECT_NE(error_with(9), "");
  SequenceModel past_end;
  past_end.ints("three", {1}, {3}).add("Sub", {"counts", "second"}, {"last"});
  past_end.add("Add", {"counts", "three"}, {"beyond"});
  past_end.add("Slice", {"x", "last", "beyond", "second"}, {"y"});
  EXPECT_NE(error_of(past_end), "");
}

TEST(PaddedInputs, RejectsSizesInLoopBodies) {
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
  add("ReduceSum", {"ones", "first"}, {"step_sum"});
  add("Add", {"sum", "step_sum"}, {"more"});
  SequenceModel model;
  model.initializer("start", floats({1}, {0}));
  model.add("Loop", {"two", "", "start"}, {"y"}, body);
  EXPECT_NE(error_of(model), "");
}

TEST(PaddedInputs, RejectsCausalMasksOfUnpaddedQueries) {
  SequenceModel model;
  model.initializer("queries", floats({kBatch, 3, kWidth}, Model::numbers(24)));
  model.add("MultiHeadAttention", {"queries", "x", "x"}, {"y"}, "num_heads", 2, "com.microsoft");
  expect_same(model);
  AttributeProto order;
  order.kind = AttributeProto::Kind::Int;
  order.name = "unidirectional";
  order.integer = 1;
  EXPECT_NE(error_of(model.also(order)), "");
}

TEST(PaddedInputs, RejectsCausalMasksWithLengths) {
  SequenceModel model;
  model.ints("lengths", {2}, {2, 3}).add("Reshape", {"x", "four_axes"}, {"rows"});
  model.add("Transpose", {"rows"}, {"q"}, "perm", {0, 2, 1, 3});
  model.add("Attention", {"q", "q", "q", "", "", "", "lengths"}, {"y"}, "is_causal", 1);
  EXPECT_NE(error_of(model), "");
}

TEST(PaddedInputs, MasksInfinityInPadding) {
  SequenceModel model;
  model.initializer("infinity", floats({}, {INFINITY})).initializer("limit", floats({}, {2}));
  model.add("Greater", {"x", "limit"}, {"is_large"});
  model.add("Where", {"is_large", "infinity", "x"}, {"values"});
  model.add("Softmax", {"mask"}, {"w"}, "axis", -1).add("Unsqueeze", {"w", "second"}, {"row"});
  expect_same(model.add("MatMul", {"row", "values"}, {"y"}));
}

TEST(PaddedInputs, ComparedSizesBroadcast) {
  SequenceModel model;
  model.add("Equal", {"count", "none_of_them"}, {"is_open"});
  expect_same(model.add("Cast", {"is_open"}, {"y"}, "to", 1));
}

// They fit inputs of exactly the capacity only.
TEST(PaddedInputs, RejectsConstantsOfTheCapacity) {
  const auto error_with = [](const std::string& op, Names inputs) {
    SequenceModel model;
    model.initializer("positions", floats({kCapacity, kWidth}, Model::numbers(kCapacity * kWidth)));
    model.initializer("weights", floats({kCapacity, 3}, Model::numbers(kCapacity * 3)));
    model.add("Mul", {"positions", "positions"}, {"squares"});
    model.add("Transpose", {"x"}, {"transposed"}, "perm", {0, 2, 1});
    model.ints("batches", {3}, {kBatch, kCapacity, kWidth});
    model.add("Expand", {"positions", "batches"}, {"wide"});
    model.add(op, std::move(inputs), {"y"});
    return error_of(model);
  };
  EXPECT_NE(error_with("Add", {"x", "positions"}), "");
  EXPECT_NE(error_with("Mul", {"squares", "x"}), "");
  EXPECT_NE(error_with("MatMul", {"transposed", "positions"}), "");
  EXPECT_NE(error_with("MatMul", {"mask", "weights"}), "");
  EXPECT_NE(error_with("Where", {"x", "wide", "x"}), "");
  EXPECT_NE(error_with("Gemm", {"mask", "weights"}), "");
}

TEST(PaddedInputs, RejectsInvalidPorts) {
  const SequenceModel model;
  const auto message = [&](std::vector<Port> ports, const TraceOptions& options = {}) {
    const auto traced_model = trace(model.proto(), ports, {}, options);
    return traced_model ? "" : traced_model.error().message;
  };
  const Port x{.kind = Value::Kind::Tensor, .shape = {kBatch, 5, kWidth}, .padded_axes = {1}};
  Port mask{.kind = Value::Kind::Tensor, .shape = {kBatch, 6}, .padded_axes = {1}};
  EXPECT_NE(message({x, mask}).find("counted"), std::string::npos);
  mask.shape[1] = 5;
  mask.padded_axes = {2};
  EXPECT_NE(message({x, mask}).find("counted"), std::string::npos);
  mask.padded_axes = {-1};
  EXPECT_NE(message({x, mask}).find("counted"), std::string::npos);
}

}  // namespace
}  // namespace lathe::onnx
