// Trains a network with the graph evaluator only and prints the loss of each step: the reference
// for compiled training. Usage: evaluate_losses LAYERS UNITS STEPS WEIGHTS BATCHES The network is
// 784-UNITS x LAYERS-10, sigmoid, softmax cross-entropy, SGD 0.02, batch 64. WEIGHTS contains the
// f32 weights one after the other in the order of the layers; BATCHES contains, for each step, x
// [64, 784] and y [64, 10].
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/training/training.h"

namespace {

using namespace lathe;

constexpr int64_t kBatch = 64;

std::vector<float> read_floats(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> numbers(file ? static_cast<size_t>(file.tellg()) / sizeof(float) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(float)));
  return numbers;
}

// Reads the next array of a stream of numbers.
Result<graph::Array> read_array(std::span<const float>& stream, const graph::Shape& shape) {
  const auto count = static_cast<size_t>(graph::element_count(shape));
  if (stream.size() < count) return fail("the file has too few numbers");
  graph::Array array = graph::Array::of(shape, stream.first(count));
  stream = stream.subspan(count);
  return array;
}

Status train(int layers, int64_t units, int steps, std::span<const float> weights,
             std::span<const float> batches) {
  nn::Sequential model("parity");
  for (int i = 0; i < layers; ++i) {
    nn::DenseOptions options{.units = units, .activation = "sigmoid"};
    if (i == 0) options.input_shape = {784};
    model.add(nn::dense(options));
  }
  model.add(nn::dense({.units = 10}));
  const nn::TrainingOptions training{.loss = "softmaxCrossEntropy",
                                     .optimizer = {"sgd", {{"learningRate", 0.02}}},
                                     .batch = {.train = kBatch}};
  LATHE_ASSIGN_OR_RETURN(const graph::Program program, nn::build_program(model, training));
  LATHE_ASSIGN_OR_RETURN(const std::vector<nn::Variable> variables, nn::variables(model, training));

  std::map<std::string, graph::Array> states;
  for (const nn::Variable& weight : model.weights()) {
    LATHE_ASSIGN_OR_RETURN(states[weight.name], read_array(weights, weight.shape));
  }
  const float rate = 0.02f;
  states["optimizer/learning_rate"] = graph::Array::of({}, std::span(&rate, 1));
  std::map<std::string, graph::Array> inputs;
  const int32_t rows = kBatch;
  inputs["rows"] = graph::Array::of({}, std::span(&rows, 1));
  for (int step = 0; step < steps; ++step) {
    LATHE_ASSIGN_OR_RETURN(inputs["x"], read_array(batches, {kBatch, 784}));
    LATHE_ASSIGN_OR_RETURN(inputs["y"], read_array(batches, {kBatch, 10}));
    LATHE_ASSIGN_OR_RETURN(const graph::Outputs outputs,
                           graph::evaluate(program.entries[0], inputs, states));
    std::printf("%.9g\n", outputs.at("loss")[0].as_double());
  }
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    std::fprintf(stderr, "usage: evaluate_losses LAYERS UNITS STEPS WEIGHTS BATCHES\n");
    return 2;
  }
  const std::vector<float> weights = read_floats(words[4]), batches = read_floats(words[5]);
  const Status status =
      train(std::atoi(words[1]), std::atoi(words[2]), std::atoi(words[3]), weights, batches);
  if (!status) std::fprintf(stderr, "evaluate_losses: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
