// Graphs encoded in word streams: results, and that no input
// breaks more than itself.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "graph_words.h"

namespace lathe::api_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A graph with the inputs 1: f32[2,3] and 2: f32[3,4].
int32_t two_inputs() {
  const int32_t graph = lathe_graph_create();
  EXPECT_EQ(lathe_graph_entry(graph, "run", 3), 1);
  EXPECT_EQ(number(input(graph, text("x"), f32({2, 3}))), 1);
  EXPECT_EQ(number(input(graph, text("y"), f32({3, 4}))), 2);
  return graph;
}

// How `count` values of rank 2 are answered.
Words answered(const double* answer, size_t count = 1) {
  EXPECT_NE(answer, nullptr) << lathe_error();
  return answer == nullptr ? Words() : Words(answer, answer + 5 * count);
}

std::string error_of(int32_t graph, const Words& words) {
  EXPECT_EQ(add(graph, words), nullptr);
  return lathe_error();
}

TEST(Graphs, AnswerNumberAndTypeOfValues) {
  const int32_t graph = two_inputs();
  const double kF32 = index_in("dtypes", "f32");
  EXPECT_EQ(answered(add(graph, operation("matMul", {1, 2}))), (Words{3, kF32, 2, 2, 4}));
  const Words flags = {tag("absent"), tag("true")};
  EXPECT_EQ(answered(add(graph, operation("matMul", {1, 1}, flags))), (Words{4, kF32, 2, 2, 2}));
  const Words keepdims = {tag("null"), tag("true")};
  const Words sum = answered(add(graph, operation("sum", {1}, keepdims)));
  EXPECT_EQ((Words(sum.begin() + 1, sum.end())), (Words{kF32, 2, 1, 1}));
  const Words i32 = {tag("number"), index_in("dtypes", "i32")};
  EXPECT_EQ(answered(add(graph, operation("cast", {2}, i32)))[1], index_in("dtypes", "i32"));
  const int32_t loss = number(add(graph, operation("mean", {3})));
  const Words wrt = {0, static_cast<double>(loss), 2, 1};
  const Words both = answered(lathe_graph_gradients(graph, wrt.data(), wrt.size()), 2);
  EXPECT_EQ((Words(both.begin() + 1, both.begin() + 5)), (Words{kF32, 2, 3, 4}));
  EXPECT_EQ((Words(both.begin() + 6, both.end())), (Words{kF32, 2, 2, 3}));
  // Targets of any shape, each with a factor of its type.
  const Words pulled = {1, 2, 2, 2};
  EXPECT_EQ((answered(lathe_graph_gradients(graph, pulled.data(), pulled.size())))[1], kF32);
  const Words odd = {1, 2, 1, 2};
  EXPECT_EQ(lathe_graph_gradients(graph, odd.data(), odd.size()), nullptr);
  EXPECT_NE(std::string(lathe_error()).find("their types must be the same"), std::string::npos);
  const double two[] = {2, 1};
  EXPECT_EQ(answered(lathe_graph_values(graph, two, 2), 2),
            (Words{2, kF32, 2, 3, 4, 1, kF32, 2, 2, 3}));
  EXPECT_NE(lathe_graph_values(graph, nullptr, 0), nullptr);
  lathe_graph_free(graph);
}

