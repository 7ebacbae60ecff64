#include "lathe/loop/analysis/verify_kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/loop/analysis/bounds.h"
#include "lathe/loop/analysis/lanes.h"
#include "lathe/loop/analysis/parallel.h"
#include "lathe/loop/analysis/read_after_write.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

bool in_limits(int64_t number) { return -kLargest <= number && number <= kLargest; }

class KernelVerifier {
 public:
  KernelVerifier(const Module& module, const Kernel& kernel, bool has_f16)
      : module_(module),
        kernel_(kernel),
        has_f16_(has_f16),
        ranges_(kernel.vars.size()),
        kinds_(kernel.vars.size(), LoopKind::Serial),
        function_of_(kernel.registers.size(), -1),
        lanes_of_(kernel.registers.size()) {}

  Status run() {
    Names locals("registers");
    for (const auto* buffers : {&kernel_.registers, &kernel_.shared}) {
      for (const Buffer& buffer : *buffers) {
        LATHE_TRY(locals.add(buffer.name));
        if (buffer.size < 0 || buffer.size > kLargest) {
          return fail(concat("register ", buffer.name, " has size ", buffer.size));
        }
      }
    }
    Kernel once;
    ExprBuilder builder(once);
    for (size_t id = 0; id < kernel_.exprs.size(); ++id) {
      LATHE_TRY(expr(static_cast<ExprId>(id)));
      if (builder.add(kernel_.exprs[id]) != static_cast<ExprId>(id)) {
        return fail(concat("expression ", id, " occurs twice in the table"));
      }
    }
    for (const int32_t id : kernel_.rereads) LATHE_TRY(resolve({Space::Global, id}));
    const bool has_tasks = std::ranges::any_of(kernel_.body, is_parallel);
    LATHE_TRY(has_tasks ? tasks(kernel_.body) : body(kernel_.body, /*threads=*/true));
    return check_read_after_write(module_, kernel_);
  }

 private:
  // Checks of an expression that do not depend on its use.
  Status expr(ExprId id) {
    const Expr& expr = kernel_.exprs[id];
    for (int i = 0; i < expr.operand_count(); ++i) {
      if (expr.operands[i] < 0 || expr.operands[i] >= id) {
        return fail(concat("expression ", id, " comes before its operand ", expr.operands[i]));
      }
    }
    bool fits = !scalar::is_half(expr.dtype) || is_f16(expr.dtype);
    switch (expr.kind) {
      case ExprKind::Constant:
        fits = fits && expr.constant.dtype == expr.dtype;
        break;
      case ExprKind::Index:
        fits = expr.dtype == DType::I32;
        break;
      case ExprKind::Load: {
        LATHE_ASSIGN_OR_RETURN(const Buffer* const buffer, resolve(expr.buffer));
        fits = fits && expr.dtype == buffer->dtype;
        LATHE_TRY(looks_up(expr.buffer, expr.lookup, expr.operands[0]));
        break;
      }
      case ExprKind::Apply: {
        DType dtypes[scalar::kMaxArity];
        for (int i = 0; i < expr.operand_count(); ++i) {
          dtypes[i] = kernel_.exprs[expr.operands[i]].dtype;
        }
        fits = scalar::result_dtype(expr.op, dtypes) == expr.dtype &&
               (computes(expr.op, expr.dtype) || expr.op == Op::Select) &&
               (!expr.rare || expr.op == Op::Select);
        for (int i = 0; i < expr.operand_count() && expr.op != Op::Select; ++i) {
          fits = fits && computes(expr.op, dtypes[i]);
        }
        break;
      }
      case ExprKind::Cast:
        break;
      case ExprKind::Reduce:
        LATHE_TRY(reduces(expr));
        fits = fits && expr.dtype == kernel_.exprs[expr.operands[0]].dtype;
        break;
    }
    has_reduce_.push_back(expr.kind == ExprKind::Reduce);
    for (int i = 0; i < expr.operand_count(); ++i) {
      if (!has_reduce_[expr.operands[i]]) continue;
      if (expr.kind == ExprKind::Reduce) return fail("a reduction of a reduction");
      has_reduce_[id] = true;
    }
    if (!fits) {
      return fail(concat("expression ", id, " has the wrong dtype ", scalar::text(expr.dtype)));
    }
    return {};
  }

