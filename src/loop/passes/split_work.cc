#include "lathe/loop/passes/split_work.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/loop/analysis/bounds.h"
#include "lathe/loop/analysis/parallel.h"
#include "lathe/loop/analysis/work.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

// Of one loop nest: enough for eight threads to end at about the same time, and for two.
constexpr int64_t kTasks = 64;
constexpr int64_t kFewestTasks = 4;
// How many times what is worth splitting a thread must save.
constexpr double kThread = 20;
constexpr int kMaxThreads = 64;

// A register that the statements use.
std::set<int32_t> registers_of(const Kernel& kernel, std::span<const Stmt> stmts) {
  std::set<int32_t> found;
  const std::vector<Stmt> copy(stmts.begin(), stmts.end());
  const Table<ExprId, bool> used = reachable(kernel, copy);
  const auto note = [&](BufferRef ref) {
    if (ref.space == Space::Register) found.insert(ref.id);
  };
  for (size_t id = 0; id < used.size(); ++id) {
    if (used[id] && kernel.exprs[id].kind == ExprKind::Load) note(kernel.exprs[id].buffer);
  }
  for_each_store(copy, [&](const Stmt& stmt) { note(stmt.buffer); });
  return found;
}

// The elements that statements load and store.
class Footprint {
 public:
  Footprint(const Kernel& kernel, const std::vector<Stmt>& stmts) {
    VarRanges ranges;
    for (const Var& var : kernel.vars)
      ranges.push_back(Range{0, std::max<int64_t>(var.extent, 1) - 1});
    const auto note = [&](BufferRef ref, const Affine& address, const Lookup& lookup,
                          const std::vector<Guard>& guards, bool stored) {
      if (ref.space != Space::Global) return;
      auto range = range_of(address, guards, ranges);
      if (range && lookup) range->high += lookup.scale * (lookup.extent - 1);
      accesses_.push_back({ref.id, range, stored});
    };
    for_each_store(
        stmts, [&](const Stmt& stmt) { note(stmt.buffer, stmt.address, stmt.lookup, {}, true); });
    const Table<ExprId, bool> used = reachable(kernel, stmts);
    for (size_t id = 0; id < used.size(); ++id) {
      const Expr& expr = kernel.exprs[id];
      if (used[id] && expr.kind == ExprKind::Load) {
        note(expr.buffer, expr.address, expr.lookup, expr.guards, false);
      }
    }
  }

  // Whether one may store what the other touches.
  bool meets(const Footprint& other) const {
    return std::ranges::any_of(accesses_, [&](const Access& a) {
      return std::ranges::any_of(other.accesses_, [&](const Access& b) {
        return a.buffer == b.buffer && (a.stored || b.stored) && overlap(a.range, b.range);
      });
    });
  }

 private:
  struct Access {
    int32_t buffer;
    std::optional<Range> range;  // nothing: anywhere
    bool stored;
  };

  static bool overlap(const std::optional<Range>& a, const std::optional<Range>& b) {
    return !a || !b || (a->low <= b->high && b->low <= a->high);
  }

  std::vector<Access> accesses_;
};

// Statements of the kernel that registers tie together.
using Unit = std::vector<Stmt>;

std::vector<Unit> units_of(const Kernel& kernel, std::vector<Stmt> body) {
  std::vector<size_t> last_use(kernel.registers.size());
  std::vector<std::set<int32_t>> registers;
  for (size_t i = 0; i < body.size(); ++i) {
    registers.push_back(registers_of(kernel, {&body[i], 1}));
    for (const int32_t id : registers.back()) last_use[id] = i;
  }
  std::vector<Unit> units;
  size_t end = 0;  // of the unit that is open
  for (size_t i = 0; i < body.size(); ++i) {
    if (i >= end) units.emplace_back();
    end = std::max(end, i + 1);
    for (const int32_t id : registers[i]) {
      end = std::max(end, last_use[id] + 1);
    }
    units.back().push_back(std::move(body[i]));
  }
  return units;
}

class WorkSplitter {
 public:
  WorkSplitter(Kernel& kernel, double worth_splitting)
      : kernel_(kernel), worth_splitting_(worth_splitting) {}

