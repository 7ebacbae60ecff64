#include "lathe/emit/wasm/function.h"

#include <utility>

#include "lathe/base/check.h"

namespace lathe::emit_wasm {

using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using wasm::Opcode;
using wasm::ValType;

FunctionEmitter::FunctionEmitter(const KernelContext& context, KernelFunctions& functions,
                                 wasm::FunctionBuilder& code,
                                 const std::set<InductionVariable>& params,
                                 std::vector<loop::VarId> nest)
    : context_(context),
      functions_(functions),
      code_(code),
      locals_(code),
      addresses_(context, code, locals_, std::move(nest), params),
      constants_(code, locals_),
      lanes_(code, locals_, context.lanes),
      registers_(context, code, lanes_),
      values_(context, code, locals_, addresses_),
      casts_(code, locals_, constants_, lanes_, context.lanes),
      lookups_(context, code, locals_, values_, expressions_),
      memory_(context, code, locals_, addresses_, constants_, lanes_, registers_, values_, lookups_,
              expressions_),
      pairs_(context, code, locals_, addresses_, constants_, expressions_),
      operations_(context, code, locals_, addresses_, lanes_, registers_, values_, pairs_,
                  expressions_),
      expressions_(context, code, locals_, addresses_, constants_, lanes_, values_, casts_, memory_,
                   pairs_, operations_),
      hoister_(context, addresses_, constants_, values_, lookups_, expressions_) {}

void FunctionEmitter::emit_body(std::span<const Stmt> body) {
  for (const Stmt& stmt : body) emit_stmt(stmt);
}

void FunctionEmitter::emit_stmt(const Stmt& stmt) {
  const Stmt* outer = std::exchange(statement_, &stmt);
  functions_.mark(code_, statement_);
  emit_kind(stmt);
  statement_ = outer;
  functions_.mark(code_, statement_);
}

void FunctionEmitter::emit_kind(const Stmt& stmt) {
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

void FunctionEmitter::emit_loop(const Stmt& stmt) {
  switch (stmt.loop) {
    case LoopKind::Serial:
    case LoopKind::Parallel:
      return emit_serial(stmt);
    case LoopKind::Unroll:
      return emit_unrolled(stmt);
    case LoopKind::Vector:
      return context_.target.simd ? emit_lanes(stmt) : emit_unrolled(stmt);
    case LoopKind::Grid:
    case LoopKind::Group:
    case LoopKind::Subgroup:
      LATHE_CHECK(!"threads in a program for one thread");
  }
}

void FunctionEmitter::emit_unrolled(const Stmt& stmt) {
  for (int64_t value = 0; value < context_.extent(stmt.var); ++value) {
    addresses_.fix(stmt.var, value);
    emit_body(stmt.body);
  }
  addresses_.unfix(stmt.var);
}

void FunctionEmitter::emit_lanes(const Stmt& stmt) {
  for (int64_t first = 0; first < context_.extent(stmt.var); first += context_.lanes) {
    addresses_.open_lanes(stmt.var, first);
    emit_body(stmt.body);
  }
  addresses_.close_lanes();
}

void FunctionEmitter::emit_serial(const Stmt& stmt) {
  const int64_t extent = context_.extent(stmt.var);
  if (extent == 0) return;
  const bool is_outlined = hoister_.is_outlined(stmt);
  if (open_loops_ == 0 && !is_outlined) hoister_.hoist_constants(stmt);
  if (!is_outlined) hoister_.hoist_invariants(stmt);
  const Inductions moving = open_loop(stmt);
  const uint32_t counter = locals_.acquire(ValType::i32);
  code_.i32_const(static_cast<int32_t>(extent)).op_index(Opcode::local_set, counter);
  emit_iterations(stmt, moving, counter);
  locals_.release(ValType::i32, counter);
  close_loop(moving);
  if (!is_outlined) hoister_.release_invariants();
}

void FunctionEmitter::emit_parallel(std::span<const Stmt* const> loops,
                                    std::span<const uint32_t> starts, uint32_t count) {
  const Stmt& innermost = *loops.back();
  if (!hoister_.is_outlined(innermost)) hoister_.hoist_constants(innermost);
  std::vector<Inductions> moving;
  for (size_t i = 0; i < loops.size(); ++i) moving.push_back(open_loop(*loops[i], starts[i]));
  emit_iterations(innermost, moving.back(), count);
  for (; !moving.empty(); moving.pop_back()) close_loop(moving.back());
}

FunctionEmitter::Inductions FunctionEmitter::open_loop(const Stmt& stmt,
                                                       std::optional<uint32_t> start) {
  pairs_.drop();
  ++open_loops_;
  return addresses_.open_loop(stmt, start);
}

void FunctionEmitter::close_loop(const Inductions& moving) {
  pairs_.drop();
  addresses_.close_loop(moving);
  if (--open_loops_ == 0) hoister_.release_constants();
}

// Repeats the body as many times as the local `counter` states, at least once.
void FunctionEmitter::emit_iterations(const Stmt& stmt, const Inductions& moving,
                                      uint32_t counter) {
  code_.loop();
  if (hoister_.is_outlined(stmt)) {
    emit_outlined_call(stmt);
  } else {
    emit_body(stmt.body);
  }
  addresses_.advance(moving);
  code_.op_index(Opcode::local_get, counter).i32_const(1).op(Opcode::i32_sub);
  code_.op_index(Opcode::local_tee, counter).br_if(0).end();
}

void FunctionEmitter::emit_outlined_call(const Stmt& stmt) {
  const Inductions params = addresses_.params_of(stmt);
  wasm::FunctionBuilder& function = functions_.add_body(params.size());
  for (const InductionVariable& induction : params) addresses_.push(induction);
  code_.call(function.index());

  FunctionEmitter inner(context_, functions_, function, params, addresses_.nest());
  inner.statement_ = statement_;
  inner.pairs_.set_conditional(pairs_.is_conditional());
  inner.emit_body(stmt.body);
}

void FunctionEmitter::emit_if(const Stmt& stmt) {
  const std::optional<bool> decided = addresses_.push_guards(stmt.guards);
  if (decided == false) return;
  if (!decided) code_.if_();
  emit_conditional(stmt.body);
  if (!decided) code_.end();
}

void FunctionEmitter::emit_when(const Stmt& stmt) {
  values_.begin(stmt);
  expressions_.emit_scalar(stmt.value);
  values_.end();
  code_.if_();
  emit_conditional(stmt.body);
  code_.end();
}

void FunctionEmitter::emit_conditional(std::span<const Stmt> body) {
  pairs_.drop();
  const bool outer = pairs_.is_conditional();
  pairs_.set_conditional(true);
  emit_body(body);
  pairs_.set_conditional(outer);
}

void FunctionEmitter::emit_store(const Stmt& stmt) {
  values_.begin(stmt);
  if (stmt.buffer.space == loop::Space::Register) {
    memory_.store_register(stmt);
  } else {
    pairs_.drop();
    memory_.store_global(stmt);
  }
  values_.end();
}

}  // namespace lathe::emit_wasm
