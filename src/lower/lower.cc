#include "lathe/lower/lower.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/lower/fuse_groups.h"
#include "lathe/lower/loop_body.h"
#include "lathe/lower/nest.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;
using loop::BufferRole;
using loop::Kernel;

namespace {

using Buffers = std::map<std::string, int32_t>;

// For the body of a loop: the buffers of its inputs and of the stacks of its outputs.
struct BodyBuffers {
  Buffers inputs, stacks;
  int32_t step;    // counts the slices
  int64_t steps;   // slices of a stack
  int32_t repeat;  // that the kernels are in
};

class EntryLowering {
 public:
  // `body`: where the graph is the body of a loop.
  EntryLowering(const Graph& graph, const EntryContext& like, Buffers& states, loop::Entry& entry,
                const BodyBuffers* body = nullptr)
      : graph_(graph),
        fusion_(fuse_groups(graph, like.strategies.lanes)),
        context_{graph, fusion_, std::vector<int32_t>(graph.nodes.size(), -1), like.module,
                 like.strategies},
        states_(states),
        entry_(entry),
        body_(body) {}

  void run() {
    allocate_leaves();
    allocate_outputs();
    allocate_temporaries();
    for (const Copy& copy : early_copies_) copy_kernel(copy);
    for (const Group& group : fusion_.groups) group_kernels(group);
    for (const Copy& copy : late_copies_) copy_kernel(copy);
    if (body_ == nullptr) name_parts();
  }

  // Of a body, the loop-invariant kernels, which are not in the repeat.
  std::vector<Kernel> release_invariant_kernels() { return std::move(invariant_kernels_); }

 private:
  struct Copy {
    Value value;        // read from its buffer
    int32_t from = -1;  // or from this buffer
    int32_t to;
    bool stacked = false;  // to the slice of this step
  };

  int32_t& buffer_of(Value value) { return context_.buffer_of[value]; }

  int32_t add_buffer(const std::string& name, const Node& node, BufferRole role) {
    return context_.add_buffer(name, node.dtype, graph::element_count(node.shape), role);
  }

  std::string unique_name(const char* kind, size_t number) const {
    return concat(graph_.name, '.', kind, number);
  }

  void allocate_leaves() {
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      int32_t& buffer = context_.buffer_of[id];
      if (node.kind == Kind::Input) {
        if (body_ != nullptr) {
          buffer = body_->inputs.at(node.name);
          continue;
        }
        buffer = add_buffer(concat(graph_.name, '.', node.name), node, BufferRole::Input);
        entry_.inputs.push_back({node.name, node.shape, buffer});
      } else if (node.kind == Kind::State) {
        buffer = state(node);
      } else if (node.kind == Kind::Constant && !graph::is_splat(node)) {
        buffer = add_buffer(unique_name("constant", id), node, BufferRole::Constant);
        context_.module.buffers[buffer].data = node.data;
      }
    }
  }

  int32_t state(const Node& node) {
    const auto [entry, fresh] = states_.try_emplace(node.name, -1);
    if (fresh) {
      entry->second = add_buffer(node.name, node, BufferRole::State);
      context_.module.states.push_back({node.name, node.shape, entry->second});
    }
    return entry->second;
  }

  // A value has one buffer; outputs and updates beyond the first are copies.
  void allocate_outputs() {
    for (const graph::Update& update : graph_.updates) {
      if (fusion_.is_inplace(update)) buffer_of(update.value) = buffer_of(update.state);
    }
    for (const graph::Output& output : graph_.outputs) {
      const Node& node = graph_[output.value];
      if (body_ != nullptr) {
        std::vector<Copy>& copies = is_leaf(node) ? early_copies_ : late_copies_;
        copies.push_back({output.value, -1, body_->stacks.at(output.name), true});
        continue;
      }
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
      if (fusion_.is_inplace(update)) continue;
      const Node& node = graph_[update.value];
      int32_t from = -1;
      if (node.kind == Kind::State) {
        from = add_buffer(unique_name("update", u), node, BufferRole::Temporary);
        early_copies_.push_back({update.value, -1, from});
      }
      late_copies_.push_back({update.value, from, buffer_of(update.state)});
    }
  }

  void allocate_temporaries() {
    const auto allocate = [&](bool scratch) {
      for (size_t id = 0; id < graph_.nodes.size(); ++id) {
        if (!fusion_.stored[id] || fusion_.scratch[id] != scratch) continue;
        allocate_buffer(id);
      }
    };
    allocate(false);
    for (const Group& group : fusion_.groups) allocate_scratch(group);
    allocate(true);
  }

