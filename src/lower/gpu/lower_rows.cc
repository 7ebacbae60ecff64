// Long rows: the threads of a group share each row. Every thread folds elements that are as far
// apart as there are threads, subgroups reduce what their threads have, and workgroup memory the
// rest; so each thread knows the fold before the next pass. Other rows have one thread each.
#include <algorithm>
#include <bit>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/lower/gpu/strategies.h"
#include "lathe/lower/rows.h"
#include "lathe/lower/segments.h"
#include "lathe/lower/strides.h"

namespace lathe::lower::gpu {

using graph::Value;
using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::ExprKind;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kLongRow = 128;  // elements of a row that is shared
constexpr int64_t kVeryLongRow = 1024;
constexpr int64_t kThreads = 64, kMoreThreads = 256;
// Rows that occupy a GPU with a thread each. Their threads read neighbours where rows are not
// contiguous, which is faster.
constexpr int64_t kManyRows = 2048;

class SharedRows final : public RowLowering {
 public:
  SharedRows(Nest& nest, const Group& group, RowSpace space, const Device& device)
      : RowLowering(nest, group, std::move(space)), device_(device), threads_(choose_threads()) {
    if (is_shared()) thread_ = kernel().add_var("thread", threads_);
  }

 private:
  bool is_shared() const { return threads_ > 0; }

  // 0: rows are not shared.
  int64_t choose_threads() {
    if (reduced().empty() || extent(reduced().back()) < kLongRow) return 0;
    int64_t rows = 1, folds = 0;
    for (const VarId var : spatial()) rows *= extent(var);
    std::vector<ExprId> exprs;
    for (int pass = 0; pass <= last_pass(); ++pass) {
      const Pass contents = contents_of(pass);
      folds += static_cast<int64_t>(contents.folds.size());
      append_exprs(exprs, exprs_of(contents));
    }
    const bool is_contiguous = std::ranges::all_of(exprs, [this](ExprId expr) {
      return stride_of(kernel(), expr, reduced().back()) != Stride::Other;
    });
    if (folds == 0 || (!is_contiguous && rows >= kManyRows)) return 0;
    for (const auto& [member, buffer] : per_row()) {
      if (nest().node(member).kind == graph::Kind::Reduce) continue;
      exprs.push_back(nest().computed(member, row_index(nest().node(member).shape)));
    }
    if (reads_of_other_threads(exprs)) return 0;
    const int64_t fitting = std::min(device_.threads, device_.shared_bytes / (4 * folds));
    const int64_t most = extent(reduced().back()) < kVeryLongRow ? kThreads : kMoreThreads;
    return fitting < loop::kMinSubgroup ? 0
                                        : static_cast<int64_t>(std::bit_floor(
                                              static_cast<uint64_t>(std::min(most, fitting))));
  }

