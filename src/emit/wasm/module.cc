#include "lathe/emit/wasm/module.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/emit/wasm/threads.h"
#include "lathe/loop/analysis/index_width.h"

namespace lathe::emit_wasm {

namespace {

using wasm::Opcode;

constexpr uint64_t kPage = 65536;
constexpr uint64_t kMaxPages = 65536;

std::span<const uint8_t> bytes_of(std::span<const std::byte> data) {
  return {reinterpret_cast<const uint8_t*>(data.data()), data.size()};
}

void export_offsets(wasm::ModuleBuilder& builder, const loop::Module& module,
                    const Layout& layout) {
  const auto add = [&](const std::string& name, int32_t buffer) {
    const auto offset = static_cast<int64_t>(layout.placement.offsets[buffer]);
    builder.export_global(name, builder.add_global(wasm::ValType::i32, false, offset));
  };
  for (const loop::Port& state : module.states) add(state.name, state.buffer);
  for (const loop::Entry& entry : module.entries) {
    for (const loop::Port& port : entry.inputs)
      add(concat(entry.name, '.', port.name), port.buffer);
    for (const loop::Port& port : entry.outputs)
      add(concat(entry.name, '.', port.name), port.buffer);
  }
}

Status check_vector_widths(const loop::Kernel& kernel, const std::vector<loop::Stmt>& body) {
  for (const loop::Stmt& stmt : body) {
    const bool is_vector = stmt.kind == loop::StmtKind::For && stmt.loop == loop::LoopKind::Vector;
    if (is_vector && kernel.vars[stmt.var].extent != kVectorLanes) {
      return fail(concat("kernel ", kernel.name, ": vector loop ", kernel.vars[stmt.var].name,
                         " has ", kernel.vars[stmt.var].extent,
                         " lanes; WebAssembly has vectors of ", kVectorLanes));
    }
    LATHE_TRY(check_vector_widths(kernel, stmt.body));
  }
  return {};
}

Status check_kernel(const loop::Kernel& kernel) {
  LATHE_TRY(loop::check_index_width(kernel));
  return check_vector_widths(kernel, kernel.body);
}

Status check_kernels(const loop::Entry& entry) {
  for (const loop::Kernel& kernel : entry.kernels) {
    if (const Status fits = check_kernel(kernel); !fits) {
      return fail(concat("entry '", entry.name, "': ", fits.error().message));
    }
  }
  return {};
}

// The parameters of the function are the bases, in order.
void push_parameter(wasm::FunctionBuilder& function, int32_t base) {
  function.op_index(Opcode::local_get, static_cast<uint32_t>(base));
}

template <class PushBase>
void push_condition(wasm::FunctionBuilder& function, int32_t buffer, const Placement& placement,
                    const PushBase& push_base) {
  const loop::BufferRef condition{loop::Space::Global, buffer};
  if (const int32_t base = placement.base_of(condition); base >= 0) {
    push_base(function, base);
  } else {
    function.i32_const(0);
  }
  function.op_memory(Opcode::i32_load8_u, {.offset = placement.offset_of(condition)});
}

// How entries are emitted: the placement of buffers, the emitter of a kernel, and the function that
// a stoppable module calls between kernels.
template <class Emitter>
struct EntryEmission {
  const Placement& placement;
  const Emitter& emitter;
  std::optional<uint32_t> check;

