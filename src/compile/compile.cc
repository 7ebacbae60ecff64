#include "lathe/compile/compile.h"

#include <algorithm>
#include <set>

#include "lathe/base/text.h"
#include "lathe/compile/pipeline.h"
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
bool dump(const State& state, std::string_view when, std::string_view pass) {
  const Options& options = state.options;
  if (!options.on_dump) return false;
  const bool requested = std::ranges::any_of(options.dumps, [&](const std::string& request) {
    return request == concat(when, ':', pass) || request == concat(when, ":*");
  });
  if (requested) options.on_dump(concat(when, ':', pass), text(state));
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

void append_buffers(std::string& out, std::string_view key, const std::vector<Buffer>& buffers,
                    const std::function<std::string(const Buffer&)>& more = {}) {
  append(out, '"', key, "\":[");
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    append(out, i == 0 ? "" : ",", "{\"name\":");
    append_json(out, buffer.name);
    append(out, ",\"dtype\":\"", scalar::text(buffer.dtype),
           "\",\"shape\":", bracketed(buffer.shape), ",\"offset\":", buffer.offset,
           more ? more(buffer) : "");
    for (size_t k = 0; k < buffer.ranges.size(); ++k) {
      const IndexRange& range = buffer.ranges[k];
      append(out, k == 0 ? ",\"ranges\":[" : ",", '[', range.low, ',', range.high, ',', range.first,
             ',', range.step, ']');
    }
    append(out, buffer.ranges.empty() ? "" : "]", '}');
  }
  out += ']';
}

void append_times(std::string& out, const Entry& entry) {
  if (entry.times == 0) return;
  append(out, ",\"times\":{\"offset\":", entry.times, ",\"parts\":[");
  for (size_t i = 0; i < entry.parts.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_json(out, entry.parts[i]);
  }
  out += "]}";
}

// Text, soundness and what the caller looks at.
Status look_at(const State& state, const Pass& pass, const AfterPass& after) {
  dump(state, "after", pass.name);
  if (state.options.verify || kAlwaysVerify) LATHE_TRY(verify(state));
  return after ? after(state) : Status();
}

}  // namespace

Result<State> run_passes(graph::Program program, const Options& options,
                         std::span<const Pass> passes, const AfterPass& after) {
  LATHE_TRY(check_dumps(options.dumps, passes));
  for (const graph::Graph& entry : program.entries) LATHE_TRY(graph::verify(entry));
  LATHE_TRY(check_states(program));
  LATHE_TRY(check_names(program, options.timing));
  LATHE_TRY(check_placement(options));
  PortTypes types = port_types(program);
  std::vector<IndexRange> ranges = index_ranges(program);
  State state{.options = options,
              .program = std::move(program),
              .port_types = std::move(types),
              .index_ranges = std::move(ranges),
              .loops = {},
              .plan = {},
              .module = {},
              .origins = {},
              .thread_contractions = {},
              .shaders = {},
              .executable = {}};
  state.executable.notes = std::move(state.program.notes);
  for (const Pass& pass : passes) {
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

Result<Executable> compile(graph::Program program, const Options& options) {
  LATHE_ASSIGN_OR_RETURN(State state, run_passes(std::move(program), options, wasm_passes()));
  return std::move(state.executable);
}

Result<std::string> compile_to_wgsl(const graph::Program& program, const Options& options) {
  LATHE_ASSIGN_OR_RETURN(State state, run_passes(program, options, wgsl_passes()));
  return std::move(state.shaders.json);
}

std::string metadata(const Executable& executable,
                     const std::function<std::string(const Buffer&)>& more) {
  std::string out = concat("{\"version\":1,\"memoryBytes\":", executable.memory_bytes,
                           ",\"temporaryBytes\":", executable.temporary_bytes,
                           ",\"threads\":", executable.threads ? "true" : "false");
  if (executable.relocatable) {
    append(out, ",\"relocatable\":true,\"constantBytes\":", executable.constant_bytes);
  }
  out += ",\"entries\":[";
  for (size_t i = 0; i < executable.entries.size(); ++i) {
    const Entry& entry = executable.entries[i];
    append(out, i == 0 ? "" : ",", "{\"name\":");
    append_json(out, entry.name);
    append(out, ",\"threads\":", entry.threads, ",\"work\":", static_cast<int64_t>(entry.work),
           ',');
    append_buffers(out, "inputs", entry.inputs);
    out += ',';
    append_buffers(out, "outputs", entry.outputs);
    append_times(out, entry);
    out += '}';
  }
  out += "],";
  append_buffers(out, "states", executable.states, more);
  append(out, executable.notes.empty() ? "" : ",", executable.notes, '}');
  return out;
}

std::vector<std::string_view> pass_names() { return names_of(wasm_passes()); }

}  // namespace lathe::compile