  static Status reduces(const Expr& expr) {
    const bool is_op = expr.op == Op::Add || expr.op == Op::Max || expr.op == Op::Min;
    const bool is_type =
        expr.dtype == DType::F32 || expr.dtype == DType::I32 || expr.dtype == DType::U32;
    if (is_op && is_type) return {};
    return fail(concat("subgroups do not reduce ", scalar::text(expr.dtype), " by ",
                       scalar::info(expr.op).text));
  }

  bool is_f16(DType dtype) const { return has_f16_ && dtype == DType::F16; }

  // Of f16 only what no target expands.
  bool computes(Op op, DType dtype) const {
    return scalar::is_computed(dtype) || (is_f16(dtype) && !scalar::info(op).expanded);
  }

  Status looks_up(BufferRef ref, const Lookup& lookup, ExprId index) const {
    if (!lookup) return {};
    if (ref.space != Space::Global) return fail("a lookup outside global memory");
    if (index < 0 || index >= static_cast<int64_t>(kernel_.exprs.size())) {
      return fail(concat("expression ", index, " does not exist"));
    }
    if (kernel_.exprs[index].dtype != DType::I32) return fail("the index of a lookup is not i32");
    if (lookup.scale < 0 || !in_limits(lookup.scale) || !in_limits(lookup.extent)) {
      return fail("a lookup with a factor or extent out of range");
    }
    return {};
  }

  Result<const Buffer*> resolve(BufferRef ref) const {
    const auto& buffers = buffers_in(ref.space, module_, kernel_);
    if (ref.id < 0 || ref.id >= static_cast<int64_t>(buffers.size())) {
      return fail(
          concat(ref.space == Space::Global ? "buffer " : "register ", ref.id, " does not exist"));
    }
    return &buffers[ref.id];
  }

  static bool is_parallel(const Stmt& stmt) { return stmt.loop == LoopKind::Parallel; }

  // Registers are private to a task, as to an outlined body.
  Status tasks(const std::vector<Stmt>& stmts) {
    bool open = false;  // a run of statements that is one task
    for (const Stmt& stmt : stmts) {
      const bool ends = is_parallel(stmt) || stmt.kind == StmtKind::Barrier;
      if (ends || !open) function_ = ++functions_;
      open = !ends;
      if (stmt.kind == StmtKind::Barrier) continue;
      LATHE_TRY(is_parallel(stmt) ? parallel_loop(stmt) : body({stmt}, false));
    }
    return {};
  }

  Status parallel_loop(const Stmt& stmt) {
    LATHE_TRY(check_loop(stmt));
    const auto reject = [&](std::string_view problem) {
      return fail(concat("parallel loop ", kernel_.vars[stmt.var].name, ' ', problem));
    };
    const bool nested = stmt.body.size() == 1 && is_parallel(stmt.body[0]);
    if (stmt.grain < 1 || stmt.grain > kLargest) return reject(concat("has grain ", stmt.grain));
    if (nested && stmt.grain != 1) return reject("has a grain and is not the innermost");
    if (nested && stmt.outlined) return reject("is outlined and not the innermost");
    enter(stmt);
    LATHE_TRY(nested ? parallel_loop(stmt.body[0]) : body(stmt.body, false));
    leave(stmt);
    if (iterations_independent(kernel_, stmt)) return {};
    return reject("has iterations that need each other");
  }

  // `threads`: nothing but Grid and Group loops around, each the only statement.
  Status body(const std::vector<Stmt>& stmts, bool threads) {
    for (const Stmt& stmt : stmts) {
      if (subgroup_ >= 0 && stmt.kind != StmtKind::Store) {
        return fail("a subgroup loop contains more than stores");
      }
      switch (stmt.kind) {
        case StmtKind::For:
          LATHE_TRY(for_loop(stmt, threads && stmts.size() == 1));
          break;
        case StmtKind::Store:
          LATHE_TRY(store(stmt));
          break;
        case StmtKind::If:
          if (lane_ >= 0) return fail("a vector loop contains an if");
          for (const Guard& guard : stmt.guards) LATHE_TRY(form(guard.index));
          conditions_.insert(conditions_.end(), stmt.guards.begin(), stmt.guards.end());
          ++ifs_;
          LATHE_TRY(body(stmt.body, false));
          --ifs_;
          conditions_.resize(conditions_.size() - stmt.guards.size());
          break;
        case StmtKind::When:
          LATHE_TRY(when(stmt));
          break;
        case StmtKind::Barrier:
          if (!in_group_) return fail("a barrier outside a group");
          if (ifs_ > 0 || lane_ >= 0) return fail("a barrier that not every thread may reach");
          break;
      }
    }
    return {};
  }

