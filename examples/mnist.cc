// Builds a 784-128-10 classifier with the C++ API, prints the graph of a training step, and writes
// the module that holds its forward and backward pass, loss, accuracy and optimiser step:
// OUTPUT_DIRECTORY/mnist.wasm and mnist.wat.
#include <cstdio>
#include <string>

#include "compile/compile.h"
#include "graph/print.h"
#include "nn/dense.h"
#include "nn/training.h"
#include "wasm/decode.h"
#include "wasm/print.h"

namespace nn = lathe::nn;

namespace {

bool write(const std::string& path, const void* data, size_t size) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool complete = std::fwrite(data, 1, size, file) == size;
  return std::fclose(file) == 0 && complete;
}

lathe::Status build(const std::string& directory) {
  nn::Sequential model("mnist");
  model.add(nn::dense({.units = 128, .activation = "relu", .input_shape = {784}}));
  model.add(nn::dense({.units = 10, .activation = "softmax"}));

  ASSIGN_OR_RETURN(const auto program,
                   nn::build_program(model, {.loss = "softmaxCrossEntropy",
                                             .optimizer = {"adam", {{"learningRate", 0.001}}},
                                             .labels = nn::Labels::Sparse}));
  std::puts(lathe::graph::print(program.entries.front()).c_str());

  ASSIGN_OR_RETURN(const auto executable, lathe::compile::compile(program, {}));
  ASSIGN_OR_RETURN(const auto module, lathe::wasm::decode(executable.module));
  const std::string text = lathe::wasm::print(module);
  if (!write(directory + "/mnist.wasm", executable.module.data(), executable.module.size()) ||
      !write(directory + "/mnist.wat", text.data(), text.size())) {
    return lathe::fail("cannot write to " + directory);
  }
  std::printf("%s/mnist.wasm: %zu bytes\n", directory.c_str(), executable.module.size());
  return {};
}

}  // namespace

int main(int count, char** words) {
  const auto status = build(count > 1 ? words[1] : ".");
  if (!status) std::fprintf(stderr, "mnist: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
