// Expressions of graph values inside one kernel: maps are composed, views become index arithmetic,
// stored values loads.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/table.h"
#include "lathe/graph/graph.h"
#include "lathe/loop/loop.h"
#include "lathe/lower/fuse_groups.h"

namespace lathe::lower {

class Strategies;

using Index = std::vector<loop::Affine>;  // one per axis

// The coordinate of `index` under one axis of a map.
loop::Affine apply(const graph::Affine& map, const Index& index);
// What an index along the axis adds to a row-major address.
loop::Lookup lookup_along(const graph::Shape& shape, size_t axis);

// The axes of a tensor of this shape whose bounds the map can exceed. Decided by the map, not by
// the loops over it: axes that share a loop have no separate ranges.
std::vector<size_t> leaving(const graph::AffineMap& map, const std::vector<int64_t>& extents,
                            const graph::Shape& shape);

// What the kernels of one entry share.
struct EntryContext {
  const graph::Graph& graph;
  const Fusion& fusion;
  Table<graph::Value, int32_t> buffer_of;  // by node: its buffer, or -1
  loop::Module& module;
  Strategies& strategies;
  std::map<std::string, int32_t> panels = {};  // buffer of each copy that contractions share
  std::vector<loop::Kernel> before = {};       // must run right before the one that is being made

  int32_t add_buffer(std::string name, loop::DType dtype, int64_t size, loop::BufferRole role);
};

class Nest {
 public:
  Nest(EntryContext& context, loop::Kernel& kernel)
      : context_(context), kernel_(kernel), exprs_(kernel) {}

  // The value's element at index. A guard that fails makes every load under it zero.
  loop::ExprId value_at(graph::Value value, const Index& index,
                        const std::vector<loop::Guard>& guards = {});
  // The same, recomputed even if it is bound or has a buffer.
  loop::ExprId computed(graph::Value value, const Index& index);
  // `element`, computed under these guards, as zero where one fails. A load is that already.
  loop::ExprId zero_outside(loop::ExprId element, std::span<const loop::Guard> guards);
  // From now on `value` is this expression, until it is rebound; value_at must be called for one
  // index only.
  void bind(graph::Value value, loop::ExprId expr);
  void unbind(graph::Value value) { bound_.erase(value); }
  // Where the value is stored.
  loop::BufferRef buffer_of(graph::Value value) const;

  // Stores the members of a group at index. The anchor must be bound, unless it is itself a map.
  // `lane` addresses the registers of values between the stores; `width` is their size.
  // They are new at each call, because outlined functions must not share a register.
  std::vector<loop::Stmt> store_members(const Group& group, const Index& index,
                                        const loop::Affine& lane, int64_t width);

  loop::ExprBuilder& exprs() { return exprs_; }
  loop::Kernel& kernel() { return kernel_; }
  const graph::Node& node(graph::Value value) const { return context_.graph[value]; }
  EntryContext& context() { return context_; }

 private:
  loop::ExprId load(graph::Value value, const loop::Affine& address,
                    const std::vector<loop::Guard>& guards);
  loop::ExprId reindexed(const graph::Node& n, const Index& index, std::vector<loop::Guard> guards);
  loop::ExprId gathered(const graph::Node& n, const Index& index,
                        const std::vector<loop::Guard>& guards);
  loop::ExprId reshaped(const graph::Node& n, const Index& index,
                        const std::vector<loop::Guard>& guards);

  EntryContext& context_;
  loop::Kernel& kernel_;
  loop::ExprBuilder exprs_;
  std::map<graph::Value, loop::ExprId> bound_;
};

}  // namespace lathe::lower