  // Grid loops around Group loops around everything else.
  Status threads_nest(const Stmt& stmt, bool threads) const {
    const bool fits = stmt.loop == LoopKind::Group || !in_group_;
    if (threads && fits) return {};
    return fail(concat(stmt.loop == LoopKind::Grid ? "grid" : "group", " loop ",
                       kernel_.vars[stmt.var].name, " is not among the outermost loops"));
  }

  // Checks of a loop that do not depend on its position.
  Status check_loop(const Stmt& stmt) const {
    if (stmt.var < 0 || stmt.var >= static_cast<int64_t>(kernel_.vars.size())) {
      return fail(concat("loop variable ", stmt.var, " does not exist"));
    }
    const Var& var = kernel_.vars[stmt.var];
    for (const VarId outer : scope_) {
      if (kernel_.vars[outer].name == var.name) {
        return fail(concat("loop ", var.name, " is nested in a loop of that name"));
      }
    }
    if (var.extent < 0 || var.extent > kLargest) {
      return fail(concat("loop ", var.name, " has extent ", var.extent));
    }
    if (stmt.outlined && stmt.loop != LoopKind::Serial && !is_parallel(stmt)) {
      return fail(concat("loop ", var.name, " is outlined but not serial"));
    }
    return {};
  }

  void enter(const Stmt& stmt) {
    scope_.push_back(stmt.var);
    ranges_[stmt.var] = Range{0, kernel_.vars[stmt.var].extent - 1};
    kinds_[stmt.var] = stmt.loop;
  }

  void leave(const Stmt& stmt) {
    ranges_[stmt.var] = std::nullopt;
    scope_.pop_back();
  }

  Status for_loop(const Stmt& stmt, bool threads) {
    LATHE_TRY(check_loop(stmt));
    const Var& var = kernel_.vars[stmt.var];
    if (is_parallel(stmt)) {
      return fail(concat("parallel loop ", var.name, " is not among the outermost loops"));
    }
    if (stmt.grain != 1) return fail(concat("loop ", var.name, " has a grain"));
    if (lane_ >= 0 && stmt.loop != LoopKind::Unroll) {
      return fail(concat("a vector loop contains loop ", var.name, ", which is not unrolled"));
    }
    if (stmt.loop == LoopKind::Vector && !is_vector_width(var.extent)) {
      return fail(concat("vector loop ", var.name, " has extent ", var.extent));
    }
    const bool is_thread = stmt.loop == LoopKind::Grid || stmt.loop == LoopKind::Group;
    if (is_thread) LATHE_TRY(threads_nest(stmt, threads));
    if (stmt.loop == LoopKind::Subgroup) LATHE_TRY(subgroup_loop(stmt));
    enter(stmt);
    if (stmt.loop == LoopKind::Vector) lane_ = stmt.var;
    if (stmt.loop == LoopKind::Subgroup) subgroup_ = stmt.var;
    const int outer = function_;
    if (stmt.outlined) function_ = ++functions_;
    const bool outside = std::exchange(in_group_, in_group_ || stmt.loop == LoopKind::Group);
    LATHE_TRY(body(stmt.body, is_thread));
    in_group_ = outside;
    function_ = outer;
    if (stmt.loop == LoopKind::Subgroup) subgroup_ = -1;
    if (stmt.loop == LoopKind::Vector) {
      lane_ = -1;
      if (lanes_meet(kernel_, stmt)) {
        return fail(concat("a lane of vector loop ", var.name,
                           " reads or writes what another "
                           "writes"));
      }
    }
    leave(stmt);
    return {};
  }

  Status subgroup_loop(const Stmt& stmt) const {
    const Var& var = kernel_.vars[stmt.var];
    if (!in_group_) return fail(concat("subgroup loop ", var.name, " is outside a group"));
    if (ifs_ > 0) return fail("a subgroup loop that not every thread may reach");
    int64_t threads = 1;
    for (const VarId outer : scope_) {
      if (kinds_[outer] == LoopKind::Group) threads *= kernel_.vars[outer].extent;
    }
    const int64_t most = (threads + kMinSubgroup - 1) / kMinSubgroup;
    if (var.extent >= 1 && var.extent <= most) return {};
    return fail(concat("subgroup loop ", var.name, " has extent ", var.extent, "; ", threads,
                       " threads form at most ", most, " subgroups"));
  }

