#include "lathe/emit/wasm/kernel.h"

#include <algorithm>
#include <set>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/loop/analysis/vector_registers.h"
#include "lathe/loop/rebuild.h"

namespace lathe::emit_wasm {

using loop::DType;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using wasm::Opcode;
using wasm::ValType;

namespace {

int lanes_of(const loop::Kernel& kernel) {
  int size = 4;
  for (const loop::Expr& expr : kernel.exprs) size = std::max(size, lane_size(expr.dtype));
  return 16 / size;
}

}  // namespace

KernelEmitter::KernelEmitter(wasm::ModuleBuilder& module_builder, const loop::Module& module,
                             const loop::Kernel& kernel, const Placement& placement, Target target,
                             std::vector<Origin>* origins)
    : module_builder_(module_builder),
      module_(module),
      kernel_(kernel),
      placement_(placement),
      target_(target),
      lanes_(lanes_of(kernel)),
      origins_(origins),
      vector_registers_(target.simd ? loop::vector_registers(kernel)
                                    : std::vector<bool>(kernel.registers.size())) {}

Callee KernelEmitter::emit() {
  const std::set<int32_t> bases = bases_used();
  scope_.function = &module_builder_.add_function(
      kernel_.name, std::vector<ValType>(bases.size(), ValType::i32), {});
  for (uint32_t index = 0; const int32_t base : bases) scope_.inductions[{{}, base}] = index++;
  mark_origin();
  emit_body(kernel_.body);
  return {code().index(), {bases.begin(), bases.end()}};
}

std::set<int32_t> KernelEmitter::bases_used() const {
  std::set<int32_t> bases;
  for (const InductionVariable& induction :
       induction_variables_of(module_, placement_, kernel_, kernel_.body, {})) {
    if (induction.base >= 0) bases.insert(induction.base);
  }
  return bases;
}

uint32_t KernelEmitter::acquire(ValType type) {
  auto& free = scope_.free_locals[type];
  if (free.empty()) return code().add_local(type);
  const uint32_t local = free.back();
  free.pop_back();
  return local;
}

void KernelEmitter::release(ValType type, uint32_t local) {
  scope_.free_locals[type].push_back(local);
}

void KernelEmitter::emit_body(std::span<const Stmt> body) {
  for (const Stmt& stmt : body) emit_stmt(stmt);
}

void KernelEmitter::emit_stmt(const Stmt& stmt) {
  const Stmt* outer = std::exchange(statement_, &stmt);
  mark_origin();
  emit_kind(stmt);
  statement_ = outer;
  mark_origin();
}

void KernelEmitter::mark_origin() {
  if (origins_ == nullptr) return;
  origins_->push_back({code().index(), code().instruction_count(), &kernel_, statement_});
}

void KernelEmitter::emit_kind(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::For:
      return emit_loop(stmt);
    case StmtKind::If:
      return emit_if(stmt);
    case StmtKind::When:
      return emit_when(stmt);
    case StmtKind::Store:
      return emit_store(stmt);
    case StmtKind::Barrier:
      return;  // a single thread does not wait
  }
}

void KernelEmitter::emit_loop(const Stmt& stmt) {
  switch (stmt.loop) {
    case LoopKind::Serial:
    case LoopKind::Parallel:
      return emit_serial(stmt);
    case LoopKind::Unroll:
      return emit_unrolled(stmt);
    case LoopKind::Vector:
      if (!target_.simd) return emit_unrolled(stmt);
      fixed_.lane = stmt.var;
      for (int64_t first = 0; first < loop::kLanes; first += lanes_) {
        fixed_.first_lane = first;
        emit_body(stmt.body);
      }
      fixed_.lane = -1;
      fixed_.first_lane = 0;
      return;
    case LoopKind::Grid:
    case LoopKind::Group:
      LATHE_CHECK(!"threads in a program for one thread");
  }
}

void KernelEmitter::emit_unrolled(const Stmt& stmt) {
  for (int64_t value = 0; value < kernel_.vars[static_cast<size_t>(stmt.var)].extent; ++value) {
    fixed_.values[stmt.var] = value;
    emit_body(stmt.body);
  }
  fixed_.values.erase(stmt.var);
}

void KernelEmitter::emit_serial(const Stmt& stmt) {
  const auto extent = kernel_.vars[static_cast<size_t>(stmt.var)].extent;
  if (extent == 0) return;
  const bool outlined = stmt.outlined && fixed_.values.empty();
  if (scope_.open_loops == 0 && !outlined) hoist_constants(stmt);
  if (!outlined) hoist_invariants(stmt);
  const std::set<InductionVariable> moving = open_loop(stmt);
  const uint32_t counter = acquire(ValType::i32);
  code().i32_const(static_cast<int32_t>(extent)).op_index(Opcode::local_set, counter);
  emit_iterations(stmt, outlined, moving, counter);
  release(ValType::i32, counter);
  close_loop(moving);
  if (!outlined) release_invariants();
}

