// Decoders without an attention mask, traced with a KV cache of fixed capacity: for any content of
// the invalid rows their results equal those of the model traced for the exact length, or they are
// rejected.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/graph/verify.h"
#include "lathe/import/onnx/trace/trace.h"
#include "program.h"

namespace lathe::onnx::padded_cache_test {
namespace {

using graph::Array;
using graph::DType;

constexpr int64_t kCapacity = 9, kHeads = 2, kWidth = 3;

// A model of inputs "past" [1, 2, rows, 3] and "x" [1, 2, new_rows, 3], common initializers,
// and outputs "present", which is "rows", and "y".
class Decoder : public Model {
 public:
  explicit Decoder(std::string present = "rows") {
    input("past").input("x").output("present").output("y");
    ints("zero", {}, {0});
    ints("one", {}, {1});
    ints("first", {1}, {0});
    ints("second", {1}, {1});
    ints("third", {1}, {2});
    ints("fourth", {1}, {3});
    ints("far", {1}, {INT64_MAX});
    initializer("table", floats({20, 2}, numbers(40)));
    add("Shape", {"past"}, {"sizes"});
    add("Gather", {"sizes", "third"}, {"before"});
    add("Shape", {"x"}, {"new_sizes"});
    add("Gather", {"new_sizes", "third"}, {"new_rows"});
    add("Add", {"before", "new_rows"}, {"all"});
    add("Squeeze", {"before"}, {"before_number"});
    add("Squeeze", {"all"}, {"all_number"});
    add("Concat", {"past", "x"}, {"rows"}, "axis", 2);
    add("Identity", {std::move(present)}, {"present"});
  }
};

Array rows_of(int64_t count, double shift) {
  std::vector<float> values;
  for (int64_t k = 0; k < kHeads * count * kWidth; ++k) {
    values.push_back(static_cast<float>(std::cos(static_cast<double>(k) * 0.7 + shift)));
  }
  return Array::of({1, kHeads, count, kWidth}, values);
}

std::vector<Port> ports(int64_t rows, int64_t new_rows) {
  const auto port = [](int64_t count) {
    return Port{.kind = Value::Kind::Tensor, .shape = {1, kHeads, count, kWidth}};
  };
  return {port(rows), port(new_rows)};
}

// The first `count` rows of states that initializer more.
Array truncated(const Array& state, int64_t count) {
  std::vector<float> values;
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t k = 0; k < count * kWidth; ++k) {
      const int64_t at = head * state.shape[2] * kWidth + k;
      values.push_back(static_cast<float>(state[at].as_double()));
    }
  }
  return Array::of({1, kHeads, count, kWidth}, values);
}

// The first `count` rows of `state`, followed by those of `rest`.
Array first_of(const Array& state, int64_t count, const Array& rest) {
  std::vector<float> values;
  for (int64_t k = 0; k < kHeads * kCapacity * kWidth; ++k) {
    const bool is_first = k / kWidth % kCapacity < count;
    values.push_back(static_cast<float>((is_first ? state : rest)[k].as_double()));
  }
  return Array::of(state.shape, values);
}

constexpr CachePair kPair{.input = 0, .result = 0, .axis = 2};

Result<Trace> with_cache(const Model& model, int64_t new_rows) {
  return trace(model.proto(), ports(kCapacity, new_rows), {},
               {.cache = {&kPair, 1}, .new_rows = new_rows});
}

std::string error_of(const Model& model) {
  const auto traced = with_cache(model, 1);
  return traced ? "" : traced.error().message;
}

void expect_near(const Array& actual, const Array& expected) {
  ASSERT_EQ(actual.shape, expected.shape);
  for (int64_t k = 0; k < graph::element_count(actual.shape); ++k) {
    EXPECT_NEAR(actual[k].as_double(), expected[k].as_double(), 1e-5) << "element " << k;
  }
}

