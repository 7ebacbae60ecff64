#include "lathe/loop/analysis/lanes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "lathe/base/sort.h"
#include "lathe/base/table.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

// coefficient * t, low <= t <= high.
struct Span {
  int64_t coefficient;  // above 0
  int64_t low, high;
  bool other_than_zero = false;
};

bool steeper(const Span& a, const Span& b) { return a.coefficient > b.coefficient; }

// Whether the spans can add up to a target value. Returns true, conservatively, after some thousand
// steps.
class Sum {
 public:
  explicit Sum(std::vector<Span> spans) : spans_(std::move(spans)) {
    sort_by(spans_, steeper);
    rests_.resize(spans_.size() + 1);
    for (size_t i = spans_.size(); i-- > 0;) {
      const auto& [coefficient, low, high, nonzero] = spans_[i];
      rests_[i] = {rests_[i + 1].low + coefficient * low, rests_[i + 1].high + coefficient * high,
                   std::gcd(rests_[i + 1].divisor, coefficient)};
    }
  }

  bool reaches(int64_t target) { return reaches(target, 0); }

 private:
  struct Rest {
    int64_t low = 0, high = 0, divisor = 0;
  };

  static int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

  // With the spans from `at` on, largest coefficient first: what follows reaches not far, so only
  // few values of t are left to try.
  bool reaches(int64_t target, size_t at) {
    const Rest& all = rests_[at];
    if (target < all.low || target > all.high) return false;
    if (all.divisor == 0 ? target != 0 : target % all.divisor != 0) return false;
    if (at == spans_.size()) return true;
    const auto& [coefficient, low, high, nonzero] = spans_[at];
    const Rest& rest = rests_[at + 1];
    const int64_t first = std::max(low, -floor_of(rest.high - target, coefficient));
    const int64_t last = std::min(high, floor_of(target - rest.low, coefficient));
    for (int64_t t = first; t <= last; ++t) {
      if (--steps_ < 0) return true;
      if ((t != 0 || !nonzero) && reaches(target - coefficient * t, at + 1)) return true;
    }
    return false;
  }

  std::vector<Span> spans_;
  std::vector<Rest> rests_;  // what the spans from each on can add up to
  int steps_ = 4000;
};

class Iterations {
 public:
  // Iterations at a distance less than `reach`.
  Iterations(const Kernel& kernel, const std::vector<Stmt>& body, VarId lane, int64_t reach)
      : kernel_(kernel), lane_(lane), reach_(reach) {
    note_inner(body);
    for_each_store(body, [this](const Stmt& stmt) { stored_.push_back(stmt.buffer); });
  }

  // Whether a at one iteration may be b at another, inner loops anywhere. Where the lookups
  // have the same index in all iterations, only the affine parts decide.
  bool meet(const Access& a, const Access& b) const {
    const int64_t step = a.address.coefficient(lane_);
    if (step != b.address.coefficient(lane_)) return true;
    if (lane_ >= 0 && reach_ < 2) return false;
    std::vector<Span> spans;
    if (a.lookup != b.lookup || a.index != b.index || (a.lookup && moves(a.index))) {
      if (a.lookup) spread(a.lookup.scale, a.lookup.extent - 1, spans);
      if (b.lookup) spread(-b.lookup.scale, b.lookup.extent - 1, spans);
    }
    for (const VarId var : inner_) {
      spread(a.address.coefficient(var), last(var), spans);
      spread(-b.address.coefficient(var), last(var), spans);
    }
    const Affine outer = a.address + b.address * -1;
    for (const Term& term : outer.terms) {
      if (term.var != lane_ && !is_inner(term.var)) spread(term.coefficient, last(term.var), spans);
    }
    if (step != 0) spans.push_back({std::abs(step), 1 - reach_, reach_ - 1, true});
    return Sum(std::move(spans)).reaches(-outer.offset);
  }

 private:
  int64_t last(VarId var) const { return kernel_.vars[var].extent - 1; }

  // The contents of a buffer may change from one iteration to the next, whatever the address
  // depends on.
  bool moves(ExprId index) const {
    const Expr& expr = kernel_.exprs[index];
    const auto varies = [&](VarId var) {
      return expr.address.coefficient(var) != 0 ||
             std::ranges::any_of(expr.guards, [var](const Guard& guard) {
               return guard.index.coefficient(var) != 0;
             });
    };
    bool found = varies(lane_) || std::ranges::any_of(inner_, varies) ||
                 (expr.kind == ExprKind::Load && stores_to(expr.buffer));
    for (int i = 0; i < expr.operand_count() && !found; ++i) found = moves(expr.operands[i]);
    return found;
  }

  bool stores_to(BufferRef buffer) const {
    return std::ranges::find(stored_, buffer) != stored_.end();
  }

  // coefficient * t, 0 <= t <= last.
  static void spread(int64_t coefficient, int64_t last, std::vector<Span>& spans) {
    if (coefficient == 0 || last == 0) return;
    const int64_t size = std::abs(coefficient);
    const auto same = std::ranges::find(spans, size, &Span::coefficient);
    Span& span = same != spans.end() ? *same : spans.emplace_back(Span{size, 0, 0});
    (coefficient < 0 ? span.low : span.high) += coefficient < 0 ? -last : last;
  }

  void note_inner(const std::vector<Stmt>& stmts) {
    for (const Stmt& stmt : stmts) {
      if (stmt.kind == StmtKind::For && !is_inner(stmt.var)) inner_.push_back(stmt.var);
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
  std::vector<BufferRef> stored_;
};

// `counts`: which stores are checked.
template <class Counts>
bool meet(const Kernel& kernel, const Stmt& loop, int64_t reach, const Counts& counts) {
  const Iterations iterations(kernel, loop.body, loop.var, reach);
  const Table<ExprId, bool> used = reachable(kernel, loop.body);
  bool found = false;
  for_each_store(loop.body, [&](const Stmt& stored) {
    if (!counts(stored.buffer)) return;
    const Access store_access{stored.address, stored.lookup, stored.index};
    for_each_store(loop.body, [&](const Stmt& other) {
      found |= other.buffer == stored.buffer &&
               iterations.meet(store_access, {other.address, other.lookup, other.index});
    });
    for (size_t id = 0; id < used.size() && !found; ++id) {
      const Expr& expr = kernel.exprs[id];
      found = used[id] && expr.kind == ExprKind::Load && expr.buffer == stored.buffer &&
              iterations.meet(store_access, {expr.address, expr.lookup, expr.operands[0]});
    }
  });
  return found;
}

}  // namespace

bool lanes_meet(const Kernel& kernel, const Stmt& loop) {
  return meet(kernel, loop, kernel.vars[loop.var].extent, [](BufferRef) { return true; });
}

bool iterations_meet(const Kernel& kernel, const Stmt& loop) {
  return meet(kernel, loop, kernel.vars[loop.var].extent,
              [](BufferRef buffer) { return buffer.space == Space::Global; });
}

bool may_meet(const Kernel& kernel, const std::vector<Stmt>& body, VarId var, int64_t reach,
              const Access& a, const Access& b) {
  return Iterations(kernel, body, var, reach).meet(a, b);
}

}  // namespace lathe::loop
