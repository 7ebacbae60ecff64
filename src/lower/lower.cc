#include "lower/lower.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "lower/fuse_groups.h"
#include "lower/nest.h"
#include "lower/strategies.h"

namespace lathe::lower {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;
using loop::BufferRole;
using loop::Kernel;

namespace {

class EntryLowering {
 public:
  EntryLowering(const Graph& graph, loop::Module& module, std::map<std::string, int32_t>& states,
                Style style, const Schedules& schedules,
                std::vector<ScheduledContraction>* scheduled, VectorUnit unit, bool winograd)
      : graph_(graph),
        fusion_(fuse_groups(graph)),
        context_{graph,     fusion_, std::vector<int32_t>(graph.nodes.size(), -1),
                 module,    style,   schedules,
                 scheduled, unit,    winograd},
        states_(states) {}

  loop::Entry run() {
    entry_.name = graph_.name;
    give_leaves_buffers();
    give_outputs_buffers();
    give_temporaries_buffers();
    for (const Copy& copy : early_copies_) copy_kernel(copy);
    for (const Group& group : fusion_.groups) group_kernel(group);
    for (const Copy& copy : late_copies_) copy_kernel(copy);
    return std::move(entry_);
  }

 private:
  struct Copy {
    Value value;        // read from its buffer
    int32_t from = -1;  // or from this buffer
    int32_t to;
  };

  int32_t& buffer_of(Value value) { return context_.buffer_of[static_cast<size_t>(value.id)]; }

  int32_t add_buffer(const std::string& name, const Node& node, BufferRole role) {
    return context_.add_buffer(name, node.dtype, graph::element_count(node.shape), role);
  }

  std::string own_name(const char* kind, size_t number) const {
    return concat(graph_.name, '.', kind, number);
  }

  void give_leaves_buffers() {
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      int32_t& buffer = context_.buffer_of[id];
      if (node.kind == Kind::Input) {
        buffer = add_buffer(concat(graph_.name, '.', node.name), node, BufferRole::Input);
        entry_.inputs.push_back({node.name, node.shape, buffer});
      } else if (node.kind == Kind::State) {
        buffer = state(node);
      } else if (node.kind == Kind::Constant && !graph::is_splat(node)) {
        buffer = add_buffer(own_name("constant", id), node, BufferRole::Constant);
        context_.module.buffers[static_cast<size_t>(buffer)].data = node.data;
      }
    }
  }

  int32_t state(const Node& node) {
    const auto [place, fresh] = states_.try_emplace(node.name, -1);
    if (fresh) {
      place->second = add_buffer(node.name, node, BufferRole::State);
      context_.module.states.push_back({node.name, node.shape, place->second});
    }
    return place->second;
  }

  // A value has one buffer; outputs and updates beyond the first are copies.
  void give_outputs_buffers() {
    for (size_t u = 0; u < graph_.updates.size(); ++u) {
      if (fusion_.in_place[u]) {
        buffer_of(graph_.updates[u].value) = buffer_of(graph_.updates[u].state);
      }
    }
    for (const graph::Output& output : graph_.outputs) {
      const Node& node = graph_[output.value];
      const int32_t buffer =
          add_buffer(concat(graph_.name, '.', output.name), node, BufferRole::Output);
      entry_.outputs.push_back({output.name, node.shape, buffer});
      if (is_leaf(node)) {
        early_copies_.push_back({output.value, -1, buffer});
      } else if (buffer_of(output.value) < 0) {
        buffer_of(output.value) = buffer;
      } else {
        late_copies_.push_back({output.value, -1, buffer});
      }
    }
    for (size_t u = 0; u < graph_.updates.size(); ++u) {
      const graph::Update& update = graph_.updates[u];
      if (fusion_.in_place[u]) continue;
      const Node& node = graph_[update.value];
      int32_t from = -1;
      if (node.kind == Kind::State) {
        from = add_buffer(own_name("update", u), node, BufferRole::Temporary);
        early_copies_.push_back({update.value, -1, from});
      }
      late_copies_.push_back({update.value, from, buffer_of(update.state)});
    }
  }

  void give_temporaries_buffers() {
    const auto give = [&](bool scratch) {
      for (size_t id = 0; id < graph_.nodes.size(); ++id) {
        if (!fusion_.stored[id] || fusion_.scratch[id] != scratch) continue;
        give_buffer(id);
      }
    };
    give(false);
    for (const Group& group : fusion_.groups) place_scratch(group);
    give(true);
  }

  // What a value overwrites may come behind it.
  void give_buffer(size_t id) {
    if (context_.buffer_of[id] >= 0) return;
    const Value before = fusion_.overwrites[id];
    if (before.valid()) give_buffer(static_cast<size_t>(before.id));
    context_.buffer_of[id] =
        before.valid() ? buffer_of(before)
                       : add_buffer(own_name("v", id), graph_.nodes[id], BufferRole::Temporary);
  }