// For every past length, with any content of invalid rows.
void expect_same(const Model& model) {
  for (const int64_t new_rows : {1, 2}) {
    const auto padded = with_cache(model, new_rows);
    ASSERT_TRUE(padded) << padded.error().message;
    ASSERT_TRUE(padded->is_complete) << padded->why;
    ASSERT_TRUE(graph::verify(padded->graph));
    for (int64_t before = 1; before + new_rows <= kCapacity; ++before) {
      const Array state = rows_of(kCapacity, 0.3), x = rows_of(new_rows, 2);
      const Array nothing = Array::of({1, kHeads, kCapacity, kWidth},
                                      std::vector<float>(kHeads * kCapacity * kWidth));
      const auto exact = trace(model.proto(), ports(before, new_rows), {}, {});
      ASSERT_TRUE(exact && exact->is_complete);
      std::map<std::string, Array> none;
      const auto expected =
          graph::evaluate(exact->graph, {{"i0", truncated(state, before)}, {"i1", x}}, none);
      const std::vector<int32_t> at = {static_cast<int32_t>(before)};
      ASSERT_TRUE(expected) << expected.error().message;
      SCOPED_TRACE(before);
      for (const Array& rest : {state, nothing}) {
        std::map<std::string, Array> states = {{"cache0", first_of(state, before, rest)}};
        const auto actual =
            graph::evaluate(padded->graph, {{"i0", x}, {"at", Array::of({}, at)}}, states);
        ASSERT_TRUE(actual) << actual.error().message;
        expect_near(actual->at("o0"), expected->at("o1"));
        expect_near(truncated(states.at("cache0"), before + new_rows), expected->at("o0"));
      }
    }
  }
}

Model& attended(Model& model, const std::string& mask = {}) {
  model.add("Transpose", {"rows"}, {"columns"}, "perm", {0, 1, 3, 2});
  model.add("MatMul", {"x", "columns"}, {"scores"});
  if (!mask.empty()) model.add("Add", {"scores", mask}, {"masked"});
  model.add("Softmax", {mask.empty() ? "scores" : "masked"}, {"weights"}, "axis", -1);
  return model.add("MatMul", {"weights", "rows"}, {"y"});
}

TEST(PaddedCache, AttentionMasksPadding) {
  Decoder model;
  expect_same(attended(model));
}

TEST(PaddedCache, ComputesWithTheLength) {
  Decoder sum;
  sum.add("Cast", {"all"}, {"many"}, "to", 1).add("Mul", {"x", "many"}, {"y"});
  expect_same(sum);
  Decoder shape;
  shape.add("Shape", {"rows"}, {"inner"}).add("Cast", {"inner"}, {"y"}, "to", 1);
  expect_same(shape);
}

TEST(PaddedCache, PositionEmbeddings) {
  Decoder slice;
  slice.add("Slice", {"table", "before", "all", "first"}, {"y"});
  expect_same(slice);
  Decoder range;
  range.add("Range", {"before_number", "all_number", "one"}, {"positions"});
  range.add("Gather", {"table", "positions"}, {"y"});
  expect_same(range);
  Decoder added;
  added.add("Squeeze", {"new_rows"}, {"count"})
      .add("Range", {"zero", "count", "one"}, {"from_zero"});
  added.add("Add", {"from_zero", "before"}, {"positions"})
      .add("Gather", {"table", "positions"}, {"y"});
  expect_same(added);
}

TEST(PaddedCache, CausalMasks) {
  Decoder model;
  model.add("Range", {"zero", "all_number", "one"}, {"columns_at"});
  model.add("Range", {"before_number", "all_number", "one"}, {"rows_at"});
  model.add("Unsqueeze", {"rows_at", "second"}, {"down"});
  model.add("LessOrEqual", {"columns_at", "down"}, {"seen"});
  model.add("Cast", {"seen"}, {"bias"}, "to", 1);
  expect_same(attended(model, "bias"));
}

TEST(PaddedCache, TensorsOfLengthDependentShape) {
  Decoder model;
  model.add("Concat", {"new_rows", "all"}, {"shape"}, "axis", 0);
  model.add("ConstantOfShape", {"shape"}, {"zeros"});
  model.add("Range", {"zero", "all_number", "one"}, {"columns_at"});
  model.add("Cast", {"columns_at"}, {"far_at"}, "to", 1);
  model.add("Expand", {"far_at", "shape"}, {"wide"}).add("Sub", {"zeros", "wide"}, {"bias"});
  expect_same(attended(model, "bias"));
}

TEST(PaddedCache, RelativeDistances) {
  Decoder model;
  model.add("Range", {"zero", "all_number", "one"}, {"at"});
  model.add("Unsqueeze", {"at", "first"}, {"along"}).add("Unsqueeze", {"at", "second"}, {"down"});
  model.add("Sub", {"along", "down"}, {"far_from"}).add("Abs", {"far_from"}, {"distance"});
  model.add("Gather", {"table", "distance"}, {"each"});
  model.add("Transpose", {"each"}, {"by_heads"}, "perm", {2, 0, 1});
  model.add("Unsqueeze", {"by_heads", "first"}, {"batched"}).add("Neg", {"new_rows"}, {"last"});
  model.add("Slice", {"batched", "last", "far", "third"}, {"bias"});
  expect_same(attended(model, "bias"));
}

