// A program outside the repository: defines a network, compiles it, checks the module, writes it.
#include <cstdio>

#include "lathe/compile/compile.h"
#include "lathe/nn/dense.h"
#include "lathe/nn/training.h"
#include "lathe/wasm/decode.h"
#include "lathe/wasm/validate.h"

namespace nn = lathe::nn;

static lathe::Status build(const char* path) {
  nn::Sequential model("or_gate");
  model.add(nn::dense({.units = 2, .activation = "sigmoid", .input_shape = {2}}));
  model.add(nn::dense({.units = 1, .activation = "sigmoid"}));
  const nn::TrainingOptions training{.loss = "meanSquaredError", .optimizer = "sgd"};
  LATHE_ASSIGN_OR_RETURN(const auto program, nn::build_program(model, training));
  LATHE_ASSIGN_OR_RETURN(const auto executable, lathe::compile::compile(program, {}));
  const std::vector<uint8_t> bytes = executable.module();
  LATHE_ASSIGN_OR_RETURN(const auto module, lathe::wasm::decode(bytes));
  LATHE_TRY(lathe::wasm::validate(module));
  if (executable.entries.size() != 4) return lathe::fail("four entries are due");
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return lathe::fail("cannot write");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return {};
}

int main(int, char** words) {
  const auto status = build(words[1]);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
