#include "lathe/loop/analysis/interpret.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/loop/analysis/races.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

Memory::Memory(const Module& module) {
  for (const Buffer& buffer : module.buffers) {
    Storage storage{buffer.dtype, {buffer.data.begin(), buffer.data.end()}};
    storage.bytes.resize(buffer.size * scalar::size_of(buffer.dtype));
    buffers_.push_back(std::move(storage));
  }
}

class Interpreter {
 public:
  Interpreter(const Module& module, const Kernel& kernel, Memory& memory, int64_t subgroup_threads)
      : module_(module),
        kernel_(kernel),
        memory_(memory),
        subgroup_threads_(static_cast<size_t>(subgroup_threads)),
        vars_(kernel.vars.size(), 0),
        values_(kernel.exprs.size()),
        shared_(spoiled(kernel.shared)),
        registers_(spoiled(kernel.registers)) {}

  static Memory::Storage spoiled(const Buffer& buffer) {
    const auto filler = buffer.dtype == DType::Bool ? std::byte{1} : std::byte{0xff};
    return {buffer.dtype, std::vector(buffer.size * scalar::size_of(buffer.dtype), filler)};
  }

  static std::vector<Memory::Storage> spoiled(const std::vector<Buffer>& buffers) {
    std::vector<Memory::Storage> storages;
    for (const Buffer& buffer : buffers) storages.push_back(spoiled(buffer));
    return storages;
  }

  static void spoil_temporaries(const Module& module, Memory& memory) {
    for (size_t id = 0; id < module.buffers.size(); ++id) {
      if (module.buffers[id].role == BufferRole::Temporary) {
        memory.buffers_[id] = spoiled(module.buffers[id]);
      }
    }
  }

  Status run_kernel() {
    const auto is_parallel = [](const Stmt& stmt) { return stmt.loop == LoopKind::Parallel; };
    if (std::ranges::none_of(kernel_.body, is_parallel)) return run(kernel_.body);
    bool open = false;  // a run of statements that is one task
    for (const Stmt& stmt : kernel_.body) {
      const bool ends = is_parallel(stmt) || stmt.kind == StmtKind::Barrier;
      if (ends || !open) begin_task();
      open = !ends;
      if (stmt.kind == StmtKind::Barrier) {
        global_accesses_.clear();
      } else {
        LATHE_TRY(run({&stmt, 1}));
      }
    }
    return {};
  }

 private:
  struct Thread {
    std::vector<int64_t> vars;
    std::vector<Memory::Storage> registers;
  };

  void begin_task() {
    ++thread_;
    registers_ = spoiled(kernel_.registers);
  }

  Status run(std::span<const Stmt> stmts) {
    for (const Stmt& stmt : stmts) {
      switch (stmt.kind) {
        case StmtKind::For:
          LATHE_TRY(for_loop(stmt));
          break;
        case StmtKind::Store:
          LATHE_TRY(store(stmt));
          break;
        case StmtKind::If:
          if (are_true(stmt.guards)) LATHE_TRY(run(stmt.body));
          break;
        case StmtKind::When:
          LATHE_TRY(compute(stmt));
          if (values_[stmt.value].i != 0) LATHE_TRY(run(stmt.body));
          break;
        case StmtKind::Barrier:
          LATHE_CHECK(!"run_kernel and run_phases see barriers first");
      }
    }
    return {};
  }

  Status for_loop(const Stmt& stmt) {
    if (stmt.loop == LoopKind::Group) return run_group(stmt);
    for (int64_t i = 0; i < kernel_.vars[stmt.var].extent; ++i) {
      vars_[stmt.var] = i;
      if (stmt.loop == LoopKind::Grid || stmt.loop == LoopKind::Parallel) begin_task();
      LATHE_TRY(run(stmt.body));
    }
    return {};
  }

  // The Group loops around a body define the threads.
  Status run_group(const Stmt& outermost) {
    ++thread_;
    threads_ = {Thread{vars_, {}}};
    const Stmt* inner = &outermost;
    while (true) {
      std::vector<Thread> more;
      for (const Thread& thread : threads_) {
        for (int64_t i = 0; i < kernel_.vars[inner->var].extent; ++i) {
          more.push_back(thread);
          more.back().vars[inner->var] = i;
        }
      }
      threads_ = std::move(more);
      const bool nested = inner->body.size() == 1 && inner->body[0].kind == StmtKind::For &&
                          inner->body[0].loop == LoopKind::Group;
      if (!nested) break;
      inner = &inner->body[0];
    }
    for (Thread& thread : threads_) thread.registers = spoiled(kernel_.registers);
    shared_ = spoiled(kernel_.shared);
    shared_accesses_.clear();
    LATHE_TRY(run_phases(inner->body));
    thread_ += static_cast<int64_t>(threads_.size());
    return {};
  }