  // A store in a Subgroup loop.
  Status store_together(const Stmt& stmt) const {
    if (stmt.buffer.space == Space::Register) return {};
    if (stmt.buffer.space == Space::Global) return fail("a subgroup loop stores to global memory");
    if (stmt.address.coefficient(subgroup_) == 0) return fail("all subgroups store to one element");
    for (const Term& term : stmt.address.terms) {
      if (kinds_[term.var] == LoopKind::Group) {
        return fail("the threads of a subgroup store to several elements");
      }
    }
    if (is_uniform(stmt.value)) return {};
    return fail("the threads of a subgroup store several values");
  }

  bool is_uniform(ExprId id) const {
    const Expr& expr = kernel_.exprs[id];
    if (expr.kind == ExprKind::Load || expr.kind == ExprKind::Index) return false;
    const int count = expr.kind == ExprKind::Reduce ? 0 : expr.operand_count();
    return std::all_of(expr.operands.begin(), expr.operands.begin() + count,
                       [this](ExprId operand) { return is_uniform(operand); });
  }

  Status when(const Stmt& stmt) {
    if (lane_ >= 0) return fail("a vector loop contains a when");
    if (stmt.value < 0 || stmt.value >= static_cast<int64_t>(kernel_.exprs.size())) {
      return fail(concat("expression ", stmt.value, " does not exist"));
    }
    const DType dtype = kernel_.exprs[stmt.value].dtype;
    if (dtype != DType::Bool) return fail(concat("a when tests ", scalar::text(dtype)));
    LATHE_TRY(operands_of(stmt));
    ++ifs_;
    LATHE_TRY(body(stmt.body, false));
    --ifs_;
    return {};
  }

  Status store(const Stmt& stmt) {
    if (stmt.value < 0 || stmt.value >= static_cast<int64_t>(kernel_.exprs.size())) {
      return fail(concat("expression ", stmt.value, " does not exist"));
    }
    LATHE_ASSIGN_OR_RETURN(const Buffer* const buffer, resolve(stmt.buffer));
    if (kernel_.exprs[stmt.value].dtype != buffer->dtype) {
      return fail(concat("a ", scalar::text(kernel_.exprs[stmt.value].dtype), " is stored to ",
                         scalar::text(buffer->dtype), ' ', buffer->name));
    }
    if (stmt.buffer.space == Space::Global &&
        (buffer->role == BufferRole::Input || buffer->role == BufferRole::Constant)) {
      return fail(concat("a store to ", buffer->name, ", which is read-only"));
    }
    LATHE_TRY(looks_up(stmt.buffer, stmt.lookup, stmt.index));
    if (lane_ >= 0 && stmt.address.coefficient(lane_) == 0) {
      return fail(concat("all lanes store to one element of ", buffer->name));
    }
    if (subgroup_ >= 0) LATHE_TRY(store_together(stmt));
    LATHE_TRY(operands_of(stmt));
    LATHE_TRY(local_register(stmt.buffer, /*stored=*/true));
    return access(stmt.buffer, stmt.address, stmt.lookup, conditions_, /*stored=*/true);
  }

  // Checks of the statement's expressions inside these loops.
  Status operands_of(const Stmt& stmt) {
    for (const ExprId id : computed(kernel_, stmt)) {
      const Expr& expr = kernel_.exprs[id];
      if (expr.kind == ExprKind::Reduce && subgroup_ < 0) {
        return fail("a reduction outside a subgroup loop");
      }
      if (expr.kind == ExprKind::Index) LATHE_TRY(form(expr.address));
      if (expr.kind == ExprKind::Load) {
        std::vector<Guard> guards = conditions_;
        for (const Guard& guard : expr.guards) {
          LATHE_TRY(form(guard.index));
          guards.push_back(guard);
        }
        LATHE_TRY(local_register(expr.buffer, /*stored=*/false));
        LATHE_TRY(access(expr.buffer, expr.address, expr.lookup, guards, /*stored=*/false));
      }
    }
    return {};
  }

  // Registers are private to an outlined body and lose their values between two calls.
  Status local_register(BufferRef ref, bool stored) {
    if (ref.space != Space::Register) return {};
    int& function = function_of_[ref.id];
    const std::string& name = kernel_.registers[ref.id].name;
    if (function < 0 && function_ > 0 && !stored) {
      return fail(
          concat("an outlined loop or a task reads register ", name, " before it writes it"));
    }
    if (function < 0) function = function_;
    if (function == function_) return {};
    return fail(concat("register ", name, " crosses the body of an outlined loop or a task"));
  }