TEST(PaddedCache, RowsMayBeMovedAndMapped) {
  Decoder model;
  model.add("Range", {"zero", "all_number", "one"}, {"at"});
  model.add("Cast", {"at"}, {"far_at"}, "to", 1).add("Unsqueeze", {"far_at", "second"}, {"down"});
  model.add("Mul", {"rows", "down"}, {"scaled"});
  model.add("Slice", {"scaled", "before", "all", "third"}, {"y"});
  expect_same(model);
  Decoder summed;
  summed.add("ReduceSum", {"rows", "fourth"}, {"sums"}, "keepdims", 1);
  summed.add("Softmax", {"sums"}, {"weights"}, "axis", 2);
  summed.add("Transpose", {"weights"}, {"across"}, "perm", {0, 1, 3, 2});
  summed.add("MatMul", {"across", "rows"}, {"y"});
  expect_same(summed);
}

TEST(PaddedCache, FusedAttention) {
  Decoder model;
  model.ints("flat", {3}, {1, -1, kHeads * kWidth}).add("Reshape", {"x", "flat"}, {"plain"});
  model.add("MultiHeadAttention", {"plain", "plain", "plain", "", "", "", "past", "past"},
            {"y", "keys", "values"}, "num_heads", kHeads, "com.microsoft");
  expect_same(model);
}

TEST(PaddedCache, RejectsOperatorsThatMixPadding) {
  const auto error_with = [](std::vector<std::string> op, Names inputs) {
    Decoder model;
    model.add(op[0], std::move(inputs), {"y"});
    return error_of(model);
  };
  EXPECT_NE(error_with({"ReduceLogSumExp"}, {"rows", "third"}), "");
  EXPECT_NE(error_with({"ArgMax"}, {"rows"}), "");
  EXPECT_NE(error_with({"Neg"}, {"past"}), "");
  EXPECT_NE(error_with({"Neg"}, {"rows"}), "") << "an output with an axis of rows";
  EXPECT_NE(error_with({"Size"}, {"rows"}), "");
  EXPECT_NE(error_with({"Slice"}, {"rows", "second", "third", "third"}), "")
      << "the row may be invalid";
  EXPECT_NE(error_with({"Tile"}, {"x", "sizes"}), "");
  EXPECT_NE(error_with({"ConstantOfShape"}, {"before"}), "");
  EXPECT_NE(error_with({"Trilu"}, {"x", "before"}), "");
  EXPECT_NE(error_with({"TopK"}, {"rows", "second"}), "");
}

TEST(PaddedCache, ReductionsMaskPadding) {
  for (const char* op : {"Mean", "Sum", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum"}) {
    SCOPED_TRACE(op);
    for (const int64_t keep_dims : {0, 1}) {
      Decoder model;
      model.add("Exp", {"rows"}, {"powers"});
      model.add(std::string("Reduce") + op, {"powers", "third"}, {"y"}, "keepdims", keep_dims);
      expect_same(model);
    }
    Decoder several;
    several.ints("axes", {2}, {1, 2}).add("Exp", {"rows"}, {"powers"});
    expect_same(several.add(std::string("Reduce") + op, {"powers", "axes"}, {"y"}));
  }
  Decoder ones;
  ones.add("ConstantOfShape", {"all"}, {"ones"}).add("ReduceSum", {"ones", "first"}, {"y"});
  expect_same(ones);
  Decoder range;
  range.add("Range", {"zero", "all_number", "one"}, {"at"});
  range.add("ReduceMax", {"at", "first"}, {"last"}).add("Cast", {"last"}, {"y"}, "to", 1);
  expect_same(range);
  Decoder table;
  table.add("Slice", {"table", "first", "all", "first"}, {"part"});
  expect_same(table.add("ReduceSum", {"part", "first"}, {"y"}));
  Decoder product;
  product.add("Transpose", {"rows"}, {"columns"}, "perm", {0, 1, 3, 2});
  expect_same(product.add("MatMul", {"columns", "rows"}, {"y"}));
  Decoder scale;
  scale.add("DynamicQuantizeLinear", {"rows"}, {"q", "y", "zero_point"});
  expect_same(scale);
}

TEST(PaddedCache, RowsThatAreAlwaysValid) {
  Decoder slice;
  expect_same(slice.add("Slice", {"rows", "first", "second", "third"}, {"y"}));
  for (const int64_t at : {0, -1}) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {
      Decoder row;
      row.ints("row", shape, {at}).add("Gather", {"rows", "row"}, {"y"}, "axis", 2);
      expect_same(row);
    }
  }
}

