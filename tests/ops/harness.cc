#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "compile/pipeline.h"
#include "loop/interpret.h"

namespace lathe::ops_tests {

namespace {

double element(const Array& array, size_t index) {
  const auto size = static_cast<size_t>(scalar::size_of(array.dtype));
  const std::byte* at = array.data.data() + index * size;
  scalar::Number number;
  number.dtype = array.dtype;
  number.i = 0;
  std::memcpy(&number.i, at, size);
  return number.as_double();
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

std::string json_segments(const std::vector<wasm::Data>& data) {
  std::string out = ",\"segments\":[";
  for (bool first = true; const wasm::Data& segment : data) {
    append(out, first ? "" : ",", "{\"offset\":", segment.offset.instructions[0].value,
           ",\"data\":\"", hex({segment.bytes.begin(), segment.bytes.end()}), "\"}");
    first = false;
  }
  return out + ']';
}

// What both manifests say of a case behind its name and file.
std::string json_expectation(const Expectation& test) {
  std::string out = concat(",\"exact\":", test.exact ? "true" : "false",
                           ",\"irregular\":", test.irregular ? "true" : "false",
                           ",\"inputs\":", json_arrays(test.inputs),
                           ",\"states\":", json_arrays(test.states), ",\"expected\":[");
  for (size_t i = 0; i < test.expected.size(); ++i) {
    append(out, i == 0 ? "" : ",", "{\"outputs\":", json_arrays(test.expected[i].outputs),
           ",\"states\":", json_arrays(test.expected[i].states), '}');
  }
  return out + "]}\n";
}

// The passes of the target up to its emitter.
std::span<const compile::Pass> loop_passes(compile::Target target) {
  const auto& all =
      target == compile::Target::Wasm ? compile::wasm_passes() : compile::wgsl_passes();
  const auto emitter = std::ranges::find_if(
      all, [](const compile::Pass& pass) { return pass.name.starts_with("emit_"); });
  return {all.begin(), emitter};
}

}  // namespace

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

Result<Outcome> interpret(const loop::Module& module, std::string_view entry, const Arrays& inputs,
                          const Arrays& states) {
  loop::Memory memory(module);
  const auto write = [&](int32_t buffer, const Array& array) {
    std::ranges::copy(array.data, memory.bytes(buffer).begin());
  };
  const loop::Entry& called = *std::ranges::find(module.entries, entry, &loop::Entry::name);
  for (const loop::Port& port : called.inputs) write(port.buffer, inputs.at(port.name));
  for (const loop::Port& port : module.states) write(port.buffer, states.at(port.name));
  TRY(loop::run(module, entry, memory));
  const auto read = [&](const loop::Port& port) {
    const auto bytes = memory.bytes(port.buffer);
    return Array{module.buffers[static_cast<size_t>(port.buffer)].dtype,
                 port.shape,
                 {bytes.begin(), bytes.end()}};
  };
  Outcome outcome;
  for (const loop::Port& port : called.outputs) outcome.outputs[port.name] = read(port);
  for (const loop::Port& port : module.states) outcome.states[port.name] = read(port);
  outcome.irregular = memory.met_irregular();
  return outcome;
}

Status check_passes(const graph::Program& program, Expectation& test) {
  for (const compile::Target target : {compile::Target::Wasm, compile::Target::Wgsl}) {
    compile::Options options;
    options.features = {.simd = true, .relaxed_simd = true, .threads = true};
    options.worth_splitting = kSplitAlways;
    options.verify = true;
    std::string before;
    const auto interpreted = [&](const compile::State& state) -> Status {
      if (state.form != compile::Form::Loop) return {};
      if (std::string now = compile::text(state); now == std::exchange(before, now)) return {};
      for (size_t i = 0; i < program.entries.size(); ++i) {
        ASSIGN_OR_RETURN(const Outcome got,
                         interpret(state.loops, program.entries[i].name, test.inputs, test.states));
        TRY(compare(test.expected[i], got));
        test.irregular |= got.irregular;
      }
      return {};
    };
    TRY(compile::run_passes(program, options, loop_passes(target), interpreted));
  }
  return {};
}

Result<Outcome> interpret_spelled(const graph::Program& program, const Expectation& test) {
  const compile::Options options;
  ASSIGN_OR_RETURN(const compile::State state,
                   compile::run_passes(program, options, loop_passes(compile::Target::Wasm)));
  return interpret(state.loops, program.entries[0].name, test.inputs, test.states);
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

Status compare(const Outcome& want, const Outcome& got) {
  for (const auto& [name, array] : want.outputs) TRY(compare(name, array, got.outputs.at(name)));
  for (const auto& [name, array] : got.states) TRY(compare(name, want.states.at(name), array));
  return {};
}

void Manifest::add(const Expectation& test, std::string_view variant,
                   const compile::Executable& executable) {
  const std::string file = concat(test.name, '.', variant, ".wasm");
  const std::vector<uint8_t> module =
      executable.relocatable ? executable.code.bytes : executable.module();
  std::ofstream(directory_ / file, std::ios::binary)
      .write(reinterpret_cast<const char*>(module.data()),
             static_cast<std::streamsize>(module.size()));
  append(lines_, "{\"name\":\"", test.name, "\",\"variant\":\"", variant, "\",\"file\":\"", file,
         "\",\"metadata\":", compile::metadata(executable),
         executable.relocatable ? json_segments(executable.data) : "", json_expectation(test));
}

Status Manifest::add(const Expectation& test, const graph::Program& program) {
  for (const Variant& variant : kVariants) {
    compile::Options options;
    options.features = variant.features;
    options.placement = variant.placement;
    options.worth_splitting = kSplitAlways;
    options.verify = true;
    ASSIGN_OR_RETURN(const compile::Executable executable, compile::compile(program, options));
    add(test, variant.name, executable);
  }
  compile::Options options;
  options.verify = true;
  add_shaders(test, compile::compile_to_wgsl(program, options));
  return {};
}

void Manifest::add_shaders(const Expectation& test, const Result<std::string>& shaders) {
  append(shader_lines_, "{\"name\":\"", test.name, "\",");
  if (shaders) {
    append(shader_lines_, "\"shaders\":", *shaders);
  } else {
    append(shader_lines_, "\"refused\":");
    append_json(shader_lines_, shaders.error().message);
  }
  shader_lines_ += json_expectation(test);
}

void Manifest::write() const {
  std::ofstream(directory_ / "manifest.jsonl") << lines_;
  std::ofstream(directory_ / "webgpu.jsonl") << shader_lines_;
}

}  // namespace lathe::ops_tests
