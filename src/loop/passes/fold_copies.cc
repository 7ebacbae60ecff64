#include "lathe/loop/passes/fold_copies.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "lathe/base/check.h"
#include "lathe/base/table.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

bool only_loops(const std::vector<Stmt>& stmts) {
  return std::ranges::all_of(stmts, [](const Stmt& stmt) {
    return stmt.kind == StmtKind::Store || (stmt.kind == StmtKind::For && only_loops(stmt.body));
  });
}

// One loop of a nest that copies: how often it runs, and the bytes by which it advances.
struct Axis {
  int64_t extent = 1, to = 0, from = 0;
};

void copy_run(std::byte* to, const std::byte* from, size_t count) {
  constexpr size_t kChunk = 16;  // one instruction
  constexpr size_t kMany = 256;
  if (count >= kMany) {
    std::memcpy(to, from, count);
    return;
  }
  for (; count >= kChunk; count -= kChunk, to += kChunk, from += kChunk) {
    std::memcpy(to, from, kChunk);
  }
  for (size_t i = 0; i < count; ++i) to[i] = from[i];
}

// A separate function: engines optimize functions that are called often, and no loop that is
// entered once.
[[gnu::noinline]] void copy_plane(std::byte* to, const std::byte* from, const Axis& outer,
                                  const Axis& inner, size_t size) {
  const auto dense = static_cast<int64_t>(size);
  for (int64_t i = 0; i < outer.extent; ++i, to += outer.to, from += outer.from) {
    if (inner.to == dense && inner.from == dense) {
      copy_run(to, from, static_cast<size_t>(inner.extent) * size);
    } else if (size == 4) {
      for (int64_t k = 0; k < inner.extent; ++k) {
        std::memcpy(to + k * inner.to, from + k * inner.from, 4);
      }
    } else {
      for (int64_t k = 0; k < inner.extent; ++k) {
        copy_run(to + k * inner.to, from + k * inner.from, size);
      }
    }
  }
}

// A few rows of every plane at a time: planes of a matrix are columns that share cache lines.
void copy_blocks(std::byte* to, const std::byte* from, std::span<const Axis> axes, size_t size) {
  constexpr int64_t kRows = 32;
  for (int64_t row = 0; row < axes[1].extent; row += kRows) {
    Axis rows = axes[1];
    rows.extent = std::min(kRows, rows.extent - row);
    for (int64_t i = 0; i < axes[0].extent; ++i) {
      copy_plane(to + i * axes[0].to + row * rows.to, from + i * axes[0].from + row * rows.from,
                 rows, axes[2], size);
    }
  }
}

void copy_nest(std::byte* to, const std::byte* from, std::span<const Axis> axes, size_t size) {
  if (axes.size() <= 2) {
    return copy_plane(to, from, axes.size() == 2 ? axes[0] : Axis{}, axes.back(), size);
  }
  if (axes.size() == 3) return copy_blocks(to, from, axes, size);
  for (int64_t i = 0; i < axes[0].extent; ++i) {
    copy_nest(to + i * axes[0].to, from + i * axes[0].from, axes.subspan(1), size);
  }
}

// Executes the loops of one kernel on the bytes of its two buffers.
class Copy {
 public:
  Copy(const Kernel& kernel, const Buffer& from, std::byte* to)
      : kernel_(kernel),
        from_(from.data.data()),
        to_(to),
        size_(static_cast<int64_t>(scalar::size_of(from.dtype))),
        values_(kernel.vars.size()) {}

  void run(const std::vector<Stmt>& stmts) {
    for (const Stmt& stmt : stmts) {
      if (stmt.kind == StmtKind::Store) {
        store(stmt);
      } else if (!run_at_once(stmt)) {
        for (int64_t i = 0; i < extent(stmt); ++i) {
          values_[stmt.var] = i;
          run(stmt.body);
        }
      }
    }
  }

 private:
  int64_t extent(const Stmt& loop) const { return kernel_.vars[loop.var].extent; }

  const Expr& load_of(const Stmt& store) const { return kernel_.exprs[store.value]; }

  int64_t at(const Affine& affine) const {
    int64_t sum = affine.offset;
    for (const Term& term : affine.terms) {
      sum += term.coefficient * values_[term.var];
    }
    return sum;
  }

  void store(const Stmt& stmt) {
    const Expr& load = load_of(stmt);
    const bool inside = std::ranges::all_of(load.guards, [&](const Guard& guard) {
      const int64_t index = at(guard.index);
      return 0 <= index && index < guard.extent;
    });
    if (!inside) return;
    copy_run(to_ + at(stmt.address) * size_, from_ + at(load.address) * size_,
             static_cast<size_t>(size_));
  }

