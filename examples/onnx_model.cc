// Compiles an ONNX model: onnx_model MODEL.onnx OUT.wasm [SIZE=N …], where SIZE is a name that the
// model has for a size. Without arguments it writes down a model of its own, runs that slowly, by
// the meaning of its graph, and compiles it.
#include <lathe/onnx.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onnx = lathe::onnx;

namespace {

onnx::ValueInfo tensor(std::string name) {
  onnx::TypeProto type{.kind = onnx::TypeProto::Kind::Tensor, .has_shape = true};
  type.shape = {{.name = "rows"}, {.value = 2}};
  return {std::move(name), std::move(type)};
}

// y = relu(x + bias)
onnx::ModelProto small_model() {
  onnx::ModelProto model;
  model.sets = {{"", 17}};
  onnx::GraphProto& graph = model.graph;
  graph.inputs.push_back(tensor("x"));
  graph.outputs.push_back(tensor("y"));
  const auto bias = onnx::numbers_content(onnx::Type::Float32, {2}, {1, -1});
  graph.initializers.push_back({.name = "bias", .content = bias});
  onnx::NodeProto add, relu;
  add.op_type = "Add";
  add.inputs = {"x", "bias"};
  add.outputs = {"sum"};
  relu.op_type = "Relu";
  relu.inputs = {"sum"};
  relu.outputs = {"y"};
  graph.nodes = {add, relu};
  return model;
}

lathe::Status compile(const onnx::ModelProto& model, const onnx::InputBindings& sizes,
                      const char* path) {
  const onnx::Summary summary = onnx::summary_of(model);
  for (const onnx::OperatorCount& each : summary.operators) {
    std::printf("%s of version %d: %d\n", each.name.c_str(), static_cast<int>(each.version),
                static_cast<int>(each.nodes));
  }
  LATHE_ASSIGN_OR_RETURN(const auto ports, onnx::ports_of(model, sizes));
  LATHE_ASSIGN_OR_RETURN(const auto executable, onnx::compile_module(model, ports));
  const std::vector<uint8_t> bytes = executable.module();
  std::printf("a module of %d bytes\n", static_cast<int>(bytes.size()));
  if (path == nullptr) return {};
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return lathe::fail(std::string("cannot write ") + path);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return {};
}

lathe::Status run_small_model() {
  const onnx::ModelProto model = small_model();
  const std::array<onnx::Data, 1> inputs = {
      onnx::numbers_content(onnx::Type::Float32, {2, 2}, {1, 2, -3, 0.5})};
  LATHE_ASSIGN_OR_RETURN(const auto results, onnx::run(model, inputs));
  const onnx::Content& y = *results[0].constant;
  const std::array<double, 4> wanted = {2, 1, 0, 0};
  for (int64_t k = 0; k < y.count(); ++k) {
    std::printf("%g ", y.number(k));
    if (y.number(k) != wanted[static_cast<size_t>(k)]) return lathe::fail("the result is wrong");
  }
  std::printf("\n");
  return compile(model, {.sizes = {{"rows", 2}}}, nullptr);
}

lathe::Status compile_file(std::span<char*> words) {
  LATHE_ASSIGN_OR_RETURN(const auto model, onnx::load_model(words[1]));
  onnx::InputBindings sizes;
  for (const std::string_view word : words.subspan(3)) {
    const size_t at = word.find('=');
    if (at == word.npos) return lathe::fail("wants SIZE=N");
    sizes.sizes[std::string(word.substr(0, at))] = std::atoi(word.data() + at + 1);
  }
  return compile(model, sizes, words[2]);
}

}  // namespace

int main(int count, char** words) {
  const std::span<char*> all(words, static_cast<size_t>(count));
  const auto status = count < 3 ? run_small_model() : compile_file(all);
  if (!status) std::fprintf(stderr, "onnx_model: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
