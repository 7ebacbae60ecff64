#include "lathe/emit/wasm/task_order.h"

#include <algorithm>
#include <cstdlib>

#include "lathe/base/table.h"
#include "lathe/loop/rebuild.h"

namespace lathe::emit_wasm {

using loop::BufferRole;
using loop::Expr;
using loop::ExprKind;
using loop::Kernel;
using loop::Space;
using loop::Stmt;

namespace {

// The cost of a byte that another thread wrote, relative to one in the thread's cache.
constexpr double kFar = 4;
// Elements of a cache line.
constexpr int64_t kLine = 16;

}  // namespace

std::vector<TaskOrder::Access> TaskOrder::accesses(const Kernel& kernel,
                                                   std::span<const Stmt* const> nest) const {
  std::vector<Access> found;
  const auto note = [&](loop::BufferRef ref, const loop::Affine& address, bool stored) {
    if (ref.space != Space::Global) return;
    const auto existing = std::ranges::find_if(found, [&](const Access& access) {
      return access.buffer == ref.id && access.stored == stored;
    });
    Access& access = existing != found.end()
                         ? *existing
                         : found.emplace_back(ref.id, stored, std::vector<int64_t>(nest.size(), 0));
    for (size_t i = 0; i < nest.size(); ++i) {
      const int64_t extent = kernel.vars[nest[i]->var].extent;
      const int64_t span = std::abs(address.coefficient(nest[i]->var)) * extent;
      access.spans[i] = std::max(access.spans[i], span);
    }
  };
  const std::vector<Stmt>& body = nest.back()->body;
  loop::for_each_store(body, [&](const Stmt& stmt) { note(stmt.buffer, stmt.address, true); });
  const Table<loop::ExprId, bool> used = loop::reachable(kernel, body);
  for (size_t id = 0; id < used.size(); ++id) {
    const Expr& expr = kernel.exprs[id];
    if (used[id] && expr.kind == ExprKind::Load) note(expr.buffer, expr.address, false);
  }
  return found;
}

// Of half of the tasks, where all iterations of the other loops follow each one of this.
double TaskOrder::cost(const Access& access, size_t loop) const {
  const auto id = static_cast<size_t>(access.buffer);
  const int64_t span = access.spans[loop];
  const auto size = static_cast<double>(module_.buffers[id].size);
  // Two threads write to the same lines.
  if (access.stored) return span > 0 && span < 2 * kLine ? kFar * size : 0;
  const double read = span > 0 ? size / 2 : size;
  if (module_.buffers[id].role == BufferRole::Constant) return read;
  const int64_t stored_span = stored_spans_[id];
  const bool is_local = span > 0 && std::abs(span - stored_span) <= stored_span / 8;
  return is_local ? 0 : kFar * read / 2;
}

size_t TaskOrder::slowest(const Kernel& kernel, std::span<const Stmt* const> nest) {
  const std::vector<Access> all = accesses(kernel, nest);
  size_t best = 0;
  double least = 0;
  for (size_t i = 0; i < nest.size(); ++i) {
    double moved = 0;
    for (const Access& access : all) moved += cost(access, i);
    if (i == 0 || moved < least) {
      best = i;
      least = moved;
    }
  }
  for (const Access& access : all) {
    if (access.stored) stored_spans_[access.buffer] = access.spans[best];
  }
  return best;
}

}  // namespace lathe::emit_wasm
