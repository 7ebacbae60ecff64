#include "harness.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/grad/gradient.h"
#include "lathe/graph/elements.h"
#include "lathe/loop/analysis/interpret.h"

namespace lathe::ops_tests {

namespace {

// Tolerance of results, absolute and relative to the expected value: a few ULP.
struct Tolerance {
  double absolute = 0, relative = 0;
};

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return {1e-5, 2e-5};
    case DType::F64:
      return {1e-12, 1e-12};
    case DType::F16:
      return {0x1p-8, 0x1p-8};
    case DType::BF16:
      return {0x1p-5, 0x1p-5};
    default:
      return {};
  }
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

// The common part of both manifests, after the name and file of a case.
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

// Thread schedules of contractions other than the default.
// What the compatibility level of WebGPU offers everywhere.
constexpr emit_wgsl::Limits kCompatible{.threads = 128, .storage_buffers = 4};

constexpr lower::gpu::Schedule kThreadSchedules[] = {
    {.tile_rows = 16,
     .tile_columns = 8,
     .thread_rows = 4,
     .thread_columns = 2,
     .depth = 4,
     .vector = 2,
     .buffers = 1,
     .prefetch = 2,
     .pad = 1,
     .split = 2},
    {.tile_rows = 4,
     .tile_columns = 32,
     .thread_rows = 2,
     .thread_columns = 4,
     .depth = 16,
     .vector = 4,
     .buffers = 2,
     .prefetch = 2,
     .pad = 4,
     .split = 1},
    {.tile_rows = 1, .tile_columns = 1, .threads = 16},
};

// Up to the emitter.
compile::Target loop_passes(const compile::Target& target) {
  return compile::truncated(target, "emit_");
}

}  // namespace

