#include "loop/fold_copies.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "loop/rebuild.h"

namespace lathe::loop {

namespace {

bool only_loops(const std::vector<Stmt>& stmts) {
  return std::ranges::all_of(stmts, [](const Stmt& stmt) {
    return stmt.kind == StmtKind::Store || (stmt.kind == StmtKind::For && only_loops(stmt.body));
  });
}

// Executes the loops of one kernel on the bytes of its two buffers.
class Copy {
 public:
  Copy(const Kernel& kernel, const Buffer& from, std::vector<std::byte>& to)
      : kernel_(kernel),
        from_(from.data),
        to_(to),
        size_(static_cast<int64_t>(scalar::size_of(from.dtype))),
        values_(kernel.vars.size()) {}

  void run(const std::vector<Stmt>& stmts) {
    for (const Stmt& stmt : stmts) {
      if (stmt.kind == StmtKind::Store) {
        store(stmt);
      } else if (stmt.body.size() == 1 && stmt.body[0].kind == StmtKind::Store) {
        innermost(stmt);
      } else {
        for (int64_t i = 0; i < extent(stmt); ++i) {
          values_[static_cast<size_t>(stmt.var)] = i;
          run(stmt.body);
        }
      }
    }
  }

 private:
  int64_t extent(const Stmt& loop) const {
    return kernel_.vars[static_cast<size_t>(loop.var)].extent;
  }

  int64_t at(const Affine& affine) const {
    int64_t sum = affine.offset;
    for (const Term& term : affine.terms) {
      sum += term.coefficient * values_[static_cast<size_t>(term.var)];
    }
    return sum;
  }

  void copy(int64_t to, int64_t from, int64_t count = 1) {
    std::byte* target = to_.data() + to * size_;
    const std::byte* source = from_.data() + from * size_;
    // Of a known size it is one instruction.
    if (count * size_ == 16) {
      std::memcpy(target, source, 16);
    } else if (count * size_ == 4) {
      std::memcpy(target, source, 4);
    } else {
      std::memcpy(target, source, static_cast<size_t>(count * size_));
    }
  }

  void store(const Stmt& stmt) {
    const Expr& load = kernel_.exprs[static_cast<size_t>(stmt.value)];
    const bool inside = std::ranges::all_of(load.guards, [&](const Guard& guard) {
      const int64_t index = at(guard.index);
      return 0 <= index && index < guard.extent;
    });
    if (inside) copy(at(stmt.address), at(load.address));
  }

  void innermost(const Stmt& loop) {
    const Stmt& stmt = loop.body[0];
    const Expr& load = kernel_.exprs[static_cast<size_t>(stmt.value)];
    int64_t& value = values_[static_cast<size_t>(loop.var)];
    value = 0;
    if (load.guards.empty()) {
      const int64_t to = at(stmt.address), from = at(load.address);
      const int64_t to_step = stmt.address.coefficient(loop.var);
      const int64_t from_step = load.address.coefficient(loop.var);
      if (to_step == 1 && from_step == 1) return copy(to, from, extent(loop));
      for (int64_t i = 0; i < extent(loop); ++i) copy(to + i * to_step, from + i * from_step);
      return;
    }
    for (; value < extent(loop); ++value) store(stmt);
  }

  const Kernel& kernel_;
  const std::vector<std::byte>& from_;
  std::vector<std::byte>& to_;
  int64_t size_;
  std::vector<int64_t> values_;  // of the variables
};

class Folder {
 public:
  explicit Folder(Module& module) : module_(module), writers_(module.buffers.size()) {}

  void run() {
    for_each_kernel([&](Kernel& kernel) {
      for_each_store(kernel.body, [&](const Stmt& stmt) {
        if (stmt.buffer.space != Space::Global) return;
        std::vector<const Kernel*>& writers = writers_[static_cast<size_t>(stmt.buffer.id)];
        if (writers.empty() || writers.back() != &kernel) writers.push_back(&kernel);
      });
    });
    for (Entry& entry : module_.entries) {
      std::erase_if(entry.kernels, [&](const Kernel& kernel) { return fold(kernel); });
    }
    drop_unread();
  }

 private:
  template <class Visit>
  void for_each_kernel(const Visit& visit) {
    for (Entry& entry : module_.entries) {
      for (Kernel& kernel : entry.kernels) visit(kernel);
    }
  }

  Buffer& buffer(BufferRef ref) { return module_.buffers[static_cast<size_t>(ref.id)]; }

  // Whether the kernel has run and is needed no more.
  bool fold(const Kernel& kernel) {
    if (!only_loops(kernel.body)) return false;
    BufferRef from, to;
    bool copies = true;
    for_each_store(kernel.body, [&](const Stmt& stmt) {
      const Expr& value = kernel.exprs[static_cast<size_t>(stmt.value)];
      copies = copies && value.kind == ExprKind::Load && !value.lookup && !stmt.lookup &&
               value.buffer.space == Space::Global && stmt.buffer.space == Space::Global &&
               (to.id < 0 || to == stmt.buffer) && (from.id < 0 || from == value.buffer);
      from = value.buffer;
      to = stmt.buffer;
    });
    if (!copies || to.id < 0 || buffer(from).role != BufferRole::Constant ||
        buffer(to).role != BufferRole::Temporary ||
        writers_[static_cast<size_t>(to.id)].size() != 1) {
      return false;
    }
    std::vector<std::byte> data(static_cast<size_t>(buffer(to).size) *
                                static_cast<size_t>(scalar::size_of(buffer(to).dtype)));
    Copy(kernel, buffer(from), data).run(kernel.body);
    buffer(to).role = BufferRole::Constant;
    buffer(to).data = std::move(data);
    return true;
  }

  void drop_unread() {
    std::vector<bool> read(module_.buffers.size());
    for_each_kernel([&](Kernel& kernel) {
      for (const Expr& expr : kernel.exprs) {
        if (expr.kind == ExprKind::Load && expr.buffer.space == Space::Global) {
          read[static_cast<size_t>(expr.buffer.id)] = true;
        }
      }
    });
    for (size_t id = 0; id < read.size(); ++id) {
      Buffer& each = module_.buffers[id];
      if (read[id] || each.role != BufferRole::Constant) continue;
      each.size = 0;
      each.data = {};
    }
  }

  Module& module_;
  std::vector<std::vector<const Kernel*>> writers_;  // by Global buffer
};

}  // namespace

void fold_copies(Module& module) { Folder(module).run(); }

}  // namespace lathe::loop
