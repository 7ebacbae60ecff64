#include "lathe/compile/compile.h"

#include <algorithm>
#include <array>
#include <set>

#include "lathe/base/text.h"
#include "lathe/compile/target.h"
#include "lathe/graph/verify.h"

namespace lathe::compile {

namespace {

// Builds for tests define LATHE_VERIFY.
#ifdef LATHE_VERIFY
constexpr bool kAlwaysVerify = true;
#else
constexpr bool kAlwaysVerify = false;
#endif

// Whether it was requested.
bool dump(const CompilationState& state, std::string_view when, std::string_view pass) {
  const Options& options = state.options;
  if (!options.on_dump) return false;
  const bool requested = std::ranges::any_of(options.dumps, [&](const std::string& request) {
    return request == concat(when, ':', pass) || request == concat(when, ":*");
  });
  if (requested) options.on_dump(concat(when, ':', pass), state);
  return requested;
}

std::vector<std::string_view> names_of(std::span<const Pass> passes) {
  std::vector<std::string_view> names;
  for (const Pass& pass : passes) {
    if (std::ranges::find(names, pass.name) == names.end()) names.push_back(pass.name);
  }
  return names;
}

Status check_dumps(const std::vector<std::string>& dumps, std::span<const Pass> passes) {
  for (const std::string& request : dumps) {
    const size_t colon = request.find(':');
    const std::string_view when = std::string_view(request).substr(0, colon);
    const std::string_view pass =
        colon == std::string::npos ? "" : std::string_view(request).substr(colon + 1);
    const auto names = names_of(passes);
    const bool is_registered = pass == "*" || std::ranges::find(names, pass) != names.end();
    if ((when == "before" || when == "after" || when == "only") && is_registered) continue;
    std::string message =
        concat("dump '", request, "': expected before:PASS or after:PASS, PASS one of *");
    for (std::string_view name : names) append(message, ' ', name);
    return fail(std::move(message));
  }
  return {};
}

// States that several entries share must agree.
Status check_states(const graph::Program& program) {
  std::vector<const graph::Node*> seen;
  for (const graph::Graph& entry : program.entries) {
    for (const graph::Node& node : entry.nodes) {
      if (node.kind != graph::Kind::State) continue;
      const auto first = std::ranges::find_if(
          seen, [&](const graph::Node* other) { return other->name == node.name; });
      if (first == seen.end()) {
        seen.push_back(&node);
      } else if ((*first)->shape != node.shape || (*first)->dtype != node.dtype) {
        return fail(concat("state '", node.name, "' is ", scalar::text((*first)->dtype),
                           bracketed((*first)->shape), " in one entry and ",
                           scalar::text(node.dtype), bracketed(node.shape), " in '", entry.name,
                           "'"));
      }
    }
  }
  return {};
}

// Names of exports are unique.
Status check_names(const graph::Program& program, bool timing) {
  std::set<std::string> names = {"memory", "threads.abort", "threads.begin"};
  for (const graph::Graph& entry : program.entries) {
    if (!names.insert(entry.name).second) {
      return fail(concat("entry '", entry.name, "': another export has this name"));
    }
  }
  std::set<std::string_view> states;
  const auto add = [&](std::string name) -> Status {
    if (names.insert(name).second) return {};
    return fail(concat("'", name, "' would be exported twice; rename a state, input or output"));
  };
  for (const graph::Graph& entry : program.entries) {
    if (timing) LATHE_TRY(add(concat(entry.name, ".times")));
    for (const graph::Node& node : entry.nodes) {
      if (node.kind == graph::Kind::Input) LATHE_TRY(add(concat(entry.name, '.', node.name)));
      if (node.kind == graph::Kind::State && states.insert(node.name).second)
        LATHE_TRY(add(node.name));
    }
    for (const graph::Output& output : entry.outputs) {
      LATHE_TRY(add(concat(entry.name, '.', output.name)));
    }
  }
  return {};
}

Status check_placement(const Options& options) {
  if (options.placement == Placement::Fixed) return {};
  if (options.timing) return fail("a relocatable module cannot be timed");
  if (!options.contents.empty()) return fail("a relocatable module cannot contain initial states");
  return {};
}

void write_buffers(JsonWriter& json, std::string_view key, const std::vector<Buffer>& buffers,
                   const WriteMembers& more = {}) {
  json.key(key).begin_array();
  for (const Buffer& buffer : buffers) {
    json.begin_object().member("name", buffer.name).member("dtype", scalar::text(buffer.dtype));
    json.member("shape", buffer.shape).member("offset", buffer.offset);
    if (more) more(buffer, json);
    write_ranges(json, buffer);
    json.end_object();
  }
  json.end_array();
}

void write_times(JsonWriter& json, const Entry& entry) {
  if (entry.times == 0) return;
  json.key("times").begin_object().member("offset", entry.times);
  json.member("parts", entry.parts).end_object();
}

// Text, soundness and what the caller looks at.
Status look_at(const CompilationState& state, const Pass& pass, const AfterPass& after) {
  dump(state, "after", pass.name);
  if (state.options.verify || kAlwaysVerify) LATHE_TRY(verify(state));
  return after ? after(state) : Status();
}

}  // namespace

void write_ranges(JsonWriter& json, const Buffer& buffer) {
  if (buffer.ranges.empty()) return;
  json.key("ranges").begin_array();
  for (const IndexRange& range : buffer.ranges) {
    json.value(std::array{range.low, range.high, range.first, range.step});
  }
  json.end_array();
}

std::vector<uint8_t> WasmCode::module() const { return wasm::with_data(code, data); }

Result<CompilationState> run_passes(graph::Program program, const Options& options,
                                    const Target& target, const AfterPass& after) {
  LATHE_TRY(check_dumps(options.dumps, target.passes));
  for (const graph::Graph& entry : program.entries) LATHE_TRY(graph::verify(entry));
  LATHE_TRY(check_states(program));
  LATHE_TRY(check_names(program, options.timing));
  LATHE_TRY(check_placement(options));
  PortTypes types = port_types(program);
  std::vector<IndexRange> ranges = index_ranges(program);
  CompilationState state{.options = options,
                         .program = std::move(program),
                         .port_types = std::move(types),
                         .index_ranges = std::move(ranges),
                         .loops = {},
                         .plan = {},
                         .code = {},
                         .executable = {}};
  state.executable.code = target.make_code();
  state.executable.notes = std::move(state.program.notes);
  for (const Pass& pass : target.passes) {
    if (dump(state, "only", pass.name)) return state;
    dump(state, "before", pass.name);
    const double start = options.clock ? options.clock() : 0;
    LATHE_TRY(pass.run(state));
    if (options.clock) {
      state.executable.times.push_back({std::string(pass.name), options.clock() - start});
    }
    if (const Status sound = look_at(state, pass, after); !sound) {
      return fail(concat("after pass ", pass.name, ": ", sound.error().message));
    }
  }
  return state;
}

Result<Executable> compile(graph::Program program, const Options& options, const Target& target) {
  LATHE_ASSIGN_OR_RETURN(CompilationState state, run_passes(std::move(program), options, target));
  return std::move(state.executable);
}

std::string metadata(const Executable& executable, const WriteMembers& more) {
  JsonWriter json;
  json.begin_object().member("version", 1).member("memoryBytes", executable.memory_bytes);
  json.member("temporaryBytes", executable.temporary_bytes);
  json.member("threads", executable.wasm().threads);
  if (executable.wasm().relocatable) {
    json.member("relocatable", true).member("constantBytes", executable.constant_bytes);
  }
  json.key("entries").begin_array();
  for (const Entry& entry : executable.entries) {
    json.begin_object().member("name", entry.name).member("threads", entry.threads);
    json.member("work", static_cast<int64_t>(entry.work));
    write_buffers(json, "inputs", entry.inputs);
    write_buffers(json, "outputs", entry.outputs);
    write_times(json, entry);
    json.end_object();
  }
  json.end_array();
  write_buffers(json, "states", executable.states, more);
  if (!executable.notes.empty()) json.raw(executable.notes);
  return json.end_object().release();
}

std::vector<std::string_view> pass_names(const Target& target) { return names_of(target.passes); }

}  // namespace lathe::compile
