// A layer of one's own: radial basis functions, which learn XOR. Gradients, initial weights and the
// place in the module come from the package. Runs the graph with the evaluator and writes the loss.
#include <lathe/graph.h>
#include <lathe/nn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

namespace {

namespace nn = lathe::nn;
using lathe::graph::Array;
using lathe::graph::Shape;
using lathe::graph::Tensor;

struct RadialOptions {
  int64_t units = 1;
  LATHE_LAYER_OPTIONS;
};

// [batch, n] -> [batch, units]: exp(-|x - centre|^2). Broomhead, Lowe, "Multivariable functional
// interpolation and adaptive networks", 1988.
class Radial final : public nn::UnaryLayer {
 public:
  explicit Radial(RadialOptions options) : UnaryLayer(options), units_(options.units) {}

  std::string_view class_name() const override { return "Radial"; }

  lathe::Result<nn::UnaryPlan> plan(const Shape& input) const override {
    if (input.size() != 1) {
      return lathe::fail(lathe::concat("wants examples [n], got ", lathe::bracketed(input)));
    }
    return nn::UnaryPlan{{units_}, {{"centres", {units_, input[0]}, "glorotUniform"}}};
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, nn::Context&) const override {
    const int64_t batch = x.shape()[0], width = x.shape()[1];
    const Tensor distance = x.builder->reshape(x, {batch, 1, width}) - weights[0];
    return exp(-sum(distance * distance, {2}));
  }

 private:
  int64_t units_;
};

float first(const Array& array) {
  float value = 0;
  std::memcpy(&value, array.data.data(), sizeof value);
  return value;
}

lathe::Status train() {
  nn::Sequential model("xor", 1);
  model.add(std::make_shared<Radial>(RadialOptions{.units = 4, .input_shape = {2}}));
  model.add(nn::dense({.units = 1, .activation = "sigmoid"}));
  const nn::TrainingOptions training{.loss = "binaryCrossentropy",
                                     .optimizer = {"adam", {{"learningRate", 0.1}}},
                                     .batch = {.train = 4}};
  LATHE_ASSIGN_OR_RETURN(const auto program, nn::build_program(model, training));
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  std::map<std::string, Array> states;
  for (const nn::Variable& variable : variables) {
    states[variable.name] = Array::of(variable.shape, nn::initial_value(variable, model.seed()));
  }
  constexpr std::array<float, 8> kInputs = {0, 0, 0, 1, 1, 0, 1, 1};
  constexpr std::array<float, 4> kOutputs = {0, 1, 1, 0};
  constexpr std::array<int32_t, 1> kRows = {4};
  const std::map<std::string, Array> batch = {{"x", Array::of({4, 2}, kInputs)},
                                              {"y", Array::of({4, 1}, kOutputs)},
                                              {"rows", Array::of({}, kRows)}};
  const auto entry = std::ranges::find(program.entries, "train", &lathe::graph::Graph::name);
  float loss = 1;
  for (int step = 1; step <= 200; ++step) {
    LATHE_ASSIGN_OR_RETURN(const auto outputs, lathe::graph::evaluate(*entry, batch, states));
    loss = first(outputs.at("loss"));
    if (step % 50 == 0) std::printf("step %3d  loss %.4f\n", step, loss);
  }
  return loss < 0.1F ? lathe::Status() : lathe::fail("XOR is not learnt");
}

}  // namespace

int main() {
  const auto status = train();
  if (!status) std::fprintf(stderr, "own_layer: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