  // A value may overwrite another one that has no buffer yet: all values of such a chain share one.
  void allocate_buffer(size_t id) {
    std::vector<size_t> aliases = {id};  // each overwrites the next
    while (context_.buffer_of[aliases.back()] < 0) {
      const Value before = fusion_.overwrites[aliases.back()];
      if (!before.valid()) break;
      aliases.push_back(static_cast<size_t>(before.id));
    }
    int32_t& first = context_.buffer_of[aliases.back()];
    if (first < 0) {
      const size_t v = aliases.back();
      first = add_buffer(unique_name("v", v), graph_.nodes[v], BufferRole::Temporary);
    }
    for (const size_t each : aliases) context_.buffer_of[each] = first;
  }

  // Values that are only read by later passes over the row share the buffer of a result that the
  // last of them stores.
  void allocate_scratch(const Group& group) {
    std::set<Value> used_hosts;
    for (Value member : group.members) {
      const auto id = static_cast<size_t>(member.id);
      if (!fusion_.scratch[id]) continue;
      const auto host = std::ranges::find_if(group.members, [&](Value other) {
        const auto to = static_cast<size_t>(other.id);
        return fusion_.stored[to] && !fusion_.scratch[to] && !used_hosts.contains(other) &&
               !is_per_row(graph_, group, other) && graph_[other].dtype == graph_[member].dtype &&
               fusion_.pass[to] >= fusion_.last_pass[id];
      });
      if (host == group.members.end()) continue;
      used_hosts.insert(*host);
      buffer_of(member) = buffer_of(*host);
    }
  }

  int32_t repeat() const { return body_ != nullptr ? body_->repeat : -1; }

  // The part of a node, then the equations of all that its kernel computes, each on a line:
  // "forward dense_1\nx·kernel\nbias\n".
  std::string part_of(size_t node) const {
    const auto& [name, equation] = graph_.nodes[node].part;
    if (equation.empty()) return name;
    std::vector<std::string_view> equations = {equation};
    if (const int group = fusion_.group_of[node]; group >= 0) {
      for (const Value member : fusion_.groups[group].members) {
        const std::string& other = graph_[member].part.equation;
        if (!other.empty() && std::ranges::find(equations, other) == equations.end())
          equations.push_back(other);
      }
    }
    std::string part = concat(name, '\n');
    for (const std::string_view each : equations) part += concat(each, '\n');
    return part;
  }

  void name_parts() {
    for (Kernel& kernel : entry_.kernels) {
      if (kernel.origin >= 0) kernel.part = part_of(static_cast<size_t>(kernel.origin));
    }
  }

  void add_kernel(Kernel kernel) { add_kernel(std::move(kernel), repeat()); }

  void add_kernel(Kernel kernel, int32_t repeat) {
    kernel.repeat = repeat;
    entry_.kernels.push_back(std::move(kernel));
  }

  // Whether the kernel reads only constants and loop-invariant inputs.
  bool is_invariant(const Kernel& kernel) const {
    if (body_ == nullptr || body_->steps == 1) return false;
    return std::ranges::all_of(kernel.exprs, [&](const loop::Expr& expr) {
      if (expr.kind != loop::ExprKind::Load || expr.buffer.space != loop::Space::Global)
        return true;
      const int32_t id = expr.buffer.id;
      return context_.module.buffers[id].role == BufferRole::Constant ||
             std::ranges::any_of(body_->inputs,
                                 [&](const auto& input) { return input.second == id; });
    });
  }

  void group_kernels(const Group& group) {
    if (graph_[group.anchor()].kind == Kind::Loop) return loop_kernels(group);
    const bool used =
        std::ranges::any_of(group.members, [&](Value v) { return fusion_.stored[v]; });
    if (!used) return;
    Kernel kernel;
    kernel.origin = group.anchor().id;
    Nest nest(context_, kernel);
    lower_group(nest, group);
    for (Kernel& first : std::exchange(context_.before, {})) {
      if (is_invariant(first)) {
        invariant_kernels_.push_back(std::move(first));
      } else {
        add_kernel(std::move(first));
      }
    }
    add_kernel(std::move(kernel));
  }