Array random_array(DType dtype, const graph::Shape& shape, std::mt19937& random) {
  Array array{dtype, shape, {}};
  for (int64_t i = 0; i < graph::element_count(shape); ++i) {
    const double unit = static_cast<double>(random()) / 4294967296.0;
    const auto number = scalar::Number::from(
        dtype,
        scalar::is_float(dtype) ? 4 * unit - 2 : std::floor((dtype == DType::Bool ? 2 : 4) * unit));
    const std::vector<std::byte> bytes = graph::bytes_of(number);
    array.data.insert(array.data.end(), bytes.begin(), bytes.end());
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
  LATHE_TRY(loop::run(module, entry, memory));
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

namespace {

bool has_type_in(const graph::Graph& graph, std::initializer_list<DType> dtypes) {
  return std::ranges::any_of(graph.nodes, [&](const graph::Node& node) {
    return std::ranges::find(dtypes, node.dtype) != dtypes.end() ||
           (node.body && has_type_in(*node.body, dtypes));
  });
}

// Whether something has a type that shaders do not have.
bool has_long_types(const graph::Graph& graph) {
  return has_type_in(graph, {DType::I64, DType::U64, DType::F64});
}
// Also after integers are narrowed.
bool has_long_floats(const graph::Graph& graph) { return has_type_in(graph, {DType::F64}); }

}  // namespace

bool may_be_shaders(const graph::Program& program) {
  return std::ranges::none_of(program.entries, has_long_types);
}

Result<graph::Program> with_gradients(graph::Graph run) {
  graph::Program program{{run}};
  run.name = "grad";
  const std::vector<graph::Output> outputs = std::exchange(run.outputs, {});
  graph::Builder backward(std::move(run));
  graph::Tensor loss = backward.scalar(0);
  for (const graph::Output& output : outputs) {
    const graph::Tensor value{&backward, output.value};
    if (!scalar::is_float(value.dtype())) continue;
    const graph::Tensor weights =
        backward.input(concat("weights of ", output.name), value.dtype(), value.shape());
    std::vector<int> axes;
    for (int axis = 0; axis < value.rank(); ++axis) axes.push_back(axis);
    const graph::Tensor part = graph::sum(value * weights, axes);
    loss = loss + (part.dtype() == DType::F32 ? part : backward.cast(part, DType::F32));
  }
  std::vector<graph::Tensor> wrt;
  std::vector<std::string> names;
  for (size_t id = 0; id < backward.graph().nodes.size(); ++id) {
    const graph::Node& node = backward.graph().nodes[id];
    if (node.kind != graph::Kind::Input || !scalar::is_float(node.dtype)) continue;
    if (node.name.starts_with("weights of ")) continue;
    wrt.push_back({&backward, {static_cast<int32_t>(id)}});
    names.push_back(node.name);
  }
  const std::vector<graph::Tensor> gradients = grad::gradients(backward, loss, wrt);
  backward.output("loss", loss);
  for (size_t i = 0; i < names.size() && i < gradients.size(); ++i) {
    backward.output(concat("d", names[i]), gradients[i]);
  }
  LATHE_ASSIGN_OR_RETURN(graph::Graph grad, std::move(backward).finish());
  program.entries.push_back(std::move(grad));
  return program;
}

Status check_passes(const graph::Program& program, Expectation& test, const Targets& targets,
                    const lower::gpu::Schedules& thread_schedules,
                    const emit_wgsl::Limits& limits) {
  for (const compile::Target* const target : targets) {
    compile::Options options;
    options.thread_schedules = thread_schedules;
    options.limits = limits;
    options.features = {.simd = true, .relaxed_simd = true, .threads = true};
    options.worth_splitting = kSplitAlways;
    options.verify = true;
    std::string before;
    const auto interpreted = [&](const compile::CompilationState& state) -> Status {
      if (state.form != compile::Form::Loop) return {};
      if (std::string now = compile::text(state); now == std::exchange(before, now)) return {};
      for (size_t i = 0; i < program.entries.size(); ++i) {
        LATHE_ASSIGN_OR_RETURN(const Outcome actual, interpret(state.loops, program.entries[i].name,
                                                               test.inputs, test.states));
        LATHE_TRY(compare(test.expected[i], actual));
        test.irregular |= actual.irregular;
      }
      return {};
    };
    LATHE_TRY(compile::run_passes(program, options, loop_passes(*target), interpreted));
  }
  return {};
}

Result<Outcome> interpret_expanded(const graph::Program& program, const Expectation& test) {
  const compile::Options options;
  LATHE_ASSIGN_OR_RETURN(
      const compile::CompilationState state,
      compile::run_passes(program, options, loop_passes(compile::wasm_target())));
  return interpret(state.loops, program.entries[0].name, test.inputs, test.states);
}

Status compare(std::string_view what, const Array& expected, const Array& actual) {
  // Loops store float16 as bits.
  const bool same = expected.dtype == actual.dtype ||
                    (scalar::is_half(expected.dtype) && actual.dtype == DType::U16);
  if (!same || expected.data.size() != actual.data.size()) {
    return fail(concat(what, ": other dtype or size"));
  }
  const auto [absolute, relative] = tolerance_of(expected.dtype);
  const auto count = static_cast<size_t>(graph::element_count(expected.shape));
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i);
    const scalar::Number e = expected[at], a = graph::load(expected.dtype, actual.data, at);
    const double w = e.as_double(), g = a.as_double();
    const bool is_close =
        w == g || std::abs(w - g) <= absolute + relative * std::abs(w) || (w != w && g != g);
    const bool near = e.same_bits(a) || (scalar::is_float(expected.dtype) && is_close);
    if (!near) return fail(concat(what, '[', i, "]: expected ", w, ", got ", g));
  }
  return {};
}

Status compare(const Outcome& expected, const Outcome& actual) {
  for (const auto& [name, array] : expected.outputs)
    LATHE_TRY(compare(name, array, actual.outputs.at(name)));
  for (const auto& [name, array] : actual.states)
    LATHE_TRY(compare(name, expected.states.at(name), array));
  return {};
}

void Manifest::add(const Expectation& test, std::string_view variant,
                   const compile::Executable& executable) {
  const std::string file = concat(test.name, '.', variant, ".wasm");
  const std::vector<uint8_t> module =
      executable.wasm().relocatable ? executable.wasm().code.bytes : executable.module();
  std::ofstream(directory_ / file, std::ios::binary)
      .write(reinterpret_cast<const char*>(module.data()),
             static_cast<std::streamsize>(module.size()));
  append(lines_, "{\"name\":\"", test.name, "\",\"variant\":\"", variant, "\",\"file\":\"", file,
         "\",\"metadata\":", compile::metadata(executable),
         executable.wasm().relocatable ? json_segments(executable.wasm().data) : "",
         json_expectation(test));
}