TEST(Graphs, RejectInvalidOperands) {
  const int32_t graph = two_inputs();
  const auto error_of_operation = [graph](const char* name, const Words& operands,
                                          const Words& values = {}) {
    return error_of(graph, operation(name, operands, values));
  };
  EXPECT_EQ(error_of_operation("matMul", {1}), "matMul: expects 2 tensors, got 1");
  EXPECT_EQ(error_of_operation("concat", {}), "concat: expects 1 or more tensors, got 0");
  EXPECT_EQ(error_of_operation("relu", {1}, {tag("null")}),
            "relu: expects 0 arguments after its tensors");
  EXPECT_EQ(error_of_operation("add", {1, 3}), "there is no value 3 in entry \"run\"");
  EXPECT_EQ(error_of_operation("add", {1, 2}),
            "add: shapes [2,3] [3,4] do not broadcast (2 against 3; sizes must be equal or 1)");
  EXPECT_EQ(error_of_operation("reshape", {1}), "reshape.shape: is missing");
  EXPECT_EQ(error_of_operation("reshape", {1}, list({2, 1.5})),
            "reshape.shape: must be an integer or an array of integers, got 1.5");
  EXPECT_EQ(error_of_operation("leakyRelu", {1}, {tag("number"), kNaN}),
            "leakyRelu.alpha: must be a finite number, got NaN");
  EXPECT_EQ(error_of_operation("leakyRelu", {1}, text("hi")),
            "leakyRelu.alpha: must be a number, got \"hi\"");
  EXPECT_EQ(error_of_operation("leakyRelu", {1}, {tag("object")}),
            "leakyRelu.alpha: must be a number, got an object");
  EXPECT_EQ(error_of_operation("cast", {1}, {tag("number"), 1000}),
            "cast.dtype: there is no dtype 1000");
  EXPECT_EQ(number(add(graph, operation("neg", {1}))), 3);
  lathe_graph_free(graph);
}