// As exporters write Expand: sizes of -1 are unchanged.
TEST(PaddedCache, ComparisonsOfSizes) {
  Decoder model;
  model.ints("one_each", {4}, {1, 1, 1, 1}).ints("none", {4}, {-1, -1, -1, -1});
  model.add("Concat", {"second", "second", "new_rows", "all"}, {"sizes_of_mask"}, "axis", 0);
  model.add("Equal", {"sizes_of_mask", "none"}, {"same"});
  model.add("Where", {"same", "one_each", "sizes_of_mask"}, {"shape"});
  model.add("Range", {"zero", "all_number", "one"}, {"at"}).add("Cast", {"at"}, {"each"}, "to", 1);
  model.add("Expand", {"each", "shape"}, {"bias"});
  expect_same(attended(model, "bias"));
  Decoder some;
  some.ints("five", {1}, {5}).add("Equal", {"all", "five"}, {"is_five"});
  expect_same(some.add("Cast", {"is_five"}, {"y"}, "to", 1));
  Decoder shape;
  shape.ints("five", {1}, {5}).add("Equal", {"all", "five"}, {"is_five"});
  shape.add("Where", {"is_five", "second", "all"}, {"size"});
  EXPECT_NE(error_of(shape.add("ConstantOfShape", {"size"}, {"y"})), "");
}

TEST(PaddedCache, RejectsRangesOfThePastLength) {
  Decoder past;
  past.add("Range", {"zero", "before_number", "one"}, {"at"})
      .add("ReduceMax", {"at", "first"}, {"y"});
  EXPECT_NE(error_of(past), "");
}

// The start of the slice is not linear in the length, or may be negative.
TEST(PaddedCache, RejectsNonlinearSizes) {
  Decoder window;
  window.ints("four", {1}, {4}).add("Sub", {"all", "four"}, {"rest"});
  window.add("Max", {"rest", "first"}, {"start"});
  window.add("Slice", {"rows", "start", "all", "third"}, {"last"});
  EXPECT_NE(error_of(window.add("ReduceSum", {"last", "third"}, {"y"})), "");
  Decoder fixed;
  fixed.ints("last", {1}, {-5}).add("Slice", {"rows", "last", "far", "third"}, {"some"});
  EXPECT_NE(error_of(fixed.add("ReduceSum", {"some", "third"}, {"y"})), "");
  Decoder negative;
  negative.add("Neg", {"all"}, {"start"}).add("Neg", {"before"}, {"end"});
  EXPECT_NE(error_of(negative.add("Slice", {"table", "start", "end", "first"}, {"y"})), "");
  Decoder some;
  some.add("Min", {"all", "fourth"}, {"size"}).add("ConstantOfShape", {"size"}, {"zeros"});
  EXPECT_NE(error_of(some.add("ReduceSum", {"zeros", "first"}, {"y"})), "");
  Decoder read;
  read.add("Range", {"zero", "all_number", "one"}, {"at"});
  read.add("Slice", {"at", "before", "all", "first"}, {"positions"});
  read.add("ReduceMax", {"positions", "first"}, {"last"}).add("Add", {"last", "second"}, {"end"});
  EXPECT_NE(error_of(read.add("Slice", {"table", "last", "end", "first"}, {"y"})), "");
}

TEST(PaddedCache, SoftmaxWeightsAreZeroAlongOneAxis) {
  Decoder twice;
  twice.add("Transpose", {"rows"}, {"columns"}, "perm", {0, 1, 3, 2});
  twice.add("MatMul", {"rows", "columns"}, {"scores"});
  twice.add("Softmax", {"scores"}, {"once"}, "axis", 3).add("Softmax", {"once"}, {"p"}, "axis", 2);
  twice.add("MatMul", {"p", "rows"}, {"mixed"});
  expect_same(twice.add("Slice", {"mixed", "before", "all", "third"}, {"y"}));
  // 0 times padding that may be infinite.
  Decoder infinite;
  infinite.add("Transpose", {"rows"}, {"columns"}, "perm", {0, 1, 3, 2});
  infinite.add("MatMul", {"x", "columns"}, {"scores"});
  infinite.add("Softmax", {"scores"}, {"p"}, "axis", -1).add("Reciprocal", {"rows"}, {"inverse"});
  expect_same(infinite.add("MatMul", {"p", "inverse"}, {"y"}));
}