  void call_check(wasm::FunctionBuilder& function) const {
    if (check) function.call(*check);
  }
};

template <class Emitter, class PushBase>
void emit_steps(wasm::FunctionBuilder& function, const loop::Entry& entry,
                const std::vector<loop::Step>& steps, const EntryEmission<Emitter>& emission,
                const PushBase& push_base) {
  for (const loop::Step& step : steps) {
    if (step.repeat < 0) {
      emission.call_check(function);
      const Callee kernel = emission.emitter(entry.kernels[step.begin]).emit();
      for (const int32_t base : kernel.bases) push_base(function, base);
      function.call(kernel.function);
      continue;
    }
    const loop::Repeat& repeat = entry.repeats[step.repeat];
    if (repeat.times == 0) continue;
    const bool may_end = repeat.condition >= 0;
    const uint32_t counter = function.add_local(wasm::ValType::i32);
    function.i32_const(static_cast<int32_t>(repeat.times)).op_index(Opcode::local_set, counter);
    if (may_end) function.block();
    function.loop();
    emission.call_check(function);
    if (may_end) {
      push_condition(function, repeat.condition, emission.placement, push_base);
      function.op(Opcode::i32_eqz).br_if(1);
    }
    emit_steps(function, entry, loop::steps_of(entry, step), emission, push_base);
    function.op_index(Opcode::local_get, counter).i32_const(1).op(Opcode::i32_sub);
    function.op_index(Opcode::local_tee, counter).br_if(0).end();
    if (may_end) function.end();
  }
}

// Reads the clock where one part ends and the next begins.
class Stopwatch {
 public:
  Stopwatch(wasm::FunctionBuilder& code, const Times& times, uint32_t clock)
      : code_(code), times_(times), clock_(clock) {
    last_ = code_.add_local(wasm::ValType::f64);
    now_ = code_.add_local(wasm::ValType::f64);
    begin_sum(0);
    code_.f64_const(1);
    end_sum(0);
    code_.call(clock_).op_index(Opcode::local_set, last_);
  }

  // What follows is of this part; of the one before if it has no name.
  void begin(const std::string& part) {
    if (part.empty() || part == part_) return;
    end();
    part_ = part;
  }

  void end() {
    if (part_.empty()) return;
    const auto at = std::ranges::find(times_.parts, part_) - times_.parts.begin();
    const auto cell = static_cast<uint64_t>(at) + 1;
    begin_sum(cell);
    code_.call(clock_).op_index(Opcode::local_tee, now_);
    code_.op_index(Opcode::local_get, last_).op(Opcode::f64_sub);
    end_sum(cell);
    code_.op_index(Opcode::local_get, now_).op_index(Opcode::local_set, last_);
  }

 private:
  wasm::MemArg memarg_of(uint64_t cell) const { return {.offset = times_.offset + 8 * cell}; }

  void begin_sum(uint64_t cell) {
    code_.i32_const(0).i32_const(0).op_memory(Opcode::f64_load, memarg_of(cell));
  }
  void end_sum(uint64_t cell) {
    code_.op(Opcode::f64_add).op_memory(Opcode::f64_store, memarg_of(cell));
  }

