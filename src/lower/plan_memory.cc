#include "lathe/lower/plan_memory.h"

#include <algorithm>

#include "lathe/base/sort.h"
#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/loop/control_block.h"

namespace lathe::lower {

namespace {

constexpr uint64_t kFirst = loop::kControlBytes;
static_assert(kFirst % Storage().alignment == 0);

struct Life {
  int32_t buffer;
  uint64_t bytes;
  int first, last;  // kernel of the entry that touches it first and last
  uint64_t offset = 0;
};

uint64_t bytes_of(const loop::Buffer& buffer, const Storage& storage) {
  const auto bytes = static_cast<uint64_t>(std::max(buffer.size, storage.min_elements)) *
                     static_cast<uint64_t>(storage.size_of(buffer.dtype));
  return (bytes + storage.alignment - 1) / storage.alignment * storage.alignment;
}

template <class Visit>
void visit_buffers(const loop::Kernel& kernel, const std::vector<loop::Stmt>& body,
                   const Visit& visit) {
  for (const loop::Stmt& stmt : body) {
    if (stmt.kind == loop::StmtKind::Store) visit(stmt.buffer);
    visit_buffers(kernel, stmt.body, visit);
  }
}

// A buffer that is live before or after a repeat and inside of it is live in all of it: the next
// time around may read it.
void live_through_repeats(const loop::Entry& entry, std::vector<Life>& lives) {
  for (size_t id = entry.repeats.size(); id-- > 0;) {
    const auto is_in = [&](const loop::Kernel& kernel) {
      return loop::is_inside(entry, kernel.repeat, static_cast<int32_t>(id));
    };
    const auto begin = std::ranges::find_if(entry.kernels, is_in);
    const auto end = std::find_if_not(begin, entry.kernels.end(), is_in);
    const auto first = static_cast<int>(begin - entry.kernels.begin());
    const auto last = static_cast<int>(end - entry.kernels.begin()) - 1;
    for (Life& life : lives) {
      if (life.last < first || life.first > last) continue;
      if (life.first >= first && life.last <= last) continue;
      life.first = std::min(life.first, first);
      life.last = std::max(life.last, last);
    }
  }
}

std::vector<Life> lives_of(const loop::Module& module, const loop::Entry& entry,
                           const Storage& storage) {
  Table<loop::BufferId, int> life_index(module.buffers.size(), -1);
  std::vector<Life> lives;
  for (int k = 0; k < static_cast<int>(entry.kernels.size()); ++k) {
    const auto touch = [&](loop::BufferRef ref) {
      if (ref.space != loop::Space::Global) return;
      const loop::Buffer& buffer = module.buffers[ref.id];
      if (buffer.role != loop::BufferRole::Temporary) return;
      int& position = life_index[ref.id];
      if (position < 0) {
        position = static_cast<int>(lives.size());
        lives.push_back({ref.id, bytes_of(buffer, storage), k, k});
      }
      lives[position].last = k;
    };
    const loop::Kernel& kernel = entry.kernels[k];
    visit_buffers(kernel, kernel.body, touch);
    for (const loop::Expr& expr : kernel.exprs) {
      if (expr.kind == loop::ExprKind::Load) touch(expr.buffer);
    }
  }
  // The condition of a repeat is live until its last evaluation.
  for (size_t id = 0; id < entry.repeats.size(); ++id) {
    const int32_t condition = entry.repeats[id].condition;
    if (condition < 0 || life_index[condition] < 0) continue;
    Life& life = lives[life_index[condition]];
    for (int k = 0; k < static_cast<int>(entry.kernels.size()); ++k) {
      const int32_t repeat = entry.kernels[k].repeat;
      if (loop::is_inside(entry, repeat, static_cast<int32_t>(id)))
        life.last = std::max(life.last, k);
    }
  }
  live_through_repeats(entry, lives);
  return lives;
}

bool larger(const Life& a, const Life& b) {
  return a.bytes != b.bytes ? a.bytes > b.bytes : a.buffer < b.buffer;
}

// Largest first, each at the lowest offset that no buffer alive at the same time covers.
uint64_t assign_temporaries(std::vector<Life>& lives, uint64_t start,
                            uint64_t page_bytes = UINT64_MAX) {
  sort_by(lives, larger);
  uint64_t end = start;
  std::vector<const Life*> assigned;  // by offset
  for (Life& life : lives) {
    uint64_t offset = place(start, life.bytes, page_bytes);
    for (const Life* other : assigned) {
      if (other->last < life.first || life.last < other->first) continue;
      if (offset + life.bytes <= other->offset) break;
      offset = place(std::max(offset, other->offset + other->bytes), life.bytes, page_bytes);
    }
    life.offset = offset;
    end = std::max(end, offset + life.bytes);
    assigned.insert(std::ranges::upper_bound(assigned, offset, {},
                                             [](const Life* other) { return other->offset; }),
                    &life);
  }
  return end;
}

Status check_limit(const MemoryPlan& plan, const Storage& storage) {
  if (plan.total_bytes <= storage.limit) return {};
  return fail(concat("the model needs ", plan.total_bytes >> 20, " MiB of memory (",
                     plan.persistent_bytes >> 20,
                     " MiB of weights, inputs and outputs); a 32-bit WebAssembly memory has 4096 "
                     "MiB. Use a smaller batch or fewer units"));
}

}  // namespace

Result<MemoryPlan> plan_memory(const loop::Module& module) {
  const Storage storage;
  MemoryPlan plan;
  plan.offsets.resize(module.buffers.size());
  uint64_t next = kFirst;
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    if (module.buffers[id].role == loop::BufferRole::Temporary) continue;
    plan.offsets[id] = next;
    next += bytes_of(module.buffers[id], storage);
  }
  plan.persistent_bytes = next;
  plan.total_bytes = next;
  for (const loop::Entry& entry : module.entries) {
    std::vector<Life> lives = lives_of(module, entry, storage);
    plan.total_bytes = std::max(plan.total_bytes, assign_temporaries(lives, next));
    for (const Life& life : lives) plan.offsets[life.buffer] = life.offset;
  }
  LATHE_TRY(check_limit(plan, storage));
  return plan;
}