TEST(PaddedCache, RejectsPaddedOutputs) {
  Decoder past;
  EXPECT_NE(error_of(past.add("Identity", {"past"}, {"y"})), "");
  Decoder like;
  like.add("Concat", {"all", "all"}, {"shape"}, "axis", 0).add("ConstantOfShape", {"shape"}, {"z"});
  like.add("EyeLike", {"z"}, {"ones"}).add("ReduceSum", {"ones"}, {"y"});
  EXPECT_NE(error_of(like), "");
  Decoder unkept("past");
  EXPECT_NE(error_of(unkept.add("Neg", {"x"}, {"y"})), "");
}

TEST(PaddedCache, RejectsFusedAttentionOfOtherTokens) {
  const auto fused = [](const std::string& query, const std::string& mask, Names results) {
    Decoder model;
    model.ints("flat", {3}, {1, -1, kHeads * kWidth}).ints("seen", {1, 1, 1}, {1});
    model.add("Reshape", {"x", "flat"}, {"plain"}).add("Reshape", {"rows", "flat"}, {"wide"});
    model.add("Cast", {"seen"}, {"mask"}, "to", 6);
    model.add("MultiHeadAttention", {query, "plain", "plain", "", mask, "", "past", "past"},
              std::move(results), "num_heads", kHeads, "com.microsoft");
    return model;
  };
  EXPECT_NE(error_of(fused("plain", "mask", {"y"})), "");
  EXPECT_NE(error_of(fused("wide", "", {"y"})), "");
  EXPECT_NE(error_of(fused("plain", "", {"o", "y"})), "");
  Decoder present = fused("plain", "", {"o", "keys"});
  EXPECT_NE(error_of(present.add("ReduceSum", {"keys", "third"}, {"y"})), "");
}

TEST(PaddedCache, RejectsSizesInLoopBodies) {
  for (const char* op : {"Shape", "Size"}) {
    Decoder model;
    NodeProto shape, add, on;
    shape.op_type = op;
    shape.inputs = {"rows"};
    shape.outputs = {"inner"};
    add.op_type = "Add";
    add.inputs = {"v", "inner"};
    add.outputs = {"next"};
    on.op_type = "Identity";
    on.inputs = {"go"};
    on.outputs = {"more"};
    GraphProto body;
    body.name = "body";
    body.nodes = {shape, add, on};
    for (const char* each : {"i", "go", "v"}) body.inputs.push_back({each, {}});
    for (const char* each : {"more", "next"}) body.outputs.push_back({each, {}});
    model.ints("two", {}, {2}).ints("start", {4}, {0, 0, 0, 0});
    EXPECT_NE(error_of(model.add("Loop", {"two", "", "start"}, {"y"}, std::move(body))), "");
  }
}

