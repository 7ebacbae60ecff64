#include "lathe/opt/fold_conditions.h"

#include <map>
#include <utility>
#include <vector>

#include "lathe/base/insert.h"
#include "lathe/base/table.h"
#include "lathe/graph/rewriter.h"

namespace lathe::opt {

using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Repetition;
using graph::Shape;
using graph::Value;
using scalar::Number;

namespace {

class Decider final : public graph::Rewriter {
 private:
  Value replace(Node node) override {
    if (node.kind == Kind::Item) {
      const auto decided = results_.find(node.operands[0]);
      return decided == results_.end() ? add(std::move(node)) : decided->second[node.item];
    }
    if (node.kind != Kind::Loop || !node.repetition.has_condition()) return add(std::move(node));
    const auto condition = static_cast<size_t>(node.repetition.condition);
    const Node& operand = (*this)[node.operands[condition]];
    if (!is_splat(operand)) return add(std::move(node));
    if (splat_value(operand).i == 0) return decide(node, not_run(node));
    const bool is_single = node.repetition.steps == 1;
    if (is_single || !node.repetition.is_carried(condition)) node.repetition.condition = -1;
    return is_single ? decide(node, body_of(node)) : add(std::move(node));
  }

  Value decide(const Node& loop, std::vector<Value> results) {
    const Value steps = splat(Number::of(static_cast<int32_t>(loop.repetition.steps)), {});
    results_[steps] = std::move(results);
    return steps;
  }

  std::vector<Value> not_run(const Node& loop) {
    std::vector<Value> results;
    for (size_t k = 0; k < loop.body->outputs.size(); ++k) {
      if (loop.repetition.is_carried(k)) {
        results.push_back(loop.operands[k]);
        continue;
      }
      const Node& value = (*loop.body)[loop.body->outputs[k].value];
      Shape shape = value.shape;
      insert_at(shape, 0, loop.repetition.steps);
      results.push_back(splat(Number::from(value.dtype, 0), std::move(shape)));
    }
    return results;
  }

  // The results of its one step, whose nodes become part of this graph.
  std::vector<Value> body_of(const Node& loop) {
    const Graph& body = *loop.body;
    Table<Value, Value> moved;
    for (size_t input = 0; const Node& each : body.nodes) {
      Node node = each;
      for (Value& operand : node.operands) operand = moved[operand];
      if (each.kind != Kind::Input) {
        moved.push_back(replace(std::move(node)));
        continue;
      }
      const Value operand = loop.operands[input];
      moved.push_back(loop.repetition.is_sliced(input) ? reshape(operand, each.shape) : operand);
      ++input;
    }
    std::vector<Value> results;
    for (size_t k = 0; k < body.outputs.size(); ++k) {
      const Value value = moved[body.outputs[k].value];
      if (loop.repetition.is_carried(k)) {
        results.push_back(value);
        continue;
      }
      Shape shape = (*this)[value].shape;
      insert_at(shape, 0, 1);
      results.push_back(reshape(value, std::move(shape)));
    }
    return results;
  }

  std::map<Value, std::vector<Value>> results_;  // of loops that are decided
};

}  // namespace

Graph fold_conditions(Graph graph) { return Decider().run(std::move(graph)); }

}  // namespace lathe::opt
