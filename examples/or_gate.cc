// Trains the OR gate: two inputs, two hidden units, one output, all sigmoid. Runs the graph itself
// with the evaluator, so it needs no engine for WebAssembly. Prints its loss and what it has
// learnt, and saves the model: or_gate [FOLDER].
#include <lathe/graph.h>
#include <lathe/models.h>
#include <lathe/nn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nn = lathe::nn;
using lathe::graph::Array;

namespace {

constexpr std::array<float, 8> kInputs = {0, 0, 0, 1, 1, 0, 1, 1};
constexpr std::array<float, 4> kOutputs = {0, 1, 1, 1};
constexpr std::array<int32_t, 1> kRows = {4};

float first(const Array& array) {
  float value = 0;
  std::memcpy(&value, array.data.data(), sizeof value);
  return value;
}

lathe::Status train(const char* folder) {
  nn::Sequential model("or_gate", 1);
  model.add(nn::dense({.units = 2, .activation = "sigmoid", .input_shape = {2}}));
  model.add(nn::dense({.units = 1, .activation = "sigmoid"}));
  const nn::TrainingOptions training{.loss = "sigmoidCrossEntropy",
                                     .optimizer = {"adam", {{"learningRate", 0.1}}},
                                     .batch = {.train = 4}};
  LATHE_ASSIGN_OR_RETURN(const auto program, nn::build_program(model, training));
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  nn::States states = nn::initial_states(variables, model.seed());
  const auto entry = [&](std::string_view name) {
    return *std::ranges::find(program.entries, name, &lathe::graph::Graph::name);
  };
  const lathe::graph::Graph train = entry("train"), predict = entry("predict_1");

  const std::map<std::string, Array> batch = {{"x", Array::of({4, 2}, kInputs)},
                                              {"y", Array::of({4, 1}, kOutputs)},
                                              {"rows", Array::of({}, kRows)}};
  for (int step = 1; step <= 200; ++step) {
    LATHE_ASSIGN_OR_RETURN(const auto outputs, lathe::graph::evaluate(train, batch, states));
    if (step % 50 == 0) std::printf("step %3d  loss %.4f\n", step, first(outputs.at("loss")));
  }
  bool is_learnt = true;
  for (size_t row = 0; row < 4; ++row) {
    const std::array<float, 2> x = {kInputs[2 * row], kInputs[2 * row + 1]};
    const std::map<std::string, Array> input = {{"x", Array::of({1, 2}, x)}};
    LATHE_ASSIGN_OR_RETURN(const auto outputs, lathe::graph::evaluate(predict, input, states));
    const float y = first(outputs.at("y"));
    std::printf("%g or %g = %.3f\n", x[0], x[1], y);
    is_learnt &= std::round(y) == kOutputs[row];
  }
  if (!is_learnt) return lathe::fail("the gate is not learnt");
  return folder == nullptr ? lathe::Status() : lathe::models::save_model(folder, {model, states});
}

}  // namespace

int main(int, char** words) {
  const auto status = train(words[1]);
  if (!status) std::fprintf(stderr, "or_gate: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