  void run() {
    std::vector<Unit> units;
    for (Unit& unit : units_of(kernel_, kernel_.body)) {
      std::ranges::move(distributed(std::move(unit)), std::back_inserter(units));
    }
    bool parallel = false;
    for (Unit& unit : units) parallel |= mark(unit);
    if (!parallel) return;
    kernel_.body.clear();
    std::vector<Footprint> phase;
    for (Unit& unit : units) {
      Footprint footprint(kernel_, unit);
      if (std::ranges::any_of(phase, [&](const Footprint& f) { return f.meets(footprint); })) {
        kernel_.body.push_back(barrier());
        phase.clear();
      }
      phase.push_back(std::move(footprint));
      std::ranges::move(unit, std::back_inserter(kernel_.body));
    }
  }

 private:
  // Where the nest around all of the unit makes few, large tasks: a nest around each part of its
  // body, if threads may run those in any order.
  std::vector<Unit> distributed(Unit unit) const {
    const double work = work_of(kernel_, unit);
    std::vector<Stmt> nest;
    double tasks = 1;
    const std::vector<Stmt>* body = &unit;
    for (size_t depth = parallel_nest(kernel_, unit).size(); nest.size() < depth;) {
      nest.push_back(body->front());
      tasks *= static_cast<double>(extent(nest.back()));
      body = &body->front().body;
    }
    if (nest.empty() || tasks >= kTasks || work < 2 * worth_splitting_ * tasks) return {unit};
    std::vector<Unit> parts = units_of(kernel_, *body);
    const auto has_nest = [&](const Unit& part) { return !parallel_nest(kernel_, part).empty(); };
    if (parts.size() < 2 || std::ranges::none_of(parts, has_nest)) return {unit};
    std::vector<Footprint> footprints;
    for (Unit& part : parts) {
      for (size_t i = nest.size(); i-- > 0;) {
        nest[i].body = std::move(part);
        part = {nest[i]};
      }
      Footprint footprint(kernel_, part);
      if (std::ranges::any_of(footprints, [&](const Footprint& f) { return f.meets(footprint); })) {
        return {unit};
      }
      footprints.push_back(std::move(footprint));
    }
    return parts;
  }

  // Marks enough loops, outermost first, that every thread has work.
  bool mark(Unit& unit) {
    const double work = work_of(kernel_, unit);
    if (work < worth_splitting_) return false;
    const size_t depth = parallel_nest(kernel_, unit).size();
    const double task = std::min(worth_splitting_, work / kFewestTasks);
    Stmt* loop = nullptr;
    int64_t tasks = 1;
    for (size_t i = 0; i < depth && tasks < kTasks; ++i) {
      if (loop != nullptr && work_of(kernel_, loop->body) <= task) break;
      if (loop != nullptr) loop->outlined = false;
      loop = loop == nullptr ? &unit[0] : &loop->body[0];
      loop->loop = LoopKind::Parallel;
      tasks *= extent(*loop);
    }
    if (loop == nullptr) return false;
    const double each = work_of(kernel_, loop->body);
    const auto large_enough = static_cast<int64_t>(std::ceil(task / std::max(each, 0.1)));
    const int64_t per_task = std::max(large_enough, (tasks + kTasks - 1) / kTasks);
    const int64_t chunks = (extent(*loop) + per_task - 1) / per_task;
    loop->grain = (extent(*loop) + chunks - 1) / chunks;
    return true;
  }

  int64_t extent(const Stmt& loop) const {
    return std::max<int64_t>(kernel_.vars[loop.var].extent, 1);
  }

  Kernel& kernel_;
  const double worth_splitting_;
};

double shared_work(const Kernel& kernel) {
  double work = 0;
  for (const Stmt& stmt : kernel.body) {
    if (stmt.loop == LoopKind::Parallel) work += work_of(kernel, {&stmt, 1});
  }
  return work;
}

}  // namespace

void split_work(Kernel& kernel, double worth_splitting) {
  if (work_of(kernel, kernel.body) >= worth_splitting) WorkSplitter(kernel, worth_splitting).run();
}

int split_work(Entry& entry, double worth_splitting) {
  std::vector<Kernel> kernels = entry.kernels;
  double work = 0;
  for (Kernel& kernel : kernels) {
    if (kernel.repeat >= 0) continue;  // one thread runs a repeat
    split_work(kernel, worth_splitting);
    work += shared_work(kernel);
  }
  const double threads = work / std::max(kThread * worth_splitting, 1e-9);
  if (threads < 2) return 1;
  entry.kernels = std::move(kernels);
  return static_cast<int>(std::min<double>(threads, kMaxThreads));
}

}  // namespace lathe::loop
