#include "lathe/emit/wgsl/bindings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lathe/base/sort.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/loop/rebuild.h"

namespace lathe::emit_wgsl {

Bindings::Bindings(const loop::Module& module, const Layout& layout, const loop::Kernel& kernel,
                   const Limits& limits, uint64_t free)
    : module_(module),
      layout_(layout),
      kernel_(kernel),
      page_bytes_(page_bytes(limits)),
      scratch_end_(free) {
  find_used(kernel.body);
  packs_scratch_ = count() > limits.storage_buffers;
  packs_constants_ = count() > limits.storage_buffers;
  std::vector<Used*> ports;
  for (Used& used : used_) {
    if (is_port(used.region.holder)) ports.push_back(&used);
  }
  sort_by(ports, [](const Used* a, const Used* b) {
    return a->region.bytes != b->region.bytes ? a->region.bytes < b->region.bytes
                                              : a->buffer < b->buffer;
  });
  for (Used* const port : ports) {
    if (count() > limits.storage_buffers) stage(*port);
  }
  number();
}

void Bindings::find_used(const std::vector<loop::Stmt>& body) {
  for (const loop::Stmt& stmt : body) {
    if (stmt.value >= 0) {
      for (const loop::ExprId id : loop::computed(kernel_, stmt)) {
        const loop::Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
        if (expr.kind == loop::ExprKind::Load) add(expr.buffer, false);
      }
    }
    if (stmt.kind == loop::StmtKind::Store) add(stmt.buffer, true);
    find_used(stmt.body);
  }
}

void Bindings::add(loop::BufferRef ref, bool is_written) {
  if (ref.space != loop::Space::Global) return;
  const auto known = std::ranges::find(used_, ref.id, &Used::buffer);
  if (known != used_.end()) {
    known->is_written |= is_written;
  } else {
    used_.push_back({ref.id, is_written, layout_[static_cast<size_t>(ref.id)]});
  }
}

bool Bindings::is_packed(const Used& used) const {
  const Holder holder = used.region.holder;
  return holder == Holder::Scratch ? packs_scratch_
                                   : packs_constants_ && holder == Holder::Constants;
}

// Of bindings.
int64_t Bindings::count() const {
  std::set<std::pair<Holder, int32_t>> pages;
  int64_t others = 0;
  for (const Used& used : used_) {
    if (is_packed(used)) {
      pages.emplace(used.region.holder, used.region.index);
    } else {
      ++others;
    }
  }
  return others + static_cast<int64_t>(pages.size());
}

void Bindings::stage(Used& used) {
  const uint64_t bytes = (used.region.bytes + kAlignment - 1) / kAlignment * kAlignment;
  const uint64_t begin = lower::place(scratch_end_, bytes, page_bytes_);
  const Region staged{Holder::Scratch, static_cast<int32_t>(begin / page_bytes_),
                      begin % page_bytes_, used.region.bytes};
  scratch_end_ = begin + bytes;
  before_.push_back({used.region, staged});
  if (used.is_written) after_.push_back({staged, used.region});
  used.region = staged;
}

void Bindings::number() {
  std::map<std::pair<Holder, int32_t>, int32_t> shared;  // the binding of a page
  for (Used& used : used_) {
    const bool packed = is_packed(used);
    const auto next = static_cast<int32_t>(list_.size());
    const int32_t binding =
        packed ? shared.try_emplace({used.region.holder, used.region.index}, next).first->second
               : next;
    const loop::DType dtype = dtype_of(used);
    if (binding == next) list_.push_back({used.region, packed ? "u32" : storage_type(dtype)});
    used.access = {binding, 0, packed};
    Binding& bound = list_[static_cast<size_t>(binding)];
    bound.is_written |= used.is_written;
    bound.is_atomic |= used.is_written && is_part_of_word(dtype, packed);
    Region& region = bound.region;
    const uint64_t end =
        std::max(region.offset + region.bytes, used.region.offset + used.region.bytes);
    region.offset = std::min(region.offset, used.region.offset);
    region.bytes = end - region.offset;
  }
  for (Used& used : used_) {
    const Region& region = list_[static_cast<size_t>(used.access.binding)].region;
    const auto bytes = static_cast<int64_t>(used.region.offset - region.offset);
    used.access.offset = bytes / stored_size(dtype_of(used));
  }
}

loop::DType Bindings::dtype_of(const Used& used) const {
  return module_.buffers[static_cast<size_t>(used.buffer)].dtype;
}

const Bindings::Access& Bindings::operator[](int32_t buffer) const {
  return std::ranges::find(used_, buffer, &Used::buffer)->access;
}

}  // namespace lathe::emit_wgsl