TEST(Graphs, RejectMalformedWords) {
  const int32_t graph = two_inputs();
  EXPECT_EQ(error_of(graph, {}), "operation: words are missing");
  EXPECT_EQ(error_of(graph, {1e9, 0}), "there is no operation 1000000000");
  EXPECT_EQ(error_of(graph, {-1, 0}), "there is no operation -1");
  EXPECT_EQ(error_of(graph, {0.5}), "operation: 0.5 is no 32-bit integer");
  EXPECT_EQ(error_of(graph, {0}), "add: words are missing");
  EXPECT_EQ(error_of(graph, {0, 2e9, 1}), "add: words are missing");
  EXPECT_EQ(error_of(graph, {0, -2}), "add: -2 is no count");
  EXPECT_EQ(error_of(graph, {0, 2, 1, std::ldexp(1, 32) + 1}),
            "add: 4294967297 is no 32-bit integer");
  EXPECT_EQ(error_of(graph, {0, 2, 1, kNaN}), "add: nan is no 32-bit integer");
  const Words reshape = operation("reshape", {1});
  for (const double none : {-1.0, 256.0, 1000.0}) {
    EXPECT_EQ(error_of(graph, reshape + Words{none}).find("reshape.shape: there is no tag"), 0u);
  }
  EXPECT_EQ(error_of(graph, reshape + Words{tag("list"), 1e9}), "reshape: words are missing");
  EXPECT_EQ(error_of(graph, reshape + Words{tag("number")}), "reshape: words are missing");
  Words nested = reshape;
  for (int depth = 0; depth < 100'000; ++depth) nested.insert(nested.end(), {tag("list"), 1});
  EXPECT_EQ(error_of(graph, nested + Words{tag("null")}), "reshape.shape: too many lists in lists");
  const Words type = f32({2});
  EXPECT_EQ(input(graph, text("z"), type + Words{0}), nullptr);
  EXPECT_EQ(std::string(lathe_error()), "input: 1 words too many");
  EXPECT_EQ(input(graph, text("z"), {99, type[1], 0}), nullptr);
  EXPECT_EQ(std::string(lathe_error()), "input: there is no dtype 99");
  EXPECT_EQ(input(graph, {tag("number"), 7}, type), nullptr);
  EXPECT_EQ(std::string(lathe_error()), "input.name: must be a string, got 7");
  EXPECT_EQ(number(add(graph, operation("neg", {1}))), 3);
  lathe_graph_free(graph);
}

double number_of_body(int32_t graph, double operand, std::string_view operation_name) {
  EXPECT_EQ(lathe_graph_begin_body(graph), 1);
  const double result = number(add(graph, operation(operation_name, {operand})));
  EXPECT_LT(result, 0);
  EXPECT_EQ(lathe_graph_output(graph, "y", 1, static_cast<int32_t>(result)), 1);
  return lathe_graph_end_body(graph);
}

TEST(Graphs, AcceptBodiesOfBranches) {
  const int32_t graph = two_inputs();
  const Words truth = Words{index_in("dtypes", "bool")} + list({});
  const double p = number(input(graph, text("p"), truth));
  const double then = number_of_body(graph, 1, "exp"), otherwise = number_of_body(graph, 1, "neg");
  const Words words = {p, then, otherwise};
  const double* y = lathe_graph_cond(graph, words.data(), words.size());
  ASSERT_NE(y, nullptr) << lathe_error();
  EXPECT_GT(number(y), 0);
  EXPECT_EQ(lathe_graph_cond(graph, words.data(), words.size()), nullptr);  // they are used up
  EXPECT_EQ(lathe_graph_end_body(graph), 0);
  EXPECT_EQ(std::string(lathe_error()), "no body of a branch or loop has begun");
  lathe_graph_begin_body(graph);
  const double inside = number(add(graph, operation("neg", {1})));
  lathe_graph_end_body(graph);
  EXPECT_EQ(add(graph, operation("neg", {inside})), nullptr);
  EXPECT_NE(std::string(lathe_error()).find("has ended"), std::string::npos) << lathe_error();
  lathe_graph_free(graph);
}

// Sound words with some of them changed, left out or doubled.
TEST(Graphs, AnswerAnyWords) {
  std::mt19937 random(1);
  const auto below = [&random](size_t count) { return random() % count; };
  const Words seeds[] = {
      operation("matMul", {1, 2}, {tag("false"), tag("absent")}),
      operation("sum", {1}, list({0, 1}) + Words{tag("true")}),
      operation("slice", {1}, list({0, 1}) + list({2, 2})),
      operation("pad", {1}, Words{tag("list"), 2} + list({1, 1}) + list({0, 2})),
      operation("concat", {1, 1, 1}, {tag("number"), 1}),
      operation("cast", {2}, {tag("number"), 0}),
      operation("reshape", {1}, list({3, -1})),
  };
  const double odd[] = {0, 1, 2, 3, 7, -1, 0.5, 255, 1e9, 3e9, -1e300, kNaN, INFINITY};
  for (int round = 0; round < 500; ++round) {
    const int32_t graph = two_inputs();
    for (int i = 0; i < 100; ++i) {
      Words words = seeds[below(std::size(seeds))];
      if (below(2) == 0) words[0] = static_cast<double>(below(tables()["operations"].size()));
      for (size_t changes = below(4); changes > 0 && !words.empty(); --changes) {
        const auto at = words.begin() + static_cast<std::ptrdiff_t>(below(words.size()));
        switch (below(4)) {
          case 0:
            *at = odd[below(std::size(odd))];
            break;
          case 1:
            words.erase(at);
            break;
          case 2:
            words.insert(at, odd[below(std::size(odd))]);
            break;
          default:
            words.erase(at, words.end());
        }
      }
      if (add(graph, words) == nullptr) {
        EXPECT_NE(std::string(lathe_error()), "");
      }
      input(graph, below(2) == 0 ? text("z") : Words(), words);
      lathe_graph_gradients(graph, words.data(), words.size());
      lathe_graph_values(graph, words.data(), words.size());
      if (below(10) == 0) lathe_graph_begin_body(graph);
      if (below(10) == 0) lathe_graph_end_body(graph);
      const double samples[] = {1, 2, 3, 4, -1, -2, 1, 2, odd[below(std::size(odd))]};
      Words numbers(3 + below(3));
      for (double& each : numbers) each = samples[below(std::size(samples))];
      lathe_graph_cond(graph, numbers.data(), numbers.size());
      lathe_graph_while(graph, numbers.data(), numbers.size());
    }
    while (lathe_graph_end_body(graph) != 0) {
    }
    EXPECT_NE(number(add(graph, operation("neg", {1}))), 0);
    lathe_graph_free(graph);
  }
}

}  // namespace
}  // namespace lathe::api_test