  // What only later passes over the row read lies where the last of them stores something.
  void place_scratch(const Group& group) {
    std::set<Value> taken;
    for (Value member : group.members) {
      const auto id = static_cast<size_t>(member.id);
      if (!fusion_.scratch[id]) continue;
      const auto host = std::ranges::find_if(group.members, [&](Value other) {
        const auto to = static_cast<size_t>(other.id);
        return fusion_.stored[to] && !fusion_.scratch[to] && !taken.contains(other) &&
               !is_per_row(graph_, group, other) && graph_[other].dtype == graph_[member].dtype &&
               fusion_.pass[to] >= fusion_.last_pass[id];
      });
      if (host == group.members.end()) continue;
      taken.insert(*host);
      buffer_of(member) = buffer_of(*host);
    }
  }

  void add_kernel(Kernel kernel) {
    kernel.name = concat(graph_.name, ".k", entry_.kernels.size());
    entry_.kernels.push_back(std::move(kernel));
  }

  void group_kernel(const Group& group) {
    const bool used = std::ranges::any_of(
        group.members, [&](Value v) { return fusion_.stored[static_cast<size_t>(v.id)]; });
    if (!used) return;
    Kernel kernel;
    kernel.origin = group.anchor().id;
    Nest nest(context_, kernel);
    lower_group(nest, group);
    for (Kernel& first : std::exchange(context_.before, {})) add_kernel(std::move(first));
    add_kernel(std::move(kernel));
  }

  void lower_group(Nest& nest, const Group& group) {
    if (!group.axes.empty()) return lower_reduce(nest, group);
    switch (graph_[group.anchor()].kind) {
      case Kind::Map:
      case Kind::Cast:
      case Kind::Reindex:
      case Kind::Reshape:
      case Kind::Iota:
      case Kind::Gather:
        return lower_map(nest, group);
      case Kind::Reduce:
        return lower_reduce(nest, group);
      case Kind::Contract:
        return lower_contract(nest, group);
      case Kind::Join:
        return lower_join(nest, group);
      case Kind::Scatter:
        return lower_scatter(nest, group);
      case Kind::Scan:
        return lower_scan(nest, group);
      case Kind::Sort:
        return lower_sort(nest, group);
      case Kind::Input:
      case Kind::State:
      case Kind::Constant:
        CHECK(!"a leaf needs no kernel");
    }
  }

  void copy_kernel(const Copy& copy) {
    Kernel kernel;
    kernel.origin = copy.value.id;
    Nest nest(context_, kernel);
    const Node& node = graph_[copy.value];
    const loop::VarId var = kernel.add_var("i", graph::element_count(node.shape));
    const loop::Affine at = loop::Affine::variable(var);
    const int32_t from = copy.from >= 0 ? copy.from : buffer_of(copy.value);
    const loop::ExprId element =
        from >= 0 ? nest.exprs().load({loop::Space::Global, from}, node.dtype, at)
                  : nest.exprs().constant(graph::splat_value(node));
    kernel.body.push_back(loop::for_loop(
        var, loop::LoopKind::Serial, {loop::store({loop::Space::Global, copy.to}, at, element)}));
    add_kernel(std::move(kernel));
  }

  const Graph& graph_;
  Fusion fusion_;
  EntryContext context_;
  std::map<std::string, int32_t>& states_;
  std::vector<Copy> early_copies_, late_copies_;
  loop::Entry entry_;
};

// Inputs, outputs and states are called what the user calls them; other buffers give way.
void make_names_distinct(loop::Module& module) {
  std::set<std::string> taken;
  const auto is_own = [](const loop::Buffer& buffer) {
    return buffer.role == BufferRole::Temporary || buffer.role == BufferRole::Constant;
  };
  for (const loop::Buffer& buffer : module.buffers) {
    if (!is_own(buffer)) taken.insert(buffer.name);
  }
  for (loop::Buffer& buffer : module.buffers) {
    while (is_own(buffer) && !taken.insert(buffer.name).second) buffer.name += '\'';
  }
}

}  // namespace

loop::Module lower(const graph::Program& program, Style style, const Schedules& schedules,
                   std::vector<ScheduledContraction>* scheduled, VectorUnit unit, bool winograd) {
  loop::Module module;
  std::map<std::string, int32_t> states;
  for (const Graph& graph : program.entries) {
    loop::Entry entry =
        EntryLowering(graph, module, states, style, schedules, scheduled, unit, winograd).run();
    module.entries.push_back(std::move(entry));
  }
  make_names_distinct(module);
  return module;
}

}  // namespace lathe::lower
