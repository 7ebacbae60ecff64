// What small files claim: sizes, counts and lengths that no memory and no time is spent on.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/trace/trace.h"
#include "operate.h"

namespace lathe::onnx {
namespace {

using formats::ProtobufWriter;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Node vectorizer() {
  return Node("TfIdfVectorizer", 9)
      .with("mode", std::string("TF"))
      .with("ngram_counts", std::vector<int64_t>{0})
      .with("pool_int64s", std::vector<int64_t>{1, 2})
      .with("min_gram_length", int64_t{1});
}

TEST(Limits, GramsAreNoLongerThanRows) {
  const std::vector inputs = {typed(Type::Int64, {4}, {1, 2, 1, 3})};
  const Node grams = vectorizer()
                         .with("ngram_indexes", std::vector<int64_t>{0, 1})
                         .with("max_gram_length", kMax)
                         .with("max_skip_count", kMax);
  EXPECT_EQ(numbers_of(grams, inputs), (Numbers{2, 1}));
  const std::vector many = {typed(Type::Int64, {1 << 12, 1}, Numbers(1 << 12))};
  const Node wide = vectorizer()
                        .with("ngram_indexes", std::vector<int64_t>{0, (1 << 24) - 1})
                        .with("max_gram_length", int64_t{1})
                        .with("max_skip_count", int64_t{0});
  EXPECT_TRUE(contains(message_of(wide, many), "4096 rows"));
}

TEST(Limits, RegionsBeyondAllMemory) {
  ModelProto model;
  model.sets[""] = 16;
  NodeProto align;
  align.op_type = "RoiAlign";
  align.inputs = {"x", "rois", "batches"};
  align.outputs = {"y"};
  for (const auto& [name, value] : {std::pair{"mode", "max"}}) {
    AttributeProto& attribute = align.attributes.emplace_back();
    attribute.kind = AttributeProto::Kind::String;
    attribute.name = name;
    attribute.string = value;
  }
  AttributeProto& ratio = align.attributes.emplace_back();
  ratio.kind = AttributeProto::Kind::Int;
  ratio.name = "sampling_ratio";
  ratio.integer = 1;
  model.graph.nodes.push_back(align);
  for (const char* name : {"x", "rois", "batches"}) model.graph.inputs.push_back({name, {}});
  model.graph.outputs.push_back({"y", {}});
  const auto port = [](Type type, Shape shape) {
    return Port{.kind = Value::Kind::Tensor, .type = type, .shape = std::move(shape)};
  };
  const std::vector ports = {port(Type::Float32, {1, 64, 1 << 12, 1 << 12}),
                             port(Type::Float32, {1 << 20, 4}), port(Type::Int64, {1 << 20})};
  EXPECT_FALSE(trace(model, ports, {}));
}

TEST(Limits, InputsOfNoShapeAreNamed) {
  ModelProto model;
  model.sets[""] = 21;
  model.graph.inputs = {{"large", {}}};
  model.graph.outputs = {{"large", {}}};
  for (const Shape& shape : {Shape{kMax, 2}, Shape{-3}, Shape(40, 1)}) {
    const std::vector ports = {Port{.kind = Value::Kind::Tensor, .shape = shape}};
    const auto traced = trace(model, ports, {});
    ASSERT_FALSE(traced);
    EXPECT_TRUE(contains(traced.error().message, "input 'large'")) << traced.error().message;
  }
}

TEST(Limits, ScalesOfResizeAreAsManyAsAxes) {
  const Node resize = Node("Resize", 19).with("mode", std::string("nearest"));
  const auto message =
      message_of(resize, {floats({2}, {1, 2}), Value{}, floats({1000}, Numbers(1000, 1))});
  EXPECT_TRUE(contains(message, "up to 1 numbers, is float32[1000]")) << message;
}

TEST(Limits, NewSizesOfResize) {
  const auto sized = [](Shape shape, double size, bool antialias) {
    Node resize = Node("Resize", 19).with("mode", std::string("linear"));
    if (antialias) resize.with("antialias", int64_t{1});
    const auto count = graph::element_count(shape);
    const Value x = floats(std::move(shape), Numbers(static_cast<size_t>(count), 1));
    return std::pair{resize, std::vector{x, Value{}, Value{}, typed(Type::Int64, {1}, {size})}};
  };
  const auto [none, of_none] = sized({3}, 0, false);
  EXPECT_TRUE(contains(message_of(none, of_none), "cannot have size 0"));
  const auto [long_one, of_long] = sized({3}, 0x1p23, false);
  EXPECT_TRUE(contains(message_of(long_one, of_long), "cannot have size"));
  const auto [smooth, of_smooth] = sized({1 << 14}, 1 << 13, true);
  EXPECT_TRUE(contains(message_of(smooth, of_smooth), "too many weights"));
  Node tiny = Node("Resize", 19).with("mode", std::string("nearest"));
  EXPECT_EQ(numbers_of(tiny, {floats({3}, {1, 2, 3}), Value{}, floats({1}, {0.1})}), Numbers{});
}

TEST(Limits, PaddingsAndConditions) {
  const Node pad = Node("Pad", 21).with("mode", std::string("constant"));
  for (const double far : {-0x1p63, 0x1p62}) {
    EXPECT_NE(message_of(pad, {floats({3}, {1, 2, 3}), typed(Type::Int64, {2}, {0, far})}), "");
  }
  ModelProto model;
  model.sets[""] = 21;
  GraphProto body;
  body.inputs = {{"i", {}}, {"go", {}}, {"v", {}}};
  body.outputs = {{"none", {}}, {"v", {}}, {"v", {}}};
  NodeProto loop;
  loop.op_type = "Loop";
  loop.inputs = {"", "none", "x"};
  loop.outputs = {"y", "z"};
  AttributeProto& attribute = loop.attributes.emplace_back();
  attribute.kind = AttributeProto::Kind::Graph;
  attribute.name = "body";
  attribute.graphs.push_back(std::make_shared<const GraphProto>(std::move(body)));
  model.graph.nodes.push_back(loop);
  model.graph.initializers = {{"none", *typed(Type::Bool, {0}, {}).constant}};
  model.graph.inputs = {{"x", {}}};
  model.graph.outputs = {{"y", {}}, {"z", {}}};
  const auto results = run(model, std::vector{floats({1}, {1})});
  ASSERT_FALSE(results);
  EXPECT_TRUE(contains(results.error().message, "one truth")) << results.error().message;
}

TEST(Limits, OperandsOfOtherKindsThanAnOperatorReads) {
  const Value texts(strings_content({2, 3}, {"a", "b", "c", "d", "e", "f"}));
  EXPECT_NE(message_of(Node("TensorScatter", 24), {floats({2, 3}, Numbers(6)), texts}), "");
  const Value signal = floats({1, 8, 1}, Numbers(8, 1));
  const Value step = typed(Type::Int64, {}, {2});
  EXPECT_TRUE(contains(message_of(Node("STFT", 17), {signal, step, floats({}, {1})}), "window"));
}

TEST(Limits, PartsAndNoStrings) {
  const Node split = Node("Split", 13).with("axis", int64_t{0});
  const Value none(strings_content({0, 3}, {}));
  const auto results = operate(split, {none});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->front().shape(), (Shape{0, 3}));
  Node two = split;
  two.results = 2;
  for (const Numbers& parts : {Numbers{0x1p62, -0x1p62}, {3, -1}, {1, 2}, {0, 3}}) {
    const Value of = typed(Type::Int64, {2}, parts);
    EXPECT_NE(message_of(two, {floats({2}, {1, 2}), of}), "");
  }
  EXPECT_EQ(message_of(two, {floats({2}, {1, 2}), typed(Type::Int64, {2}, {0, 2})}), "");
}

// A model whose graph has these fields.
Result<ModelProto> read(const ProtobufWriter& graph) {
  ProtobufWriter set, model;
  set.string(1, "");
  set.varint(2, 21);
  model.message(7, graph);
  model.message(8, set);
  const auto bytes = model.bytes();
  return read_model(SharedBytes(bytes.begin(), bytes.end()));
}

TEST(Limits, SparseTensorsShareOneBudget) {
  ProtobufWriter values, indices, sparse, graph;
  values.varint(1, 0);
  values.varint(2, 1);
  indices.varint(1, 0);
  indices.varint(2, 7);
  sparse.message(1, values);
  sparse.message(2, indices);
  sparse.varint(3, 1 << 25);
  for (int k = 0; k < 2; ++k) graph.message(15, sparse);
  EXPECT_TRUE(read(graph));
  graph.message(15, sparse);
  const auto model = read(graph);
  ASSERT_FALSE(model);
  EXPECT_TRUE(contains(model.error().message, "too large")) << model.error().message;
}

TEST(Limits, RejectsNegativeSizesOfInputs) {
  ProtobufWriter size, shape, tensor, type, input, graph;
  size.varint(1, static_cast<uint64_t>(int64_t{-5}));
  shape.message(1, size);
  tensor.varint(1, 1);
  tensor.message(2, shape);
  type.message(1, tensor);
  input.string(1, "x");
  input.message(2, type);
  graph.message(11, input);
  const auto model = read(graph);
  ASSERT_FALSE(model);
  EXPECT_TRUE(contains(model.error().message, "a size is -5")) << model.error().message;
}

TEST(Limits, FileOffsetsDoNotOverflow) {
  const SharedBytes file = std::vector<std::byte>(20);
  for (const int64_t offset : {kMax, kMin, int64_t{-1}, int64_t{21}}) {
    for (const int64_t length : {kMax, int64_t{-1}, int64_t{8}}) {
      TensorProto tensor;
      tensor.name = "w";
      tensor.content.shape = {2};
      tensor.external = std::make_shared<const ExternalData>("w.bin", offset, length);
      EXPECT_FALSE(external_content(tensor, file)) << offset << ' ' << length;
    }
  }
}

Node pattern(std::string text) {
  return Node("RegexFullMatch", 20).with("pattern", std::move(text));
}

std::string repeated(std::string_view text, int count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

TEST(Limits, PatternsNestAsDeepAsStacksAllow) {
  const std::vector one = {Value(strings_content({1}, {"a"}))};
  EXPECT_EQ(numbers_of(pattern("a" + repeated("*", 90000)), one), Numbers{1});
  EXPECT_EQ(numbers_of(pattern("b" + repeated("+?*", 30000)), one), Numbers{0});
  EXPECT_EQ(numbers_of(pattern(repeated("(", 250) + "a" + repeated(")", 250)), one), Numbers{1});
  for (const std::string& each :
       {repeated("(", 5000) + repeated(")", 5000), "a" + repeated("{2}", 300)}) {
    EXPECT_TRUE(contains(message_of(pattern(each), one), "more than 256 deep"));
  }
  EXPECT_EQ(numbers_of(pattern(repeated("(", 200) + repeated("){1000}", 200) + "a"), one),
            Numbers{1});
  const std::vector longer = {Value(strings_content({1}, {std::string(1 << 20, 'a')}))};
  EXPECT_TRUE(contains(message_of(pattern("(a*)*(a?){900}"), longer), "too many steps"));
}

TEST(Limits, StringsThatFollowFromAFile) {
  const Value many(strings_content({1 << 14, 1}, std::vector<std::string>(1 << 14, "a")));
  const Value across(strings_content({1, 1 << 14}, std::vector<std::string>(1 << 14, "a")));
  EXPECT_TRUE(contains(message_of(Node("StringConcat", 20), {many, across}), "268435456 bytes"));
  const Value big(strings_content({1}, {std::string(1 << 20, 'a')}));
  const Value size = typed(Type::Int64, {1}, {1000});
  EXPECT_TRUE(contains(message_of(Node("Expand", 20), {big, size}), "268435456 bytes"));
}

TEST(Limits, SequencesHaveTensors) {
  Data sequence;
  sequence.kind = Value::Kind::Sequence;
  sequence.elements = {floats({1}, {1})};
  EXPECT_TRUE(contains(message_of(Node("SequenceConstruct"), {sequence}), "is no tensor"));
  EXPECT_TRUE(contains(message_of(Node("SequenceInsert"), {sequence, sequence}), "is no tensor"));
}

}  // namespace
}  // namespace lathe::onnx