  // Statements between two barriers run thread by thread.
  Status run_phases(std::span<const Stmt> stmts) {
    size_t begin = 0;
    for (size_t i = 0; i < stmts.size(); ++i) {
      const Stmt& stmt = stmts[i];
      if (!threads_meet(stmt)) continue;
      LATHE_TRY(run_threads(stmts.subspan(begin, i - begin), threads_));
      begin = i + 1;
      if (stmt.kind == StmtKind::Barrier) {
        shared_accesses_.clear();
        continue;
      }
      if (stmt.loop == LoopKind::Subgroup) {
        LATHE_TRY(run_subgroups(stmt));
        continue;
      }
      for (int64_t value = 0; value < kernel_.vars[stmt.var].extent; ++value) {
        for (Thread& thread : threads_) thread.vars[stmt.var] = value;
        LATHE_TRY(run_phases(stmt.body));
      }
    }
    return run_threads(stmts.subspan(begin), threads_);
  }

  static bool threads_meet(const Stmt& stmt) {
    return stmt.kind == StmtKind::Barrier ||
           (stmt.kind == StmtKind::For && stmt.loop == LoopKind::Subgroup) ||
           std::ranges::any_of(stmt.body, threads_meet);
  }

  // The threads of each subgroup compute what they reduce, then one or all store.
  Status run_subgroups(const Stmt& loop) {
    const std::span all(threads_);
    const size_t count = (all.size() + subgroup_threads_ - 1) / subgroup_threads_;
    if (count > static_cast<size_t>(kernel_.vars[loop.var].extent)) {
      return fail(concat("kernel ", kernel_.name, ": ", count, " subgroups in loop ",
                         kernel_.vars[loop.var].name, " of ", kernel_.vars[loop.var].extent));
    }
    for (size_t i = 0; i < count; ++i) {
      const size_t begin = i * subgroup_threads_;
      const std::span threads = all.subspan(begin, std::min(subgroup_threads_, all.size() - begin));
      for (Thread& thread : threads) thread.vars[loop.var] = static_cast<int64_t>(i);
      for (const Stmt& stmt : loop.body) {
        reduced_.clear();
        reduces_ = true;
        LATHE_TRY(run_threads({&stmt, 1}, threads));
        reduces_ = false;
        const bool each = stmt.buffer.space == Space::Register;
        LATHE_TRY(run_threads({&stmt, 1}, threads.first(each ? threads.size() : 1)));
      }
    }
    return {};
  }

  Status run_threads(std::span<const Stmt> stmts, std::span<Thread> threads) {
    const int64_t first = thread_;
    thread_ += threads.data() - threads_.data();
    for (Thread& thread : threads) {
      std::swap(vars_, thread.vars);
      std::swap(registers_, thread.registers);
      LATHE_TRY(run(stmts));
      std::swap(vars_, thread.vars);
      std::swap(registers_, thread.registers);
      ++thread_;
    }
    thread_ = first;
    return {};
  }

  Status compute(const Stmt& stmt) {
    for (const ExprId id : order_of(stmt)) {
      LATHE_ASSIGN_OR_RETURN(values_[id], value_of(kernel_.exprs[id]));
      const Number& value = values_[id];
      const bool is_normal =
          value.dtype == DType::F64 ? std::isnormal(value.d) : std::isnormal(value.f);
      const bool regular = !scalar::is_float(value.dtype) || value.is_zero() || is_normal;
      if (!regular) memory_.met_irregular_ = true;
    }
    return {};
  }

  Status store(const Stmt& stmt) {
    LATHE_TRY(compute(stmt));
    if (reduces_) return {};
    const int64_t at = evaluate(stmt.address) + looked_up(stmt.lookup, stmt.index);
    LATHE_ASSIGN_OR_RETURN(std::byte* const element, locate(stmt.buffer, at, /*stored=*/true));
    const Number& value = values_[stmt.value];
    scalar::store_element(element, value);
    return {};
  }

  const std::vector<ExprId>& order_of(const Stmt& stmt) {
    auto [entry, fresh] = orders_.try_emplace(&stmt);
    if (fresh) entry->second = computed(kernel_, stmt);
    return entry->second;
  }