// Keys and values are one state [2, 1, heads, rows, size], of which the model reads each half.
TEST(PaddedCache, PartsOfAState) {
  Model model;
  model.input("past").input("x").output("present").output("y");
  model.ints("first", {1}, {0}).ints("second", {1}, {1});
  model.ints("zero", {}, {0});
  model.add("Gather", {"past", "zero"}, {"keys"}).add("Concat", {"keys", "x"}, {"k"}, "axis", 2);
  model.add("Slice", {"past", "second", "far", "first"}, {"half"}).ints("far", {1}, {INT64_MAX});
  model.add("Squeeze", {"half", "first"}, {"values"});
  model.add("Concat", {"values", "x"}, {"v"}, "axis", 2);
  model.add("Unsqueeze", {"k", "first"}, {"k1"}).add("Unsqueeze", {"v", "first"}, {"v1"});
  model.add("Concat", {"k1", "v1"}, {"present"}, "axis", 0);
  model.add("Transpose", {"k"}, {"columns"}, "perm", {0, 1, 3, 2});
  model.add("MatMul", {"x", "columns"}, {"scores"});
  model.add("Softmax", {"scores"}, {"weights"}, "axis", -1);
  model.add("MatMul", {"weights", "v"}, {"y"});
  constexpr int64_t kBefore = 4;
  const auto shape = [](int64_t rows) { return Shape{2, 1, kHeads, rows, kWidth}; };
  const auto all = [&](int64_t rows) {
    std::vector<Port> inputs = ports(rows, 1);
    inputs[0].shape = shape(rows);
    return inputs;
  };
  constexpr CachePair kJoined{.input = 0, .result = 0, .axis = 3};
  const auto padded =
      trace(model.proto(), all(kCapacity), {}, {.cache = {&kJoined, 1}, .new_rows = 1});
  ASSERT_TRUE(padded) << padded.error().message;
  const auto exact = trace(model.proto(), all(kBefore), {}, {});
  ASSERT_TRUE(exact) << exact.error().message;
  // Both halves are rows of the same numbers but for their sign.
  const auto state = [&](int64_t rows) {
    std::vector<float> values;
    for (int64_t k = 0; k < 2 * kHeads * rows * kWidth; ++k) {
      const int64_t row = k / kWidth % rows;
      const auto at = static_cast<double>(k / kWidth / rows * 100 + row * kWidth + k % kWidth);
      values.push_back(row < kBefore ? static_cast<float>(std::cos(at)) : 0.0f);
    }
    return Array::of(shape(rows), values);
  };
  std::map<std::string, Array> none, states = {{"cache0", state(kCapacity)}};
  const Array x = rows_of(1, 2);
  const auto expected = graph::evaluate(exact->graph, {{"i0", state(kBefore)}, {"i1", x}}, none);
  ASSERT_TRUE(expected) << expected.error().message;
  const std::vector<int32_t> at = {kBefore};
  const auto actual =
      graph::evaluate(padded->graph, {{"i0", x}, {"at", Array::of({}, at)}}, states);
  ASSERT_TRUE(actual) << actual.error().message;
  expect_near(actual->at("o0"), expected->at("o1"));
  const Array& next = states.at("cache0");
  const Array& present = expected->at("o0");
  for (int64_t k = 0; k < graph::element_count(present.shape); ++k) {
    const int64_t head = k / kWidth / (kBefore + 1), in_head = k % (kWidth * (kBefore + 1));
    EXPECT_NEAR(next[head * kCapacity * kWidth + in_head].as_double(), present[k].as_double(),
                1e-6);
  }
}

// A convolution's last inputs beside rows: the output replaces them.
TEST(PaddedCache, ReplacedStates) {
  Decoder model;
  model.input("old").output("next");
  model.add("Mul", {"old", "x"}, {"next"}).add("Add", {"x", "old"}, {"y"});
  const CachePair pairs[] = {kPair, {.input = 2, .result = 2}};
  std::vector<Port> inputs = ports(kCapacity, 1);
  inputs.push_back(inputs[1]);
  const auto traced = trace(model.proto(), inputs, {}, {.cache = pairs, .new_rows = 1});
  ASSERT_TRUE(traced) << traced.error().message;
  const Array x = rows_of(1, 2), old = rows_of(1, 5);
  std::map<std::string, Array> states = {{"cache0", rows_of(kCapacity, 0)}, {"cache1", old}};
  const std::vector<int32_t> at = {2};
  const auto found = graph::evaluate(traced->graph, {{"i0", x}, {"at", Array::of({}, at)}}, states);
  ASSERT_TRUE(found) << found.error().message;
  for (int64_t k = 0; k < kHeads * kWidth; ++k) {
    const double a = old[k].as_double(), b = x[k].as_double();
    EXPECT_NEAR(found->at("o0")[k].as_double(), a + b, 1e-6);
    EXPECT_NEAR(states.at("cache1")[k].as_double(), a * b, 1e-6);
  }
}

TEST(PaddedCache, DependenciesOfResults) {
  Decoder model;
  model.input("old").output("next");
  model.add("Neg", {"old"}, {"next"}).add("Add", {"x", "old"}, {"y"});
  std::vector<Port> inputs = ports(4, 1);
  inputs.push_back(inputs[1]);
  const auto traced = trace(model.proto(), inputs, {}, {});
  ASSERT_TRUE(traced) << traced.error().message;
  const std::vector<std::vector<size_t>> expected = {{0, 1}, {1, 2}, {2}};
  EXPECT_EQ(result_dependencies(*traced), expected);
}

TEST(PaddedCache, NewRowsMustFit) {
  const Decoder model;
  const auto traced = trace(model.proto(), ports(4, 4), {}, {.cache = {&kPair, 1}, .new_rows = 4});
  ASSERT_FALSE(traced);
  EXPECT_NE(traced.error().message.find("exceed the capacity"), std::string::npos);
}

}  // namespace
}  // namespace lathe::onnx::padded_cache_test
