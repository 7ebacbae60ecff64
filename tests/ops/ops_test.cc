// Runs the case table on the loop interpreter against the graph evaluator, and writes each case as
// compiled modules with inputs and expected results for engines to run (run.mjs). Usage: ops_test
// OUTPUT_DIR
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "base/text.h"
#include "cases.h"
#include "compile/compile.h"
#include "grad/gradient.h"
#include "graph/evaluate.h"
#include "loop/collapse_loops.h"
#include "loop/interpret.h"
#include "loop/spell_transcendentals.h"
#include "loop/vectorise_loops.h"
#include "loop/verify.h"
#include "lower/lay_out_operands.h"
#include "lower/lower.h"
#include "opt/passes.h"

namespace lathe::ops_tests {
namespace {

using graph::Array;
using graph::DType;
using Arrays = std::map<std::string, Array>;

struct Outcome {
  Arrays outputs;
  Arrays states;
};

Array random_array(DType dtype, const graph::Shape& shape, std::mt19937& random) {
  Array array{dtype, shape, {}};
  for (int64_t i = 0; i < graph::element_count(shape); ++i) {
    const double unit = static_cast<double>(random()) / 4294967296.0;
    const scalar::Number number =
        dtype == DType::F32
            ? scalar::Number::of(static_cast<float>(4 * unit - 2))
            : scalar::Number::from(dtype, std::floor((dtype == DType::Bool ? 2 : 4) * unit));
    const auto* bytes = reinterpret_cast<const std::byte*>(&number.i);
    array.data.insert(array.data.end(), bytes, bytes + scalar::size_of(dtype));
  }
  return array;
}

// The entry `run`, and for differentiable cases `grad`: gradients of sum(output * weights) by every
// F32 input.
Result<graph::Program> build(const Case& test) {
  graph::Builder forward("run");
  test.build(forward);
  ASSIGN_OR_RETURN(graph::Graph run, std::move(forward).finish());
  graph::Program program;
  program.entries.push_back(run);
  if (!test.differentiable) return program;

  run.name = "grad";
  const std::vector<graph::Output> outputs = std::exchange(run.outputs, {});
  graph::Builder backward(std::move(run));
  graph::Tensor loss = backward.scalar(0);
  for (const graph::Output& output : outputs) {
    const graph::Tensor value{&backward, output.value};
    if (value.dtype() != DType::F32) continue;
    const graph::Tensor weights =
        backward.input(concat("weights of ", output.name), DType::F32, value.shape());
    std::vector<int> axes;
    for (int axis = 0; axis < value.rank(); ++axis) axes.push_back(axis);
    loss = loss + graph::sum(value * weights, axes);
  }
  std::vector<graph::Tensor> wrt;
  std::vector<std::string> names;
  for (size_t id = 0; id < backward.graph().nodes.size(); ++id) {
    const graph::Node& node = backward.graph().nodes[id];
    if (node.kind != graph::Kind::Input || node.dtype != DType::F32) continue;
    if (node.name.starts_with("weights of ")) continue;
    wrt.push_back({&backward, {static_cast<int32_t>(id)}});
    names.push_back(node.name);
  }
  const std::vector<graph::Tensor> gradients = grad::gradients(backward, loss, wrt);
  backward.output("loss", loss);
  for (size_t i = 0; i < names.size() && i < gradients.size(); ++i) {
    backward.output(concat("d", names[i]), gradients[i]);
  }
  ASSIGN_OR_RETURN(graph::Graph grad, std::move(backward).finish());
  program.entries.push_back(std::move(grad));
  return program;
}

void fill(const graph::Graph& graph, Arrays& inputs, Arrays& states, std::mt19937& random) {
  for (const graph::Node& node : graph.nodes) {
    if (node.kind == graph::Kind::Input && !inputs.contains(node.name)) {
      inputs[node.name] = random_array(node.dtype, node.shape, random);
    }
    if (node.kind == graph::Kind::State && !states.contains(node.name)) {
      states[node.name] = random_array(node.dtype, node.shape, random);
    }
  }
}

// The path of the compiler up to the emitter, executed by the loop interpreter.
Result<Outcome> interpret(const graph::Graph& graph, const Arrays& inputs, const Arrays& states) {
  graph::Program program;
  program.entries.push_back(graph);
  for (const opt::Pass& pass : opt::passes()) {
    program.entries[0] = pass.run(std::move(program.entries[0]));
  }
  program.entries[0] = lower::lay_out_operands(std::move(program.entries[0]));
  loop::Module module = lower::lower(program);
  TRY(loop::verify(module));
  for (loop::Kernel& kernel : module.entries[0].kernels) {
    loop::collapse_loops(kernel);
    loop::spell_transcendentals(kernel);
    loop::vectorise_loops(kernel);
  }
  TRY(loop::verify(module));
  loop::Memory memory(module);
  const auto write = [&](int32_t buffer, const Array& array) {
    std::memcpy(memory.bytes(buffer).data(), array.data.data(), array.data.size());
  };
  const loop::Entry& entry = module.entries[0];
  for (const loop::Port& port : entry.inputs) write(port.buffer, inputs.at(port.name));
  for (const loop::Port& port : module.states) write(port.buffer, states.at(port.name));
  TRY(loop::run(module, entry.name, memory));
  const auto read = [&](const loop::Port& port) {
    const auto bytes = memory.bytes(port.buffer);
    return Array{module.buffers[static_cast<size_t>(port.buffer)].dtype,
                 port.shape,
                 {bytes.begin(), bytes.end()}};
  };
  Outcome outcome;
  for (const loop::Port& port : entry.outputs) outcome.outputs[port.name] = read(port);
  for (const loop::Port& port : module.states) outcome.states[port.name] = read(port);
  return outcome;
}

double element(const Array& array, size_t index) {
  const auto size = static_cast<size_t>(scalar::size_of(array.dtype));
  const std::byte* at = array.data.data() + index * size;
  scalar::Number number;
  number.dtype = array.dtype;
  number.i = 0;
  std::memcpy(&number.i, at, size);
  return number.as_double();
}

Status compare(std::string_view what, const Array& want, const Array& got) {
  if (want.dtype != got.dtype || want.data.size() != got.data.size()) {
    return fail(concat(what, ": other dtype or size"));
  }
  const auto count = static_cast<size_t>(graph::element_count(want.shape));
  for (size_t i = 0; i < count; ++i) {
    const double w = element(want, i), g = element(got, i);
    const bool near = w == g || std::abs(w - g) <= 1e-5 + 2e-5 * std::abs(w) || (w != w && g != g);
    if (!near) return fail(concat(what, '[', i, "]: want ", w, ", got ", g));
  }
  return {};
}

std::string hex(const std::vector<std::byte>& data) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : data) {
    text += kDigits[std::to_integer<size_t>(b) >> 4];
    text += kDigits[std::to_integer<size_t>(b) & 15];
  }
  return text;
}

