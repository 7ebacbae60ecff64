#include "lathe/graph/segment.h"

#include <algorithm>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/base/text.h"

namespace lathe::graph {

namespace {

// Of what no data changes.
constexpr size_t kAll = static_cast<size_t>(-1);

class SegmentExtractor {
 public:
  SegmentExtractor(const Graph& graph, std::span<const Value> boundaries, size_t index)
      : graph_(graph), boundaries_(boundaries), index_(index), needed_(graph.nodes.size()) {
    for (size_t id = 0; id < graph.nodes.size(); ++id) part_of_.push_back(part(id));
  }

  Graph run(std::span<const Value> requested) {
    const bool is_last = index_ == boundaries_.size();
    Table<Value, bool> exported(graph_.nodes.size());
    const auto add_export = [&](Value value) {
      if (part_of(value) == index_) exported[value] = true;
    };
    for (const Value value : requested) add_export(value);
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (part_of_[id] == kAll || part_of_[id] <= index_) continue;
      for (const Value operand : graph_.nodes[id].operands) {
        if (graph_[operand].kind != Kind::Loop) {
          add_export(operand);
        } else if (part_of(operand) != part_of_[id]) {
          for (const Value read : graph_[operand].operands) add_export(read);
        }
      }
    }
    for (const Output& output : graph_.outputs)
      is_last ? need(output.value) : add_export(output.value);
    for (const Update& update : graph_.updates)
      is_last ? need(update.value) : add_export(update.value);
    if (!is_last) exported[boundaries_[index_]] = true;
    for (size_t id = 0; id < exported.size(); ++id) {
      if (exported[id]) need({static_cast<int32_t>(id)});
    }
    build();
    for (size_t id = 0; id < exported.size(); ++id) {
      if (!exported[id]) continue;
      const Value value{static_cast<int32_t>(id)};
      result_.outputs.push_back({name_of(value), moved(value)});
    }
    if (!is_last) return std::move(result_);
    for (const Output& output : graph_.outputs) {
      result_.outputs.push_back({output.name, moved(output.value)});
    }
    for (const Update& update : graph_.updates) {
      result_.outputs.push_back({concat('=', graph_[update.state].name), moved(update.value)});
    }
    return std::move(result_);
  }

 private:
  static std::string name_of(Value value) { return concat('%', value.id); }

  size_t part_of(Value value) const { return part_of_[value]; }
  Value& moved(Value value) { return moved_[value]; }

  size_t part(size_t id) const {
    const Node& node = graph_.nodes[id];
    switch (node.kind) {
      case Kind::Input:
      case Kind::State:
      case Kind::Constant:
      case Kind::Iota:
        return kAll;
      default:
        break;
    }
    if (node.kind != Kind::Loop && std::ranges::all_of(node.operands, [&](Value operand) {
          return part_of(operand) == kAll && is_constant(operand);
        })) {
      return kAll;
    }
    const Value value{static_cast<int32_t>(id)};
    return static_cast<size_t>(std::ranges::lower_bound(boundaries_, value) - boundaries_.begin());
  }

  bool is_constant(Value value) const {
    const Kind kind = graph_[value].kind;
    return kind != Kind::Input && kind != Kind::State;
  }

  // A loop of an earlier segment is recomputed for results that later segments read.
  bool is_computed(size_t id) const {
    return part_of_[id] == kAll || part_of_[id] == index_ || graph_.nodes[id].kind == Kind::Loop;
  }

  void need(Value value) { needed_[value] = true; }

  void build() {
    result_.name = graph_.name;
    moved_.resize(graph_.nodes.size());
    for (size_t id = graph_.nodes.size(); id-- > 0;) {
      if (!needed_[id] || !is_computed(id)) continue;
      for (const Value operand : graph_.nodes[id].operands) need(operand);
    }
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (!needed_[id]) continue;
      Node node = graph_.nodes[id];
      if (!is_computed(id)) {
        Node input{.kind = Kind::Input, .dtype = node.dtype, .shape = node.shape};
        input.name = name_of({static_cast<int32_t>(id)});
        node = std::move(input);
      } else if (node.kind == Kind::State) {
        node.kind = Kind::Input;
        node.name.insert(0, 1, '@');
      }
      for (Value& operand : node.operands) operand = moved(operand);
      moved_[id] = result_.nodes.push_back(std::move(node));
    }
  }

  const Graph& graph_;
  const std::span<const Value> boundaries_;
  const size_t index_;
  Table<Value, size_t> part_of_;  // by node
  Table<Value, bool> needed_;
  Table<Value, Value> moved_;
  Graph result_;
};

}  // namespace

Graph segment(const Graph& graph, std::span<const Value> boundaries, size_t index,
              std::span<const Value> requested) {
  return SegmentExtractor(graph, boundaries, index).run(requested);
}

}  // namespace lathe::graph