  void loop_kernels(const Group& group) {
    const Value loop = group.anchor();
    const Node& node = graph_[loop];
    const std::string name = unique_name("loop", static_cast<size_t>(loop.id));
    std::vector<Copy> copies;
    std::vector<int32_t> results = result_buffers(group, copies);
    Buffers states;
    for (size_t k = 0; k < static_cast<size_t>(node.repetition.carried); ++k) {
      const Value initial = memory_of(graph_, node.operands[k]);
      if (results[k] < 0) {
        results[k] =
            add_buffer(concat(name, ".carried", k), graph_[initial], BufferRole::Temporary);
      }
      states[operand_name(k)] = results[k];
      copy_kernel({initial, -1, results[k]});
    }
    if (node.repetition.steps > 0) {
      const int32_t step =
          context_.add_buffer(concat(name, ".step"), loop::DType::I32, 1, BufferRole::Temporary);
      states[std::string(kStepName)] = step;
      body_kernels(loop, step, results, states);
    }
    for (const Copy& copy : copies) copy_kernel(copy);
  }

  // A result has the buffer of its first Item node; loop-carried values are stored there.
  std::vector<int32_t> result_buffers(const Group& group, std::vector<Copy>& copies) {
    std::vector<int32_t> results(graph_[group.anchor()].body->outputs.size(), -1);
    for (size_t i = 1; i < group.members.size(); ++i) {
      const Value item = group.members[i];
      int32_t& result = results[graph_[item].item];
      if (result < 0) {
        result = buffer_of(item);
      } else {
        copies.push_back({item, result, buffer_of(item)});
      }
    }
    return results;
  }

  void body_kernels(Value loop, int32_t step, const std::vector<int32_t>& results,
                    Buffers& states) {
    const Node& node = graph_[loop];
    const int64_t steps = node.repetition.steps;
    BodyBuffers indices{{}, {}, step, steps, static_cast<int32_t>(entry_.repeats.size())};
    for (size_t k = 0; k < node.operands.size(); ++k) {
      indices.inputs[operand_name(k)] = buffer_of(memory_of(graph_, node.operands[k]));
    }
    const int32_t condition = condition_of(loop, results);
    std::vector<bool> used_results;
    for (size_t k = 0; k < results.size(); ++k) {
      used_results.push_back(results[k] >= 0);
      indices.stacks[concat(k)] = results[k];
      const bool may_have_gaps = node.repetition.has_condition() && !node.repetition.is_carried(k);
      if (used_results[k] && may_have_gaps) zero_kernel(loop, results[k]);
    }
    add_kernel(step_kernel(loop, step, node.reverse ? static_cast<int32_t>(steps) - 1 : 0, false));
    const size_t begin = entry_.kernels.size();
    const int32_t all_steps = indices.repeat;
    const bool chooses = is_sliced_condition(node);
    entry_.repeats.push_back({steps, repeat(), chooses ? -1 : condition});
    if (chooses) choose_steps(loop, condition, indices);
    const size_t first = entry_.kernels.size();
    const Graph graph = body_entry(graph_, loop, used_results);
    EntryLowering body(graph, context_, states, entry_, &indices);
    body.run();
    if (entry_.kernels.size() == first) entry_.repeats.resize(static_cast<size_t>(all_steps) + 1);
    add_kernel(step_kernel(loop, step, node.reverse ? -1 : 1, true), all_steps);
    for (size_t k = begin; k < entry_.kernels.size(); ++k) entry_.kernels[k].origin = loop.id;
    insert_before(begin, body.release_invariant_kernels(), loop);
  }

  static bool is_sliced_condition(const Node& loop) {
    const graph::Repetition& repetition = loop.repetition;
    return repetition.has_condition() && repetition.is_sliced(repetition.condition);
  }

  // The buffer of the condition, of all steps where they are slices; -1: there is none.
  int32_t condition_of(Value loop, const std::vector<int32_t>& results) {
    const Node& node = graph_[loop];
    if (!node.repetition.has_condition()) return -1;
    const auto number = static_cast<size_t>(node.repetition.condition);
    if (node.repetition.is_carried(number)) return results[number];
    const Value operand = memory_of(graph_, node.operands[number]);
    if (buffer_of(operand) >= 0) return buffer_of(operand);
    const std::string name = unique_name("loop", static_cast<size_t>(loop.id));
    const int32_t buffer =
        add_buffer(concat(name, ".condition"), graph_[operand], BufferRole::Temporary);
    copy_kernel({operand, -1, buffer});
    return buffer;
  }

