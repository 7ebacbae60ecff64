// A program outside the repository: defines a network, compiles it, checks the module, writes it.
#include <cstdio>
#include <string>

// Whatever others call so is theirs: no header of ours may touch it.
#define CHECK(condition) static_assert(false, "CHECK is not ours")
#define TRY CHECK
#define NODE CHECK
#define LAYER CHECK
#define LOSS CHECK
#define DTYPE CHECK
#define KIND CHECK
#define SEED CHECK
#define TERNARY CHECK
#define ONNX_TYPE CHECK
#include <lathe/lathe.h>
#ifndef SEED
#error "a header of ours has undefined a macro of others"
#endif
#ifdef ASSIGN_OR_RETURN
#error "ASSIGN_OR_RETURN is not ours"
#endif
static_assert(LATHE_VERSION_MAJOR >= 0);

namespace nn = lathe::nn;

// An ONNX model, y = relu(x), made one module.
static lathe::Status compile_onnx() {
#if __has_include(<lathe/onnx.h>)
  namespace onnx = lathe::onnx;
  onnx::ModelProto model;
  model.sets = {{"", 17}};
  const onnx::TypeProto type{
      onnx::TypeProto::Kind::Tensor, onnx::Type::Float32, true, {{3, {}}}, {}};
  model.graph.inputs = {{"x", type}};
  model.graph.outputs = {{"y", type}};
  onnx::NodeProto relu;
  relu.op_type = "Relu";
  relu.inputs = {"x"};
  relu.outputs = {"y"};
  model.graph.nodes = {relu};
  LATHE_ASSIGN_OR_RETURN(const auto ports, onnx::ports_of(model, {}));
  LATHE_ASSIGN_OR_RETURN(const auto executable, onnx::compile_module(model, ports));
  return lathe::wasm::validate(*lathe::wasm::decode(executable.module()));
#else
  return {};
#endif
}

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
  const std::string folder = std::string(path) + ".saved";
  LATHE_TRY(lathe::models::save_model(folder, {model, nn::initial_states(model.weights(), 1)}));
  LATHE_ASSIGN_OR_RETURN(const auto saved, lathe::models::load_model(folder));
  LATHE_TRY(lathe::models::export_module(saved));
  return compile_onnx();
}

int main(int, char** words) {
  const auto status = build(words[1]);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