Status Manifest::add(const Expectation& test, const graph::Program& program,
                     std::span<const Variant> variants) {
  for (const Variant& variant : variants) {
    compile::Options options;
    options.features = variant.features;
    options.placement = variant.placement;
    options.worth_splitting = kSplitAlways;
    options.verify = true;
    LATHE_ASSIGN_OR_RETURN(const compile::Executable executable,
                           compile::compile(program, options));
    add(test, variant.name, executable);
  }
  compile::Options options;
  options.verify = true;
  const auto shaders = compile::compile(program, options, compile::webgpu_target());
  const bool has_floats = std::ranges::any_of(program.entries, has_long_floats);
  if (may_be_shaders(program) || (shaders && !has_floats)) {
    add_shaders(test, shaders);
    options.limits = kCompatible;
    append_shaders(compatible_lines_, test,
                   compile::compile(program, options, compile::webgpu_target()));
    LATHE_TRY(add_shaders_with_f16(test, program));
  } else if (shaders) {
    return fail("types that shaders do not have became shaders");
  }
  if (variants.size() < std::size(kVariants)) return {};  // over another type
  return add_scheduled_shaders(test, program);
}

Status Manifest::add_shaders_with_f16(Expectation test, const graph::Program& program) {
  const auto has_f16 = [](const graph::Graph& graph) {
    return std::ranges::any_of(graph.nodes,
                               [](const auto& node) { return node.dtype == DType::F16; });
  };
  if (std::ranges::none_of(program.entries, has_f16)) return {};
  compile::Options options;
  options.verify = true;
  options.limits.shader_f16 = true;
  // Other inputs are narrowed: only shaders have them as they are.
  if (may_be_shaders(program))
    LATHE_TRY(check_passes(program, test, {&compile::webgpu_target()}, {}, options.limits));
  test.name += " with shader-f16";
  for (const int64_t storage_buffers : {options.limits.storage_buffers, int64_t{2}}) {
    options.limits.storage_buffers = storage_buffers;
    add_shaders(test, compile::compile(program, options, compile::webgpu_target()));
    test.name += " and few buffers";
  }
  return {};
}

Status Manifest::add_scheduled_shaders(Expectation test, const graph::Program& program) {
  compile::Options options;
  options.verify = true;
  const auto lowered = compile::compile(program, options, compile::webgpu_target());
  if (!lowered || compile::shaders(*lowered).contractions.empty())
    return {};  // rejected, or nothing to do
  const std::string name = test.name;
  for (const lower::gpu::Schedule& schedule : kThreadSchedules) {
    for (const auto& each : compile::shaders(*lowered).contractions) {
      options.thread_schedules[each.key] = schedule;
    }
    LATHE_TRY(check_passes(program, test, {&compile::webgpu_target()}, options.thread_schedules));
    test.name = concat(name, " with ", lower::gpu::text(schedule));
    add_shaders(test, compile::compile(program, options, compile::webgpu_target()));
  }
  return {};
}

void Manifest::add_shaders(const Expectation& test, const Result<compile::Executable>& shaders) {
  append_shaders(shader_lines_, test, shaders);
}

void Manifest::append_shaders(std::string& lines, const Expectation& test,
                              const Result<compile::Executable>& shaders) {
  append(lines, "{\"name\":\"", test.name, "\",");
  if (shaders) {
    append(lines, "\"shaders\":", compile::shader_metadata(*shaders), ",\"constants\":[");
    for (const emit_wgsl::Segment& segment : compile::shaders(*shaders).program.constants) {
      append(lines, lines.ends_with('[') ? "" : ",", "{\"offset\":", segment.offset, ",\"data\":\"",
             hex({segment.bytes.begin(), segment.bytes.end()}), "\"}");
    }
    lines += ']';
  } else {
    append(lines, "\"rejected\":");
    append_json(lines, shaders.error().message);
  }
  lines += json_expectation(test);
}

void Manifest::write() const {
  std::ofstream(directory_ / "manifest.jsonl") << lines_;
  std::ofstream(directory_ / "webgpu.jsonl") << shader_lines_;
  std::ofstream(directory_ / "webgpu_compatible.jsonl") << compatible_lines_;
}

}  // namespace lathe::ops_tests