  Result<Number> value_of(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Constant:
        return expr.constant;
      case ExprKind::Index:
        return Number::of(static_cast<int32_t>(evaluate(expr.address)));
      case ExprKind::Load:
        return load(expr);
      case ExprKind::Cast:
        return scalar::cast(values_[expr.operands[0]], expr.dtype);
      case ExprKind::Reduce:
        return reduce(expr);
      case ExprKind::Apply:
        break;
    }
    Number operands[scalar::kMaxArity];
    for (int i = 0; i < expr.operand_count(); ++i) operands[i] = values_[expr.operands[i]];
    return scalar::evaluate(expr.op, operands);
  }

  Number reduce(const Expr& expr) {
    const Number& own = values_[expr.operands[0]];
    const auto [entry, is_first] = reduced_.try_emplace(&expr, own);
    if (reduces_ && !is_first) {
      const Number operands[] = {entry->second, own};
      entry->second = scalar::evaluate(expr.op, operands);
    }
    return entry->second;
  }

  Result<Number> load(const Expr& expr) {
    if (!are_true(expr.guards)) return Number::from(expr.dtype, 0);
    LATHE_ASSIGN_OR_RETURN(
        const std::byte* const element,
        locate(expr.buffer, evaluate(expr.address) + looked_up(expr.lookup, expr.operands[0]),
               /*stored=*/false));
    return scalar::load_element(expr.dtype, element);
  }

  int64_t looked_up(const Lookup& lookup, ExprId index) const {
    if (!lookup) return 0;
    return lookup.scale * std::clamp<int64_t>(values_[index].i, 0, lookup.extent - 1);
  }

  Result<std::byte*> locate(BufferRef ref, int64_t at, bool stored) {
    const Buffer& buffer = buffers_in(ref.space, module_, kernel_)[ref.id];
    if (at < 0 || at >= buffer.size) {
      return fail(concat("kernel ", kernel_.name, ": ", stored ? "store to " : "load from ",
                         buffer.name, '[', at, "] outside ", scalar::text(buffer.dtype), '[',
                         buffer.size, ']'));
    }
    Memory::Storage& storage = storages(ref.space)[ref.id];
    if (ref.space != Space::Register && thread_ > 0) {
      Accesses& accesses = ref.space == Space::Global ? global_accesses_ : shared_accesses_;
      if (!accesses.note(ref.id, at, thread_, stored)) {
        return fail(
            concat("kernel ", kernel_.name, ": threads race for ", buffer.name, '[', at, ']'));
      }
    }
    return storage.bytes.data() + at * scalar::size_of(storage.dtype);
  }

  std::vector<Memory::Storage>& storages(Space space) {
    switch (space) {
      case Space::Global:
        return memory_.buffers_;
      case Space::Register:
        return registers_;
      case Space::Workgroup:
        return shared_;
    }
    return registers_;
  }

  bool are_true(const std::vector<Guard>& guards) const {
    return std::all_of(guards.begin(), guards.end(), [&](const Guard& guard) {
      const int64_t index = evaluate(guard.index);
      return 0 <= index && index < guard.extent;
    });
  }

  int64_t evaluate(const Affine& affine) const {
    int64_t sum = affine.offset;
    for (const Term& term : affine.terms) sum += term.coefficient * vars_[term.var];
    return sum;
  }

  const Module& module_;
  const Kernel& kernel_;
  Memory& memory_;
  const size_t subgroup_threads_;
  std::vector<int64_t> vars_;
  std::vector<Number> values_;
  std::vector<Thread> threads_;  // of the group that runs
  std::vector<Memory::Storage> shared_;
  std::vector<Memory::Storage> registers_;  // of the thread that runs
  int64_t thread_ = 0;                      // its number; 0 where there is only one
  Accesses global_accesses_, shared_accesses_;
  std::unordered_map<const Stmt*, std::vector<ExprId>> orders_;
  bool reduces_ = false;  // whether the threads of a subgroup compute `reduced_` and store nothing
  std::unordered_map<const Expr*, Number> reduced_;
};

namespace {

Status run_steps(const Module& module, const Entry& entry, const std::vector<Step>& steps,
                 Memory& memory, int64_t subgroup_threads) {
  for (const Step& step : steps) {
    if (step.repeat < 0) {
      LATHE_TRY(
          Interpreter(module, entry.kernels[step.begin], memory, subgroup_threads).run_kernel());
      continue;
    }
    const std::vector<Step> body = steps_of(entry, step);
    const Repeat& repeat = entry.repeats[step.repeat];
    for (int64_t i = 0; i < repeat.times; ++i) {
      const bool may_end = repeat.condition >= 0;
      if (may_end && memory.bytes(repeat.condition)[0] == std::byte{0}) break;
      LATHE_TRY(run_steps(module, entry, body, memory, subgroup_threads));
    }
  }
  return {};
}

}  // namespace

Status run(const Module& module, std::string_view entry_name, Memory& memory,
           int64_t subgroup_threads) {
  for (const Entry& entry : module.entries) {
    if (entry.name != entry_name) continue;
    Interpreter::spoil_temporaries(module, memory);
    return run_steps(module, entry, steps_of(entry), memory, subgroup_threads);
  }
  return fail(concat("the module has no entry ", entry_name));
}

}  // namespace lathe::loop