  static void append_exprs(std::vector<ExprId>& to, const std::vector<ExprId>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  // Whether elements that the kernel stores are read from memory by other threads than those that
  // store them.
  bool reads_of_other_threads(const std::vector<ExprId>& exprs) {
    Table<ExprId, bool> used(kernel().exprs.size());
    for (const ExprId id : exprs) used[id] = true;
    for (size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      const loop::Expr& expr = kernel().exprs[id];
      for (int i = 0; i < expr.operand_count(); ++i) used[expr.operands[i]] = true;
      if (expr.kind != ExprKind::Load || expr.buffer.space != loop::Space::Global) continue;
      for (const Value member : group().members) {
        if (!is_stored(member) || nest().buffer_of(member) != expr.buffer) continue;
        const bool is_own = !per_row().contains(member) && !expr.lookup &&
                            expr.address == loop::row_major(index(), nest().node(member).shape);
        if (!is_own) return true;
      }
    }
    return false;
  }

  std::vector<Stmt> over_rows(std::vector<Stmt> body) override {
    if (!is_shared()) return RowLowering::over_rows(std::move(body));
    return around(spatial(), single(loop::for_loop(thread_, LoopKind::Group, std::move(body))),
                  LoopKind::Grid);
  }

  std::vector<Stmt> once(std::vector<Stmt> stores) override {
    if (!is_shared()) return stores;
    return single(loop::if_inside({{Affine::variable(thread_), 1}}, std::move(stores)));
  }

  std::vector<Stmt> loops_of(const Pass& pass) override {
    if (!is_shared()) return RowLowering::loops_of(pass);
    const VarId inner = reduced().back();
    const std::vector<VarId> outer(reduced().begin(), reduced().end() - 1);
    const int64_t full = extent(inner) / threads_;
    const Affine thread = Affine::variable(thread_);
    std::vector<Stmt> body;
    if (full > 0) {
      std::vector<Trip> trips;
      for (const VarId var : outer) trips.push_back({var, extent(var)});
      trips.push_back({kernel().add_var("r", full), full});
      const Index at =
          moved(index(), {{inner, Affine::variable(trips.back().var, threads_) + thread}});
      append(body, summed_by_thread(pass, trips, at));
    }
    if (full * threads_ < extent(inner)) {
      const Affine at = thread + full * threads_;
      std::vector<Stmt> rest =
          statements(pass, moved(index(), {{inner, at}}), {.folds = per_row()});
      append(body, around(outer, single(loop::if_inside({{at, extent(inner)}}, std::move(rest)))));
    }
    for (const Value fold : pass.folds) append(body, reduced_by_group(fold));
    return body;
  }

  std::vector<Stmt> summed_by_thread(const Pass& pass, const std::vector<Trip>& trips,
                                     const Index& at) {
    if (has_blocked_sum(pass)) {
      return summed(pass, per_row(), 1, trips, [&](const Indices& indices, const Registers& folds) {
        return statements(pass, moved(at, indices), {.folds = folds});
      });
    }
    std::vector<VarId> vars;
    for (const Trip& trip : trips) vars.push_back(trip.var);
    return around(vars, statements(pass, at, {.folds = per_row()}));
  }

  // What the threads folded, in the register of each.
  std::vector<Stmt> reduced_by_group(Value fold) {
    const graph::Node& node = nest().node(fold);
    const bool has_op = node.op == Op::Add || node.op == Op::Max || node.op == Op::Min;
    const bool has_type = node.dtype == loop::DType::F32 || node.dtype == loop::DType::I32 ||
                          node.dtype == loop::DType::U32;
    return device_.subgroup_threads > 0 && has_op && has_type ? reduced_by_subgroups(fold)
                                                              : reduced_in_tree(fold);
  }

  // Each subgroup stores one number. Elements for which there is no subgroup keep the identity.
  std::vector<Stmt> reduced_by_subgroups(Value fold) {
    const graph::Node& node = nest().node(fold);
    loop::ExprBuilder& exprs = nest().exprs();
    const BufferRef total = per_row().at(fold);
    const int64_t count = (threads_ + device_.subgroup_threads - 1) / device_.subgroup_threads;
    const VarId subgroup = kernel().add_var("subgroup", count);
    const ExprId reduced = exprs.reduce(node.op, exprs.load(total, node.dtype, 0));
    if (count == 1) {
      return single(
          loop::for_loop(subgroup, LoopKind::Subgroup, single(loop::store(total, 0, reduced))));
    }
    const BufferRef folds = kernel().add_shared("folds", node.dtype, count);
    const VarId each = kernel().add_var("s", count);
    const Affine thread = Affine::variable(thread_);
    std::vector<Stmt> body;
    body.push_back(
        loop::if_inside({{thread, count}}, single(loop::store(folds, thread, identity(fold)))));
    body.push_back(loop::barrier());
    body.push_back(loop::for_loop(subgroup, LoopKind::Subgroup,
                                  single(loop::store(folds, Affine::variable(subgroup), reduced))));
    body.push_back(loop::barrier());
    body.push_back(loop::store(total, 0, identity(fold)));
    body.push_back(loop::for_loop(
        each, LoopKind::Serial,
        single(loop::store(
            total, 0,
            exprs.apply(node.op, {exprs.load(total, node.dtype, 0),
                                  exprs.load(folds, node.dtype, Affine::variable(each))})))));
    return body;
  }

  // Half of the threads fold two elements each, then half of these.
  std::vector<Stmt> reduced_in_tree(Value fold) {
    const graph::Node& node = nest().node(fold);
    loop::ExprBuilder& exprs = nest().exprs();
    const BufferRef total = per_row().at(fold);
    const BufferRef folds = kernel().add_shared("folds", node.dtype, threads_);
    const Affine thread = Affine::variable(thread_);
    std::vector<Stmt> body = single(loop::store(folds, thread, exprs.load(total, node.dtype, 0)));
    for (int64_t half = threads_ / 2; half > 0; half /= 2) {
      body.push_back(loop::barrier());
      const ExprId both = exprs.apply(node.op, {exprs.load(folds, node.dtype, thread),
                                                exprs.load(folds, node.dtype, thread + half)});
      body.push_back(loop::if_inside({{thread, half}}, single(loop::store(folds, thread, both))));
    }
    body.push_back(loop::barrier());
    body.push_back(loop::store(total, 0, exprs.load(folds, node.dtype, 0)));
    return body;
  }

  const Device& device_;
  const int64_t threads_;
  VarId thread_ = -1;
};

}  // namespace

void lower_rows(Nest& nest, const Group& group, RowSpace space, const Device& device) {
  SharedRows(nest, group, std::move(space), device).run();
}

}  // namespace lathe::lower::gpu
