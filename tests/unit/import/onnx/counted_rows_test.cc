// Models that go by how many rows there are, written down for states with room for more: whatever
// they compute of it, they give what they give when they are written down for just so many rows, or
// are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/graph/verify.h"
#include "lathe/import/onnx/trace.h"
#include "operate.h"

namespace lathe::onnx {
namespace {

using Names = std::vector<std::string>;
using graph::Array;
using graph::DType;

constexpr int64_t kRoom = 9, kHeads = 2, kWidth = 3;

// A model of inputs "past" [1, 2, rows, 3] and "x" [1, 2, fresh, 3], initialisers for all to use,
// and outputs "present", which is "rows", and "y".
class Model {
 public:
  explicit Model(std::string present = "rows") {
    proto_.sets[""] = 21;
    proto_.sets["com.microsoft"] = 1;
    for (const char* each : {"past", "x"}) proto_.graph.inputs.push_back({each, {}});
    for (const char* each : {"present", "y"}) proto_.graph.outputs.push_back({each, {}});
    ints("zero", {}, {0});
    ints("one", {}, {1});
    ints("first", {1}, {0});
    ints("second", {1}, {1});
    ints("third", {1}, {2});
    ints("fourth", {1}, {3});
    ints("far", {1}, {INT64_MAX});
    hold("table", floats({20, 2}, numbers(40)));
    add("Shape", {"past"}, {"sizes"});
    add("Gather", {"sizes", "third"}, {"before"});
    add("Shape", {"x"}, {"fresh_sizes"});
    add("Gather", {"fresh_sizes", "third"}, {"fresh"});
    add("Add", {"before", "fresh"}, {"all"});
    add("Squeeze", {"before"}, {"before_number"});
    add("Squeeze", {"all"}, {"all_number"});
    add("Concat", {"past", "x"}, {"rows"}, "axis", 2);
    add("Identity", {std::move(present)}, {"present"});
  }

  static Numbers numbers(int64_t count) {
    Numbers values;
    for (int64_t k = 0; k < count; ++k) values.push_back(std::sin(static_cast<double>(k) * 1.3));
    return values;
  }

  Model& add(std::string op, Names inputs, Names outputs) {
    NodeProto& node = proto_.graph.nodes.emplace_back();
    node.name = op;
    node.op_type = std::move(op);
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    return *this;
  }

  Model& add(std::string op, Names inputs, Names outputs, std::string name, int64_t value,
             std::string domain = {}) {
    AttributeProto attribute;
    attribute.kind = AttributeProto::Kind::Int;
    attribute.name = std::move(name);
    attribute.integer = value;
    add(std::move(op), std::move(inputs), std::move(outputs));
    proto_.graph.nodes.back().attributes.push_back(std::move(attribute));
    proto_.graph.nodes.back().domain = std::move(domain);
    return *this;
  }

  Model& add(std::string op, Names inputs, Names outputs, std::string name,
             std::vector<int64_t> values) {
    add(std::move(op), std::move(inputs), std::move(outputs), std::move(name), 0);
    AttributeProto& attribute = proto_.graph.nodes.back().attributes.back();
    attribute.kind = AttributeProto::Kind::Ints;
    attribute.integers = std::move(values);
    return *this;
  }

  Model& add(std::string op, Names inputs, Names outputs, GraphProto body) {
    add(std::move(op), std::move(inputs), std::move(outputs), "body", 0);
    AttributeProto& attribute = proto_.graph.nodes.back().attributes.back();
    attribute.kind = AttributeProto::Kind::Graph;
    attribute.graphs.push_back(std::make_shared<const GraphProto>(std::move(body)));
    return *this;
  }

  Model& ints(std::string name, Shape shape, const std::vector<int64_t>& values) {
    return hold(std::move(name), Value(integers_content(Type::Int64, std::move(shape), values)));
  }

  const ModelProto& proto() const { return proto_; }

 private:
  Model& hold(std::string name, const Value& value) {
    proto_.graph.initializers.push_back({std::move(name), *value.known});
    return *this;
  }

  ModelProto proto_;
};

Array rows_of(int64_t count, double shift) {
  std::vector<float> values;
  for (int64_t k = 0; k < kHeads * count * kWidth; ++k) {
    values.push_back(static_cast<float>(std::cos(static_cast<double>(k) * 0.7 + shift)));
  }
  return Array::of({1, kHeads, count, kWidth}, values);
}

std::vector<Port> ports(int64_t rows, int64_t fresh) {
  const auto port = [](int64_t count) {
    return Port{.kind = Value::Kind::Tensor, .shape = {1, kHeads, count, kWidth}};
  };
  return {port(rows), port(fresh)};
}

// The first `count` rows of states that hold more.
Array cut(const Array& state, int64_t count) {
  std::vector<float> values;
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t k = 0; k < count * kWidth; ++k) {
      const int64_t at = head * state.shape[2] * kWidth + k;
      values.push_back(static_cast<float>(state[at].as_double()));
    }
  }
  return Array::of({1, kHeads, count, kWidth}, values);
}