Result<MemoryPlan> plan_relocatable_memory(const loop::Module& module, const Storage& storage) {
  constexpr int32_t kScratch = 0, kConstants = 1, kFirstPort = 2;
  MemoryPlan plan;
  plan.offsets.resize(module.buffers.size());
  plan.bases.assign(module.buffers.size(), kScratch);
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    const loop::Buffer& buffer = module.buffers[id];
    if (buffer.role == loop::BufferRole::Temporary) continue;
    plan.persistent_bytes += bytes_of(buffer, storage);
    if (buffer.role != loop::BufferRole::Constant) continue;
    plan.bases[id] = kConstants;
    const uint64_t bytes = bytes_of(buffer, storage);
    plan.offsets[id] = place(plan.constant_bytes, bytes, storage.page_bytes);
    plan.constant_bytes = plan.offsets[id] + bytes;
  }
  const auto number = [&](const std::vector<loop::Port>& ports, int32_t base) {
    for (const loop::Port& port : ports) plan.bases[port.buffer] = base++;
    return base;
  };
  const int32_t first = number(module.states, kFirstPort);
  for (const loop::Entry& entry : module.entries) {
    number(entry.outputs, number(entry.inputs, first));
    std::vector<Life> lives = lives_of(module, entry, storage);
    const uint64_t bytes = assign_temporaries(lives, 0, storage.page_bytes);
    plan.scratch_of_entries.push_back(bytes);
    plan.scratch_bytes = std::max(plan.scratch_bytes, bytes);
    for (const Life& life : lives) plan.offsets[life.buffer] = life.offset;
  }
  plan.total_bytes = plan.persistent_bytes + plan.scratch_bytes;
  LATHE_TRY(check_limit(plan, storage));
  return plan;
}

}  // namespace lathe::lower