  Status access(BufferRef ref, const Affine& address, const Lookup& lookup,
                const std::vector<Guard>& guards, bool stored) {
    LATHE_TRY(form(address));
    LATHE_ASSIGN_OR_RETURN(const Buffer* const buffer, resolve(ref));
    auto range = range_of(address, guards, ranges_);
    int64_t reach = 0;
    const bool overflows =
        lookup && (__builtin_mul_overflow(lookup.scale, lookup.extent - 1, &reach) || !range ||
                   __builtin_add_overflow(range->high, reach, &reach));
    if (!range || overflows) return fail(concat("an address of ", buffer->name, " overflows"));
    if (lookup && !range->empty()) range->high = reach;
    if (!range->empty() && (range->low < 0 || range->high >= buffer->size)) {
      return fail(concat("an access to ", buffer->name, '[', range->low, "..", range->high,
                         "] outside ", scalar::text(buffer->dtype), '[', buffer->size, ']'));
    }
    if (ref.space == Space::Workgroup && !in_group_) {
      return fail(concat("shared buffer ", buffer->name, " is used outside a group"));
    }
    if (ref.space != Space::Register) return {};
    for (const Term& term : address.terms) {
      if (kinds_[term.var] != LoopKind::Unroll && kinds_[term.var] != LoopKind::Vector) {
        return fail(concat("the address of register ", buffer->name, " depends on serial loop ",
                           kernel_.vars[term.var].name));
      }
    }
    return aligned(ref, address, stored);
  }

  // Lanes are elements of a register side by side, all the same one, or read across a square.
  // A store writes an aligned vector.
  Status aligned(BufferRef ref, const Affine& address, bool stored) {
    if (lane_ < 0 || address.coefficient(lane_) == 0) return {};
    const std::string& name = kernel_.registers[ref.id].name;
    const int64_t lanes = kernel_.vars[lane_].extent;
    int64_t& lanes_of_register = lanes_of_[ref.id];
    if (lanes_of_register != 0 && lanes_of_register != lanes) {
      return fail(concat("register ", name, " has vectors of ", lanes_of_register, " and of ",
                         lanes, " lanes"));
    }
    lanes_of_register = lanes;
    if (!stored && address.coefficient(lane_) == lanes) return {};
    bool is_aligned = address.coefficient(lane_) == 1 && (!stored || address.offset % lanes == 0);
    for (const Term& term : address.terms) {
      is_aligned = is_aligned && (term.var == lane_ || term.coefficient % lanes == 0);
    }
    if (is_aligned) return {};
    return fail(
        concat("the lanes of register ", name, " are not ", lanes, " elements side by side"));
  }

  // Terms in order, over variables of loops around.
  Status form(const Affine& affine) {
    VarId last = -1;
    for (const Term& term : affine.terms) {
      if (term.var <= last || term.coefficient == 0) {
        return fail("terms out of order or with factor 0");
      }
      if (term.var >= static_cast<int64_t>(ranges_.size()) || !ranges_[term.var]) {
        return fail(concat("variable ", term.var, " is used outside its loop"));
      }
      if (!in_limits(term.coefficient)) return fail("a factor too large");
      last = term.var;
    }
    if (!in_limits(affine.offset)) return fail("an offset too large");
    return {};
  }

  const Module& module_;
  const Kernel& kernel_;
  const bool has_f16_;
  VarRanges ranges_;
  std::vector<LoopKind> kinds_;  // of the loops around
  std::vector<VarId> scope_;
  std::vector<Guard> conditions_;
  VarId lane_ = -1;                    // of the vector loop around
  VarId subgroup_ = -1;                // of the subgroup loop around
  std::vector<bool> has_reduce_;       // by expression: whether it is or contains a Reduce
  bool in_group_ = false;              // whether a Group loop is around
  int ifs_ = 0;                        // around
  int function_ = 0, functions_ = 0;   // outlined loop around, and how many there are
  Table<BufferId, int> function_of_;   // of each register, or -1
  Table<BufferId, int64_t> lanes_of_;  // of the vectors of each register, or 0
};

}  // namespace

Status verify_kernel(const Module& module, const Kernel& kernel, bool has_f16) {
  return KernelVerifier(module, kernel, has_f16).run();
}

}  // namespace lathe::loop