std::string json_arrays(const Arrays& arrays) {
  std::string out = "{";
  for (bool first = true; const auto& [name, array] : arrays) {
    append(out, first ? "" : ",", '"', name, "\":\"", hex(array.data), '"');
    first = false;
  }
  return out + '}';
}

struct Variant {
  const char* name;
  compile::Features features;
};
constexpr Variant kVariants[] = {
    {"scalar", {.simd = false, .relaxed_simd = false}},
    {"simd", {.simd = true, .relaxed_simd = false}},
    {"relaxed", {.simd = true, .relaxed_simd = true}},
};

// One line of the manifest for each entry and variant.
Status write_modules(const Case& test, const graph::Program& program, const Arrays& inputs,
                     const Arrays& states, const std::vector<Outcome>& expected,
                     const std::filesystem::path& directory, std::string& manifest) {
  for (const Variant& variant : kVariants) {
    compile::Options options;
    options.features = variant.features;
    options.verify = true;
    ASSIGN_OR_RETURN(const compile::Executable executable, compile::compile(program, options));
    const std::string file = concat(test.name, '.', variant.name, ".wasm");
    std::ofstream(directory / file, std::ios::binary)
        .write(reinterpret_cast<const char*>(executable.module.data()),
               static_cast<std::streamsize>(executable.module.size()));
    append(manifest, "{\"name\":\"", test.name, "\",\"variant\":\"", variant.name, "\",\"file\":\"",
           file, "\",\"metadata\":", compile::metadata(executable),
           ",\"inputs\":", json_arrays(inputs), ",\"states\":", json_arrays(states),
           ",\"expected\":[");
    for (size_t i = 0; i < expected.size(); ++i) {
      append(manifest, i == 0 ? "" : ",", "{\"outputs\":", json_arrays(expected[i].outputs),
             ",\"states\":", json_arrays(expected[i].states), '}');
    }
    manifest += "]}\n";
  }
  return {};
}

Status run_case(const Case& test, const std::filesystem::path& directory, std::string& manifest) {
  ASSIGN_OR_RETURN(const graph::Program program, build(test));
  std::mt19937 random(17);
  Arrays inputs, states;
  for (const graph::Graph& entry : program.entries) fill(entry, inputs, states, random);
  std::vector<Outcome> expected;
  for (const graph::Graph& entry : program.entries) {
    Outcome& want = expected.emplace_back();
    want.states = states;
    ASSIGN_OR_RETURN(want.outputs, graph::evaluate(entry, inputs, want.states));
    ASSIGN_OR_RETURN(Outcome got, interpret(entry, inputs, states));
    for (const auto& [name, array] : want.outputs) {
      TRY(compare(concat(entry.name, '.', name), array, got.outputs[name]));
    }
    for (const auto& [name, array] : got.states) TRY(compare(name, want.states[name], array));
  }
  return write_modules(test, program, inputs, states, expected, directory, manifest);
}

}  // namespace
}  // namespace lathe::ops_tests

int main(int argc, char** argv) {
  using namespace lathe;
  if (argc != 2) {
    std::fprintf(stderr, "usage: ops_test OUTPUT_DIR\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  std::string manifest;
  int passed = 0, failed = 0;
  for (const ops_tests::Case& test : ops_tests::cases()) {
    const Status status = ops_tests::run_case(test, directory, manifest);
    if (!status)
      std::printf("%s: %s\n", std::string(test.name).c_str(), status.error().message.c_str());
    ++(status ? passed : failed);
  }
  std::ofstream(directory / "manifest.jsonl") << manifest;
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