  // The body is run once or not at all at each step: a repeat in that over all steps.
  void choose_steps(Value loop, int32_t condition, BodyBuffers& indices) {
    const std::string name = unique_name("loop", static_cast<size_t>(loop.id));
    const int32_t chosen =
        context_.add_buffer(concat(name, ".chosen"), loop::DType::Bool, 1, BufferRole::Temporary);
    Kernel kernel;
    kernel.origin = loop.id;
    Nest nest(context_, kernel);
    const loop::ExprId step =
        nest.exprs().load({loop::Space::Global, indices.step}, loop::DType::I32, 0);
    const loop::ExprId flag = nest.exprs().load({loop::Space::Global, condition}, loop::DType::Bool,
                                                0, {}, step, {1, indices.steps});
    kernel.body.push_back(loop::store({loop::Space::Global, chosen}, 0, flag));
    add_kernel(std::move(kernel), indices.repeat);
    entry_.repeats.push_back({1, indices.repeat, chosen});
    ++indices.repeat;
  }

  void zero_kernel(Value loop, int32_t to) {
    Kernel kernel;
    kernel.origin = loop.id;
    Nest nest(context_, kernel);
    const loop::Buffer& buffer = context_.module.buffers[to];
    const loop::VarId var = kernel.add_var("i", buffer.size);
    const loop::ExprId zero = nest.exprs().constant(scalar::Number::from(buffer.dtype, 0));
    loop::Stmt store = loop::store({loop::Space::Global, to}, loop::Affine::variable(var), zero);
    kernel.body.push_back(loop::for_loop(var, loop::LoopKind::Serial, {std::move(store)}));
    add_kernel(std::move(kernel));
  }

  void insert_before(size_t position, std::vector<Kernel> kernels, Value origin) {
    std::vector<Kernel> following(
        std::make_move_iterator(entry_.kernels.begin() + static_cast<std::ptrdiff_t>(position)),
        std::make_move_iterator(entry_.kernels.end()));
    entry_.kernels.resize(position);
    for (Kernel& kernel : kernels) {
      kernel.origin = origin.id;
      add_kernel(std::move(kernel));
    }
    std::ranges::move(following, std::back_inserter(entry_.kernels));
  }

  // Sets or increments the index of the slice.
  Kernel step_kernel(Value loop, int32_t step, int32_t by, bool moves) {
    Kernel kernel;
    kernel.origin = loop.id;
    Nest nest(context_, kernel);
    const loop::BufferRef buffer{loop::Space::Global, step};
    loop::ExprId value = nest.exprs().constant(loop::Number::of(by));
    if (moves) {
      const loop::ExprId before = nest.exprs().load(buffer, loop::DType::I32, 0);
      value = nest.exprs().apply(loop::Op::Add, {before, value});
    }
    kernel.body.push_back(loop::store(buffer, 0, value));
    return kernel;
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
      case Kind::Loop:
      case Kind::Item:
        LATHE_CHECK(!"needs no separate kernel");
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
    const loop::BufferRef to{loop::Space::Global, copy.to};
    loop::Stmt store = loop::store(to, at, element);
    if (copy.stacked) {
      const loop::ExprId step =
          nest.exprs().load({loop::Space::Global, body_->step}, loop::DType::I32, 0);
      store = loop::store(to, at, step, {graph::element_count(node.shape), body_->steps}, element);
    }
    kernel.body.push_back(loop::for_loop(var, loop::LoopKind::Serial, {std::move(store)}));
    add_kernel(std::move(kernel));
  }

  const Graph& graph_;
  Fusion fusion_;
  EntryContext context_;
  Buffers& states_;
  std::vector<Copy> early_copies_, late_copies_;
  loop::Entry& entry_;
  const BodyBuffers* body_;
  std::vector<Kernel> invariant_kernels_;
};

// Inputs, outputs and states have the user's names; other buffers are renamed on a clash.
void make_names_distinct(loop::Module& module) {
  std::set<std::string> used;
  const auto is_internal = [](const loop::Buffer& buffer) {
    return buffer.role == BufferRole::Temporary || buffer.role == BufferRole::Constant;
  };
  for (const loop::Buffer& buffer : module.buffers) {
    if (!is_internal(buffer)) used.insert(buffer.name);
  }
  for (loop::Buffer& buffer : module.buffers) {
    while (is_internal(buffer) && !used.insert(buffer.name).second) buffer.name += '\'';
  }
}

}  // namespace

loop::Module lower(const graph::Program& program, Strategies& strategies) {
  loop::Module module;
  Buffers states;
  for (const Graph& graph : program.entries) {
    const Fusion none;
    const EntryContext context{graph, none, {}, module, strategies};
    loop::Entry entry;
    entry.name = graph.name;
    EntryLowering(graph, context, states, entry).run();
    for (size_t k = 0; k < entry.kernels.size(); ++k) {
      entry.kernels[k].name = concat(entry.name, ".k", k);
    }
    module.entries.push_back(std::move(entry));
  }
  make_names_distinct(module);
  return module;
}

}  // namespace lathe::lower