// Forms that end with this loop's variable start at their outer part, or where the variable is
// `start`, a local, and advance by its coefficient.
std::set<InductionVariable> KernelEmitter::open_loop(const Stmt& stmt,
                                                     std::optional<uint32_t> start) {
  drop_pairs();
  ++scope_.open_loops;
  scope_.nest.push_back(stmt.var);
  const size_t depth = scope_.nest.size() - 1;
  std::set<InductionVariable> moving;
  for (const InductionVariable& induction :
       induction_variables_of(module_, placement_, kernel_, stmt.body, scope_.nest)) {
    const InductionVariable head = induction.prefix(scope_.nest, depth);
    if (!head.terms.empty() && head.terms.back().var == stmt.var) moving.insert(head);
  }
  for (const InductionVariable& induction : moving) {
    InductionVariable outer = induction;
    outer.terms.pop_back();
    push_induction_variable(outer);
    if (start) {
      const auto coefficient = static_cast<int32_t>(induction.terms.back().coefficient);
      code().op_index(Opcode::local_get, *start).i32_const(coefficient).op(Opcode::i32_mul);
      code().op(Opcode::i32_add);
    }
    const uint32_t local = acquire(ValType::i32);
    code().op_index(Opcode::local_set, local);
    scope_.inductions[induction] = local;
  }
  return moving;
}

void KernelEmitter::close_loop(const std::set<InductionVariable>& moving) {
  drop_pairs();
  for (const InductionVariable& induction : moving) {
    release(ValType::i32, scope_.inductions[induction]);
    scope_.inductions.erase(induction);
  }
  scope_.nest.pop_back();
  if (--scope_.open_loops == 0) release_constants();
}

// Repeats the body as many times as the local `counter` states, at least once.
void KernelEmitter::emit_iterations(const Stmt& stmt, bool outlined,
                                    const std::set<InductionVariable>& moving, uint32_t counter) {
  code().loop();
  if (outlined) {
    emit_outlined_call(stmt);
  } else {
    emit_body(stmt.body);
  }
  for (const InductionVariable& induction : moving) {
    const uint32_t local = scope_.inductions[induction];
    code().op_index(Opcode::local_get, local);
    code().i32_const(static_cast<int32_t>(induction.terms.back().coefficient)).op(Opcode::i32_add);
    code().op_index(Opcode::local_set, local);
  }
  code().op_index(Opcode::local_get, counter).i32_const(1).op(Opcode::i32_sub);
  code().op_index(Opcode::local_tee, counter).br_if(0).end();
}

// The parameters of the function are the outer parts of the body's induction variables. Each copy
// of an unrolled loop would need a separate function, so there bodies are emitted inline.
void KernelEmitter::emit_outlined_call(const Stmt& stmt) {
  std::set<InductionVariable> params;
  for (const InductionVariable& induction :
       induction_variables_of(module_, placement_, kernel_, stmt.body, scope_.nest)) {
    const InductionVariable head = induction.prefix(scope_.nest, scope_.nest.size() - 1);
    if (!head.empty()) params.insert(head);
  }
  auto& function =
      module_builder_.add_function(concat(kernel_.name, ".body", outlined_count_++),
                                   std::vector<ValType>(params.size(), ValType::i32), {});
  for (const InductionVariable& induction : params) push_induction_variable(induction);
  code().call(function.index());

  Scope inner;
  inner.function = &function;
  inner.nest = scope_.nest;
  for (uint32_t index = 0; const InductionVariable& induction : params)
    inner.inductions[induction] = index++;
  std::swap(scope_, inner);
  emit_body(stmt.body);
  drop_pairs();
  std::swap(scope_, inner);
}

void KernelEmitter::emit_if(const Stmt& stmt) {
  const std::optional<bool> decided = push_guards(stmt.guards);
  if (decided == false) return;
  if (!decided) code().if_();
  emit_conditional(stmt.body);
  if (!decided) code().end();
}

void KernelEmitter::emit_when(const Stmt& stmt) {
  begin_statement(stmt);
  emit_scalar(stmt.value);
  end_statement();
  code().if_();
  emit_conditional(stmt.body);
  code().end();
}

void KernelEmitter::emit_conditional(std::span<const Stmt> body) {
  drop_pairs();
  const bool outer = std::exchange(conditional_, true);
  emit_body(body);
  conditional_ = outer;
}

void KernelEmitter::begin_statement(const Stmt& stmt) {
  uses_.resize(kernel_.exprs.size());
  varies_.resize(kernel_.exprs.size());
  const auto use = [this](loop::ExprId id) {
    if (uses_[static_cast<size_t>(id)]++ == 0) reached_.push_back(id);
  };
  loop::for_each_root(stmt, use);
  for (size_t next = 0; next < reached_.size(); ++next) {
    const loop::Expr& expr = kernel_.exprs[static_cast<size_t>(reached_[next])];
    for (int i = 0; i < expr.operand_count(); ++i) use(expr.operands[static_cast<size_t>(i)]);
  }
}

