// mnist OUTPUT_DIRECTORY [cnn]: builds a 784-128-10 classifier, or a convolutional network, with
// the C++ API, prints the graph of a training step, and writes mnist.wasm and mnist.wat: the module
// with its initial weights, forward and backward pass, loss, accuracy, confusion matrix and
// optimiser step inside; and mnist.mjs, which drives it. train_module.mjs trains it on MNIST.
#include <lathe/compile.h>
#include <lathe/graph.h>
#include <lathe/nn.h>
#include <lathe/wasm.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace nn = lathe::nn;

namespace {

lathe::Status write(const std::string& path, const void* data, size_t size) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return lathe::fail("cannot write " + path);
  const bool complete = std::fwrite(data, 1, size, file) == size;
  if (std::fclose(file) != 0 || !complete) return lathe::fail("cannot write " + path);
  return {};
}

nn::Sequential dense_network() {
  nn::Sequential model("mnist");
  model.add(nn::dense({.units = 128, .activation = "relu", .input_shape = {784}}));
  model.add(nn::dense({.units = 10, .activation = "softmax"}));
  return model;
}

nn::Sequential convolutional_network() {
  nn::Sequential model("mnist");
  model.add(nn::conv2d(
      {.filters = 16, .kernel_size = 3, .activation = "relu", .input_shape = {28, 28, 1}}));
  model.add(nn::max_pooling2d({}));
  model.add(nn::conv2d({.filters = 32, .kernel_size = 3, .activation = "relu"}));
  model.add(nn::max_pooling2d({}));
  model.add(nn::flatten({}));
  model.add(nn::dense({.units = 64, .activation = "relu"}));
  model.add(nn::dense({.units = 10, .activation = "softmax"}));
  return model;
}

lathe::Status build(const std::string& directory, bool convolves) {
  const nn::Sequential model = convolves ? convolutional_network() : dense_network();
  const nn::TrainingOptions training{.loss = "softmaxCrossEntropy",
                                     .optimizer = {"adam", {{"learningRate", 0.001}}},
                                     .labels = nn::Labels::Sparse,
                                     .batch = {.train = 64, .evaluate = 250, .predict = 100},
                                     .metrics = {{"confusionMatrix"}},
                                     .standalone = true};
  LATHE_ASSIGN_OR_RETURN(const auto program, nn::build_program(model, training));
  std::puts(lathe::graph::print(program.entries.front()).c_str());

  lathe::compile::Options options;
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  options.contents = nn::contents_of(nn::initial_states(variables, model.seed()));
  LATHE_ASSIGN_OR_RETURN(const auto executable, lathe::compile::compile(program, options));
  const std::vector<uint8_t> bytes = executable.module();
  LATHE_ASSIGN_OR_RETURN(const auto module, lathe::wasm::decode(bytes));
  const std::string text = lathe::wasm::print(module);
  LATHE_TRY(write(directory + "/mnist.wasm", bytes.data(), bytes.size()));
  LATHE_TRY(write(directory + "/mnist.wat", text.data(), text.size()));
  const std::string driver = lathe::compile::training_driver("mnist.wasm");
  LATHE_TRY(write(directory + "/mnist.mjs", driver.data(), driver.size()));
  std::printf("%s/mnist.wasm: %zu bytes\n", directory.c_str(), bytes.size());
  return {};
}

}  // namespace

int main(int count, char** words) {
  const bool convolves = count > 2 && std::string_view(words[2]) == "cnn";
  const auto status = build(count > 1 ? words[1] : ".", convolves);
  if (!status) std::fprintf(stderr, "mnist: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