constexpr CachePair kPair{.input = 0, .result = 0};

Result<Trace> kept(const Model& model, int64_t fresh) {
  return trace(model.proto(), ports(kRoom, fresh), {}, {.cache = {&kPair, 1}, .fresh_rows = fresh});
}

std::string refusal(const Model& model) {
  const auto traced = kept(model, 1);
  return traced ? "" : traced.error().message;
}

void expect_near(const Array& got, const Array& wanted) {
  ASSERT_EQ(got.shape, wanted.shape);
  for (int64_t k = 0; k < graph::element_count(got.shape); ++k) {
    EXPECT_NEAR(got[k].as_double(), wanted[k].as_double(), 1e-5) << "element " << k;
  }
}

// With any number of rows before and any content behind them.
void expect_same(const Model& model) {
  for (const int64_t fresh : {1, 2}) {
    const auto roomy = kept(model, fresh);
    ASSERT_TRUE(roomy) << roomy.error().message;
    ASSERT_TRUE(roomy->is_whole) << roomy->why;
    ASSERT_TRUE(graph::verify(roomy->graph));
    for (int64_t before = 1; before + fresh <= kRoom; ++before) {
      const Array state = rows_of(kRoom, 0.3), x = rows_of(fresh, 2);
      const auto exact = trace(model.proto(), ports(before, fresh), {}, {});
      ASSERT_TRUE(exact && exact->is_whole);
      std::map<std::string, Array> none, states = {{"cache0", state}};
      const auto wanted =
          graph::evaluate(exact->graph, {{"i0", cut(state, before)}, {"i1", x}}, none);
      const std::vector<int32_t> at = {static_cast<int32_t>(before)};
      const auto got =
          graph::evaluate(roomy->graph, {{"i0", x}, {"at", Array::of({}, at)}}, states);
      ASSERT_TRUE(wanted) << wanted.error().message;
      ASSERT_TRUE(got) << got.error().message;
      SCOPED_TRACE(before);
      expect_near(got->at("o0"), wanted->at("o1"));
      expect_near(cut(states.at("cache0"), before + fresh), wanted->at("o0"));
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

TEST(CountedRows, AttentionLeavesOutWhatIsNotThere) {
  Model model;
  expect_same(attended(model));
}

TEST(CountedRows, NumbersOfRowsAreComputedWith) {
  Model sum;
  sum.add("Cast", {"all"}, {"many"}, "to", 1).add("Mul", {"x", "many"}, {"y"});
  expect_same(sum);
  Model shape;
  shape.add("Shape", {"rows"}, {"inner"}).add("Cast", {"inner"}, {"y"}, "to", 1);
  expect_same(shape);
}

TEST(CountedRows, PlacesOfATable) {
  Model slice;
  slice.add("Slice", {"table", "before", "all", "first"}, {"y"});
  expect_same(slice);
  Model range;
  range.add("Range", {"before_number", "all_number", "one"}, {"places"});
  range.add("Gather", {"table", "places"}, {"y"});
  expect_same(range);
  Model added;
  added.add("Squeeze", {"fresh"}, {"count"}).add("Range", {"zero", "count", "one"}, {"from_zero"});
  added.add("Add", {"from_zero", "before"}, {"places"}).add("Gather", {"table", "places"}, {"y"});
  expect_same(added);
}

TEST(CountedRows, MasksOfPlaces) {
  Model model;
  model.add("Range", {"zero", "all_number", "one"}, {"columns_at"});
  model.add("Range", {"before_number", "all_number", "one"}, {"rows_at"});
  model.add("Unsqueeze", {"rows_at", "second"}, {"down"});
  model.add("LessOrEqual", {"columns_at", "down"}, {"seen"});
  model.add("Cast", {"seen"}, {"bias"}, "to", 1);
  expect_same(attended(model, "bias"));
}

TEST(CountedRows, SizesMakeTensors) {
  Model model;
  model.add("Concat", {"fresh", "all"}, {"shape"}, "axis", 0);
  model.add("ConstantOfShape", {"shape"}, {"zeros"});
  model.add("Range", {"zero", "all_number", "one"}, {"columns_at"});
  model.add("Cast", {"columns_at"}, {"far_at"}, "to", 1);
  model.add("Expand", {"far_at", "shape"}, {"wide"}).add("Sub", {"zeros", "wide"}, {"bias"});
  expect_same(attended(model, "bias"));
}

TEST(CountedRows, DistancesOfTheLastOnes) {
  Model model;
  model.add("Range", {"zero", "all_number", "one"}, {"at"});
  model.add("Unsqueeze", {"at", "first"}, {"along"}).add("Unsqueeze", {"at", "second"}, {"down"});
  model.add("Sub", {"along", "down"}, {"far_from"}).add("Abs", {"far_from"}, {"distance"});
  model.add("Gather", {"table", "distance"}, {"each"});
  model.add("Transpose", {"each"}, {"by_heads"}, "perm", {2, 0, 1});
  model.add("Unsqueeze", {"by_heads", "first"}, {"whole"}).add("Neg", {"fresh"}, {"last"});
  model.add("Slice", {"whole", "last", "far", "third"}, {"bias"});
  expect_same(attended(model, "bias"));
}

TEST(CountedRows, RowsMayBeMovedAndAddedTo) {
  Model model;
  model.add("Range", {"zero", "all_number", "one"}, {"at"});
  model.add("Cast", {"at"}, {"far_at"}, "to", 1).add("Unsqueeze", {"far_at", "second"}, {"down"});
  model.add("Mul", {"rows", "down"}, {"scaled"});
  model.add("Slice", {"scaled", "before", "all", "third"}, {"y"});
  expect_same(model);
  Model summed;
  summed.add("ReduceSum", {"rows", "fourth"}, {"sums"}, "keepdims", 1);
  summed.add("Softmax", {"sums"}, {"weights"}, "axis", 2);
  summed.add("Transpose", {"weights"}, {"across"}, "perm", {0, 1, 3, 2});
  summed.add("MatMul", {"across", "rows"}, {"y"});
  expect_same(summed);
}

TEST(CountedRows, FusedAttention) {
  Model model;
  model.ints("flat", {3}, {1, -1, kHeads * kWidth}).add("Reshape", {"x", "flat"}, {"plain"});
  model.add("MultiHeadAttention", {"plain", "plain", "plain", "", "", "", "past", "past"},
            {"y", "keys", "values"}, "num_heads", kHeads, "com.microsoft");
  expect_same(model);
}

TEST(CountedRows, WhatMixesRowsIsRefused) {
  const auto refused = [](std::vector<std::string> op, Names inputs) {
    Model model;
    model.add(op[0], std::move(inputs), {"y"});
    return refusal(model);
  };
  EXPECT_NE(refused({"ReduceMean"}, {"rows", "third"}), "");
  EXPECT_NE(refused({"ReduceSum"}, {"rows", "third"}), "");
  EXPECT_NE(refused({"ReduceMax"}, {"rows", "third"}), "");
  EXPECT_NE(refused({"Neg"}, {"past"}), "");
  EXPECT_NE(refused({"Neg"}, {"rows"}), "") << "an output with an axis of rows";
  EXPECT_NE(refused({"Size"}, {"rows"}), "");
  EXPECT_NE(refused({"Slice"}, {"rows", "first", "second", "third"}), "");
  EXPECT_NE(refused({"Tile"}, {"x", "sizes"}), "");
  EXPECT_NE(refused({"ConstantOfShape"}, {"before"}), "");
  EXPECT_NE(refused({"Trilu"}, {"x", "before"}), "");
  EXPECT_NE(refused({"TopK"}, {"rows", "second"}), "");
}

TEST(CountedRows, SumsOverAllThatIsThereAreRefused) {
  Model ones;
  ones.add("ConstantOfShape", {"all"}, {"ones"}).add("ReduceSum", {"ones", "first"}, {"y"});
  EXPECT_NE(refusal(ones), "");
  Model range;
  range.add("Range", {"zero", "all_number", "one"}, {"at"})
      .add("ReduceMax", {"at", "first"}, {"y"});
  EXPECT_NE(refusal(range), "");
  Model past;
  past.add("Range", {"zero", "before_number", "one"}, {"at"})
      .add("ReduceMax", {"at", "first"}, {"y"});
  EXPECT_NE(refusal(past), "");
  Model table;
  table.add("Slice", {"table", "first", "all", "first"}, {"part"});
  table.add("ReduceSum", {"part", "first"}, {"y"});
  EXPECT_NE(refusal(table), "");
  Model product;
  product.add("Transpose", {"rows"}, {"columns"}, "perm", {0, 1, 3, 2});
  product.add("MatMul", {"columns", "rows"}, {"y"});
  EXPECT_NE(refusal(product), "");
}

// The first rows that count begin at a size that does not grow with every row, or before the first.
TEST(CountedRows, SizesThatDoNotGrowEvenlyAreRefused) {
  Model window;
  window.ints("four", {1}, {4}).add("Sub", {"all", "four"}, {"behind"});
  window.add("Max", {"behind", "first"}, {"start"});
  window.add("Slice", {"rows", "start", "all", "third"}, {"last"});
  EXPECT_NE(refusal(window.add("ReduceSum", {"last", "third"}, {"y"})), "");
  Model fixed;
  fixed.ints("last", {1}, {-5}).add("Slice", {"rows", "last", "far", "third"}, {"some"});
  EXPECT_NE(refusal(fixed.add("ReduceSum", {"some", "third"}, {"y"})), "");
  Model negative;
  negative.add("Neg", {"all"}, {"start"}).add("Neg", {"before"}, {"end"});
  EXPECT_NE(refusal(negative.add("Slice", {"table", "start", "end", "first"}, {"y"})), "");
  Model some;
  some.add("Min", {"all", "fourth"}, {"size"}).add("ConstantOfShape", {"size"}, {"zeros"});
  EXPECT_NE(refusal(some.add("ReduceSum", {"zeros", "first"}, {"y"})), "");
  Model read;
  read.add("Range", {"zero", "all_number", "one"}, {"at"});
  read.add("Slice", {"at", "before", "all", "first"}, {"places"});
  read.add("ReduceMax", {"places", "first"}, {"last"}).add("Add", {"last", "second"}, {"end"});
  EXPECT_NE(refusal(read.add("Slice", {"table", "last", "end", "first"}, {"y"})), "");
}

TEST(CountedRows, WeightsAreZeroAlongTheirAxisAlone) {
  Model twice;
  twice.add("Transpose", {"rows"}, {"columns"}, "perm", {0, 1, 3, 2});
  twice.add("MatMul", {"rows", "columns"}, {"scores"});
  twice.add("Softmax", {"scores"}, {"once"}, "axis", 3).add("Softmax", {"once"}, {"p"}, "axis", 2);
  twice.add("MatMul", {"p", "rows"}, {"mixed"});
  EXPECT_NE(refusal(twice.add("Slice", {"mixed", "before", "all", "third"}, {"y"})), "");
  // 0 times what may be infinite where there is no row.
  Model infinite;
  infinite.add("Transpose", {"rows"}, {"columns"}, "perm", {0, 1, 3, 2});
  infinite.add("MatMul", {"x", "columns"}, {"scores"});
  infinite.add("Softmax", {"scores"}, {"p"}, "axis", -1).add("Reciprocal", {"rows"}, {"inverse"});
  EXPECT_NE(refusal(infinite.add("MatMul", {"p", "inverse"}, {"y"})), "");
}

TEST(CountedRows, OutputsMustHaveTrueSizes) {
  Model past;
  EXPECT_NE(refusal(past.add("Identity", {"past"}, {"y"})), "");
  Model like;
  like.add("Concat", {"all", "all"}, {"shape"}, "axis", 0).add("ConstantOfShape", {"shape"}, {"z"});
  like.add("EyeLike", {"z"}, {"ones"}).add("ReduceSum", {"ones"}, {"y"});
  EXPECT_NE(refusal(like), "");
  Model unkept("past");
  EXPECT_NE(refusal(unkept.add("Neg", {"x"}, {"y"})), "");
}

TEST(CountedRows, FusedAttentionOfOtherThanNewTokensIsRefused) {
  const auto fused = [](const std::string& query, const std::string& mask, Names results) {
    Model model;
    model.ints("flat", {3}, {1, -1, kHeads * kWidth}).ints("seen", {1, 1, 1}, {1});
    model.add("Reshape", {"x", "flat"}, {"plain"}).add("Reshape", {"rows", "flat"}, {"wide"});
    model.add("Cast", {"seen"}, {"mask"}, "to", 6);
    model.add("MultiHeadAttention", {query, "plain", "plain", "", mask, "", "past", "past"},
              std::move(results), "num_heads", kHeads, "com.microsoft");
    return model;
  };
  EXPECT_NE(refusal(fused("plain", "mask", {"y"})), "");
  EXPECT_NE(refusal(fused("wide", "", {"y"})), "");
  EXPECT_NE(refusal(fused("plain", "", {"o", "y"})), "");
  Model present = fused("plain", "", {"o", "keys"});
  EXPECT_NE(refusal(present.add("ReduceSum", {"keys", "third"}, {"y"})), "");
}

TEST(CountedRows, BodiesOfLoopsDoNotSeeSizes) {
  for (const char* op : {"Shape", "Size"}) {
    Model model;
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
    EXPECT_NE(refusal(model.add("Loop", {"two", "", "start"}, {"y"}, std::move(body))), "");
  }
}

TEST(CountedRows, ThereMustBeRoom) {
  const Model model;
  const auto traced =
      trace(model.proto(), ports(4, 4), {}, {.cache = {&kPair, 1}, .fresh_rows = 4});
  ASSERT_FALSE(traced);
  EXPECT_NE(traced.error().message.find("no room"), std::string::npos);
}

}  // namespace
}  // namespace lathe::onnx