void KernelEmitter::end_statement() {
  for (const auto& [key, local] : saved_) release(local.first, local.second);
  saved_.clear();
  for (loop::ExprId id : reached_) {
    uses_[static_cast<size_t>(id)] = 0;
    varies_[static_cast<size_t>(id)].reset();
  }
  reached_.clear();
}

void KernelEmitter::emit_store(const Stmt& stmt) {
  begin_statement(stmt);
  if (stmt.buffer.space == loop::Space::Register) {
    store_register(stmt);
  } else {
    store_global(stmt);
  }
  end_statement();
}

void KernelEmitter::store_register(const Stmt& stmt) {
  const SplitAddress at = split(stmt.address, 1);
  auto& locals = register_locals(stmt.buffer);
  if (!is_vector_register(stmt.buffer)) {
    emit_scalar(stmt.value);
    code().op_index(Opcode::local_set, locals[static_cast<size_t>(at.constant)]);
    return;
  }
  const uint32_t local = locals[static_cast<size_t>(at.constant / lanes_)];
  if (lanes_open()) {
    LATHE_CHECK(at.lane_coefficient == 1 && at.constant % lanes_ == 0);
    is_zero(stmt.value) ? computed_zero() : emit_vector(stmt.value);
  } else {
    code().op_index(Opcode::local_get, local);
    emit_scalar(stmt.value);
    replace_lane_of(dtype_of(stmt.buffer), static_cast<uint8_t>(at.constant % lanes_));
  }
  code().op_index(Opcode::local_set, local);
}

void KernelEmitter::store_global(const Stmt& stmt) {
  drop_pairs();
  const DType dtype = dtype_of(stmt.buffer);
  if (!lanes_open()) {
    const auto lookup = look_up(stmt.buffer, stmt.lookup, stmt.index);
    const wasm::MemArg at = push_address(stmt.buffer, stmt.address, lookup);
    emit_scalar(stmt.value);
    code().op_memory(wasm_type(dtype).store, at);
    return release(ValType::i32, lookup);
  }
  const bool varies_by_lane = stmt.lookup && varies(stmt.index);
  if (stmt.address.coefficient(fixed_.lane) != 1 || varies_by_lane) return store_global_lanes(stmt);
  const auto lookup = look_up(stmt.buffer, stmt.lookup, stmt.index);
  const wasm::MemArg at = push_address(stmt.buffer, stmt.address, lookup);
  emit_vector(stmt.value);
  release(ValType::i32, lookup);
  store_vector(dtype, at);
}

SplitAddress KernelEmitter::split(const loop::Affine& affine, int64_t scale) const {
  return split_address(affine, scale, scope_.nest, fixed_);
}

void KernelEmitter::push_induction_variable(const InductionVariable& induction) {
  if (induction.empty()) {
    code().i32_const(0);
    return;
  }
  const auto local = scope_.inductions.find(induction);
  LATHE_CHECK(local != scope_.inductions.end());
  code().op_index(Opcode::local_get, local->second);
}

void KernelEmitter::push_index(const loop::Affine& index) {
  const SplitAddress at = split(index, 1);
  if (at.induction.empty()) {
    code().i32_const(static_cast<int32_t>(at.constant));
    return;
  }
  push_induction_variable(at.induction);
  if (at.constant != 0) {
    code().i32_const(static_cast<int32_t>(at.constant)).op(Opcode::i32_add);
  }
}

// A pointer that may be negative must be complete before the unsigned offset is added to it.
wasm::MemArg KernelEmitter::push_address(loop::BufferRef buffer, const loop::Affine& address,
                                         std::optional<uint32_t> lookup) {
  SplitAddress at = split(address, scalar::size_of(dtype_of(buffer)));
  at.induction.base = placement_.base_of(buffer);
  const int64_t constant = at.constant + static_cast<int64_t>(placement_.offset_of(buffer));
  const bool falls = std::ranges::any_of(
      at.induction.terms, [](const loop::Term& term) { return term.coefficient < 0; });
  push_induction_variable(at.induction);
  if (lookup) code().op_index(Opcode::local_get, *lookup).op(Opcode::i32_add);
  wasm::MemArg memory;
  if (!falls && at.constant >= 0) {
    memory.offset = static_cast<uint64_t>(constant);
  } else {
    code().i32_const(static_cast<int32_t>(constant)).op(Opcode::i32_add);
  }
  return memory;
}

std::optional<bool> KernelEmitter::push_guards(std::span<const loop::Guard> guards) {
  bool pushed = false;
  std::vector<const loop::Guard*> unknown;
  for (const loop::Guard& guard : guards) {
    const SplitAddress at = split(guard.index, 1);
    if (!at.induction.empty()) {
      unknown.push_back(&guard);
    } else if (at.constant < 0 || at.constant >= guard.extent) {
      return false;
    }
  }
  for (const loop::Guard* guard : unknown) {
    push_index(guard->index);
    code().i32_const(static_cast<int32_t>(guard->extent)).op(Opcode::i32_lt_u);
    if (pushed) code().op(Opcode::i32_and);
    pushed = true;
  }
  if (!pushed) return true;
  return std::nullopt;
}

}  // namespace lathe::emit_wasm