  // Loops around a single copy without conditions. False: it is no such nest, and nothing is done.
  bool run_at_once(const Stmt& nest) {
    std::vector<const Stmt*> loops;
    const Stmt* inner = &nest;
    for (; inner->kind == StmtKind::For; inner = &inner->body[0]) {
      if (inner->body.size() != 1) return false;
      loops.push_back(inner);
    }
    const Expr& load = load_of(*inner);
    if (!load.guards.empty()) return false;
    std::vector<Axis> axes;
    for (const Stmt* loop : loops) {
      values_[loop->var] = 0;
      axes.push_back({extent(*loop), size_ * inner->address.coefficient(loop->var),
                      size_ * load.address.coefficient(loop->var)});
    }
    copy_nest(to_ + at(inner->address) * size_, from_ + at(load.address) * size_, axes,
              static_cast<size_t>(size_));
    return true;
  }

  const Kernel& kernel_;
  const std::byte* from_;
  std::byte* to_;
  int64_t size_;
  std::vector<int64_t> values_;  // of the variables
};

class Folder {
 public:
  explicit Folder(Module& module)
      : module_(module), writers_(module.buffers.size()), readers_(module.buffers.size()) {}

  void run() {
    for_each_kernel([&](Kernel& kernel) {
      for_each_store(kernel.body, [&](const Stmt& stmt) {
        if (stmt.buffer.space != Space::Global) return;
        std::vector<const Kernel*>& writers = writers_[stmt.buffer.id];
        if (writers.empty() || writers.back() != &kernel) writers.push_back(&kernel);
      });
      for (const int32_t id : read_by(kernel)) ++readers_[id];
    });
    for (Entry& entry : module_.entries) {
      std::erase_if(entry.kernels, [&](const Kernel& kernel) { return fold(kernel); });
    }
    for (size_t id = 0; id < readers_.size(); ++id) drop_unread(id);
  }

 private:
  template <class Visit>
  void for_each_kernel(const Visit& visit) {
    for (Entry& entry : module_.entries) {
      for (Kernel& kernel : entry.kernels) visit(kernel);
    }
  }

  Buffer& buffer(BufferRef ref) { return module_.buffers[ref.id]; }

  // Whether the kernel has run and is needed no more.
  bool fold(const Kernel& kernel) {
    if (!only_loops(kernel.body)) return false;
    BufferRef from, to;
    bool copies = true;
    for_each_store(kernel.body, [&](const Stmt& stmt) {
      const Expr& value = kernel.exprs[stmt.value];
      copies = copies && value.kind == ExprKind::Load && !value.lookup && !stmt.lookup &&
               value.buffer.space == Space::Global && stmt.buffer.space == Space::Global &&
               (to.id < 0 || to == stmt.buffer) && (from.id < 0 || from == value.buffer);
      from = value.buffer;
      to = stmt.buffer;
    });
    if (!copies || to.id < 0 || buffer(from).role != BufferRole::Constant ||
        buffer(to).role != BufferRole::Temporary || writers_[to.id].size() != 1) {
      return false;
    }
    const size_t size = static_cast<size_t>(buffer(to).size) *
                        static_cast<size_t>(scalar::size_of(buffer(to).dtype));
    // Zeros of the system: a vector writes them byte by byte in code made small.
    const std::shared_ptr<std::byte> data(static_cast<std::byte*>(std::calloc(size, 1)), std::free);
    LATHE_CHECK(data != nullptr || size == 0);
    Copy(kernel, buffer(from), data.get()).run(kernel.body);
    buffer(to).role = BufferRole::Constant;
    buffer(to).data = {data, size};
    // Immediately: later packings may reuse this memory.
    for (const int32_t id : read_by(kernel)) {
      --readers_[id];
      drop_unread(static_cast<size_t>(id));
    }
    return true;
  }

  void drop_unread(size_t id) {
    Buffer& each = module_.buffers[id];
    if (readers_[id] > 0 || each.role != BufferRole::Constant) return;
    each.size = 0;
    each.data = {};
  }

  static std::set<int32_t> read_by(const Kernel& kernel) {
    std::set<int32_t> ids;
    for (const Expr& expr : kernel.exprs) {
      if (expr.kind == ExprKind::Load && expr.buffer.space == Space::Global) {
        ids.insert(expr.buffer.id);
      }
    }
    return ids;
  }

  Module& module_;
  // By Global buffer.
  Table<BufferId, std::vector<const Kernel*>> writers_;
  std::vector<int> readers_;  // kernels
};

}  // namespace

void fold_copies(Module& module) { Folder(module).run(); }

}  // namespace lathe::loop
