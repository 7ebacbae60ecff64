#include "loop/lanes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "loop/rebuild.h"

namespace lathe::loop {

namespace {

class Iterations {
 public:
  // Those less than `reach` apart.
  Iterations(const Kernel& kernel, const Stmt& loop, int64_t reach)
      : kernel_(kernel), lane_(loop.var), reach_(reach) {
    note_inner(loop.body);
  }

  // Whether a at one iteration may be b at another, inner loops anywhere.
  bool meet(const Affine& a, const Affine& b) const {
    const int64_t step = a.coefficient(lane_);
    if (step != b.coefficient(lane_)) return true;
    // a - b without the lane: offset plus multiples of stride, between low and high.
    int64_t stride = 0, low = a.offset - b.offset, high = low;
    const auto spread = [&](int64_t coefficient, VarId var) {
      const int64_t last = coefficient * (kernel_.vars[var].extent - 1);
      stride = std::gcd(stride, coefficient);
      (last < 0 ? low : high) += last;
    };
    for (const VarId var : inner_) {
      spread(a.coefficient(var), var);
      spread(-b.coefficient(var), var);
    }
    const Affine outer = a + b * -1;
    for (const Term& term : outer.terms) {
      if (term.var != lane_ && !is_inner(term.var)) spread(term.coefficient, term.var);
    }
    const int64_t offset = a.offset - b.offset;
    const int64_t reach = step == 0 ? std::min<int64_t>(reach_, 2) : reach_;
    for (int64_t distance = 1; distance < reach; ++distance) {
      const int64_t far = std::abs(step) * distance;
      if (far > high && -far < low) break;
      for (const int64_t gap : {step * distance, -step * distance}) {
        if (low > gap || gap > high) continue;
        if (stride == 0 ? gap == offset : (gap - offset) % stride == 0) return true;
      }
    }
    return false;
  }

 private:
  void note_inner(const std::vector<Stmt>& stmts) {
    for (const Stmt& stmt : stmts) {
      if (stmt.kind == StmtKind::For) inner_.push_back(stmt.var);
      note_inner(stmt.body);
    }
  }

  bool is_inner(VarId var) const {
    return std::find(inner_.begin(), inner_.end(), var) != inner_.end();
  }

  const Kernel& kernel_;
  const VarId lane_;
  const int64_t reach_;
  std::vector<VarId> inner_;
};

// `counts` says of which stores to look at.
template <class Counts>
bool meet(const Kernel& kernel, const Stmt& loop, int64_t reach, const Counts& counts) {
  const Iterations iterations(kernel, loop, reach);
  const std::vector<bool> used = reachable(kernel, loop.body);
  bool found = false;
  for_each_store(loop.body, [&](const Stmt& stored) {
    if (!counts(stored.buffer)) return;
    for_each_store(loop.body, [&](const Stmt& other) {
      found |= other.buffer == stored.buffer && iterations.meet(stored.address, other.address);
    });
    for (size_t id = 0; id < used.size() && !found; ++id) {
      const Expr& expr = kernel.exprs[id];
      found = used[id] && expr.kind == ExprKind::Load && expr.buffer == stored.buffer &&
              iterations.meet(stored.address, expr.address);
    }
  });
  return found;
}

}  // namespace

bool lanes_meet(const Kernel& kernel, const Stmt& loop) {
  return meet(kernel, loop, kLanes, [](BufferRef) { return true; });
}

bool iterations_meet(const Kernel& kernel, const Stmt& loop) {
  return meet(kernel, loop, kernel.vars[loop.var].extent,
              [](BufferRef buffer) { return buffer.space == Space::Global; });
}

}  // namespace lathe::loop