  wasm::FunctionBuilder& code_;
  const Times& times_;
  const uint32_t clock_;
  uint32_t last_ = 0, now_ = 0;
  std::string part_;
};

// One for scratch, one for constants, one for each port.
size_t base_count(const loop::Module& module, const loop::Entry& entry) {
  return 2 + module.states.size() + entry.inputs.size() + entry.outputs.size();
}

template <class Emitter>
void emit_entries(wasm::ModuleBuilder& builder, const loop::Module& module,
                  const EntryEmission<Emitter>& emission) {
  for (const loop::Entry& entry : module.entries) {
    const size_t bases = emission.placement.is_relocatable ? base_count(module, entry) : 0;
    wasm::FunctionBuilder& function =
        builder.add_function(entry.name, std::vector<wasm::ValType>(bases, wasm::ValType::i32), {});
    builder.export_function(entry.name, function.index());
    emit_steps(function, entry, loop::steps_of(entry), emission, push_parameter);
  }
}

// Separate functions, as the next: engines compile a function when it is first called.
template <class Emitter>
[[gnu::noinline]] void emit_timed_entries(wasm::ModuleBuilder& builder, const loop::Module& module,
                                          std::span<const Times> times, uint32_t clock,
                                          const EntryEmission<Emitter>& emission) {
  for (size_t i = 0; i < module.entries.size(); ++i) {
    const loop::Entry& entry = module.entries[i];
    wasm::FunctionBuilder& function = builder.add_function(entry.name, {}, {});
    builder.export_function(entry.name, function.index());
    const auto offset = static_cast<int64_t>(times[i].offset);
    builder.export_global(concat(entry.name, ".times"),
                          builder.add_global(wasm::ValType::i32, false, offset));
    Stopwatch watch(function, times[i], clock);
    for (const loop::Step& step : loop::steps_of(entry)) {
      watch.begin(entry.kernels[step.begin].part);
      emit_steps(function, entry, {step}, emission, push_parameter);
    }
    watch.end();
  }
}

template <class Emitter>
[[gnu::noinline]] void emit_for_threads(wasm::ModuleBuilder& builder, const loop::Module& module,
                                        std::optional<uint32_t> first_phase,
                                        const EntryEmission<Emitter>& emission) {
  ThreadsEmitter threads(builder, first_phase, emission.check);
  for (const loop::Entry& entry : module.entries) {
    TaskOrder order(module);
    std::vector<Phase> phases;
    for (const loop::Step& step : loop::steps_of(entry)) {
      if (step.repeat < 0) {
        std::ranges::move(emission.emitter(entry.kernels[step.begin]).emit_phases(order),
                          std::back_inserter(phases));
        continue;
      }
      wasm::FunctionBuilder& step_function = builder.add_function(
          concat(entry.name, ".repeat", step.repeat), {wasm::ValType::i32}, {});
      emit_steps(step_function, entry, {step}, emission, load_base);
      phases.push_back({{{step_function.index()}, 1}});
    }
    threads.emit_entry(entry.name, merged(std::move(phases)));
  }
  threads.finish();
}

}  // namespace

Result<wasm::Module> emit_module(const loop::Module& module, const Layout& layout,
                                 std::span<const Content> contents, std::string_view metadata,
                                 Target target) {
  wasm::ModuleBuilder builder;
  const bool is_timed = !layout.times.empty();
  LATHE_CHECK(!is_timed || !target.threads);
  const uint32_t clock =
      is_timed ? builder.import_function("env", "now", {{}, {wasm::ValType::f64}}) : 0;
  std::optional<uint32_t> check;
  if (layout.is_stoppable) check = builder.import_function("env", "check", {{}, {}});
  const bool is_relocatable = layout.placement.is_relocatable;
  LATHE_CHECK(!is_relocatable || (!is_timed && contents.empty()));
  wasm::Limits limits;
  if (!is_relocatable) limits.min = (layout.total_bytes + kPage - 1) / kPage;
  limits.shared = target.threads || layout.shared_memory;
  if (!is_relocatable) limits.max = limits.min;
  if (is_relocatable && limits.shared) limits.max = kMaxPages;
  const bool is_imported = is_relocatable || limits.shared;
  const uint32_t memory =
      is_imported ? builder.import_memory("env", "memory", limits) : builder.add_memory(limits);
  std::optional<uint32_t> first_phase;
  if (is_relocatable && target.threads) {
    first_phase = builder.import_global("env", "firstPhase", {wasm::ValType::i32});
  }
  if (!is_relocatable) {
    builder.export_memory("memory", memory);
    export_offsets(builder, module, layout);
  }

  for (const loop::Entry& entry : module.entries) LATHE_TRY(check_kernels(entry));
  const auto emitter = [&](const loop::Kernel& kernel) {
    return KernelEmitter(builder, module, kernel, layout.placement, target, layout.origins);
  };
  const EntryEmission emission{layout.placement, emitter, check};
  if (target.threads) {
    emit_for_threads(builder, module, first_phase, emission);
  } else if (is_timed) {
    emit_timed_entries(builder, module, layout.times, clock, emission);
  } else {
    emit_entries(builder, module, emission);
  }
  const auto add_data = [&](int32_t buffer, const SharedBytes& data) {
    const bool all_zero = std::ranges::all_of(data, [](std::byte b) { return b == std::byte{0}; });
    if (all_zero) return;
    builder.add_data(memory, layout.placement.offsets[buffer], data);
  };
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    if (module.buffers[id].role == loop::BufferRole::Constant) {
      add_data(static_cast<int32_t>(id), module.buffers[id].data);
    }
  }
  for (const Content& content : contents) add_data(content.buffer, content.data);
  builder.add_custom("tensorlathe", bytes_of(std::as_bytes(std::span(metadata))));
  return builder.finish();
}

}  // namespace lathe::emit_wasm
