#include "lathe/api/bodies.h"

#include <utility>

#include "lathe/base/text.h"

namespace lathe::api {

using graph::Builder;
using graph::Tensor;
using graph::Value;

Builder& Bodies::innermost(Builder& entry) const {
  return open_.empty() ? entry : open_.back()->builder;
}

void Bodies::begin() { open_.push_back(std::make_unique<Open>()); }

Result<int32_t> Bodies::end() {
  if (open_.empty()) return fail("no body of a branch or loop has begun");
  const std::unique_ptr<Open> body = std::move(open_.back());
  open_.pop_back();
  // Later builders may be allocated at the same address.
  for (BodyValue& each : values_) {
    if (each.builder == &body->builder) each.builder = nullptr;
  }
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, std::move(body->builder).finish());
  const Builder* around = open_.empty() ? nullptr : &open_.back()->builder;
  ended_.push_back(Ended{std::move(graph), std::move(body->captures), around});
  return static_cast<int32_t>(ended_.size());
}

Result<ops::Body> Bodies::release(int32_t number, Builder& entry) {
  const auto index = static_cast<size_t>(number) - 1;
  if (number < 1 || index >= ended_.size() || !ended_[index]) {
    return fail(concat("there is no body ", number));
  }
  Ended& ended = *ended_[index];
  if (ended.around != (open_.empty() ? nullptr : &open_.back()->builder)) {
    return fail(concat("body ", number, " belongs to another branch or loop"));
  }
  ops::Body body{std::move(ended.graph), {}};
  for (const Value value : ended.captures) body.captures.push_back({&innermost(entry), value});
  ended_[index].reset();
  return body;
}

bool Bodies::covers_all_paths(Value loss, Value x, const Builder& entry) const {
  std::vector<Value> roots = {loss};
  for (size_t level = open_.size();; --level) {
    const graph::Graph& graph = level == 0 ? entry.graph() : open_[level - 1]->builder.graph();
    std::vector<bool> read(graph.nodes.size());
    for (const Value root : roots) read[static_cast<size_t>(root.id)] = true;
    for (size_t id = read.size(); id-- > 0;) {
      if (!read[id] || id == static_cast<size_t>(x.id)) continue;
      for (const Value operand : graph.nodes[id].operands) {
        read[static_cast<size_t>(operand.id)] = true;
      }
    }
    const bool is_outside = level < open_.size();
    if (is_outside && read[static_cast<size_t>(x.id)]) return false;
    if (level == 0) return true;
    roots.clear();
    Value outer;
    for (const auto& [around, input] : open_[level - 1]->inputs) {
      if (input == x) {
        outer = around;
      } else if (read[static_cast<size_t>(input.id)]) {
        roots.push_back(around);
      }
    }
    if (!outer.valid()) return true;
    x = outer;
  }
}

int32_t Bodies::number_of(Tensor tensor) {
  if (open_.empty() || tensor.builder != &open_.back()->builder) return tensor.value.id + 1;
  values_.push_back({tensor.builder, tensor.value});
  return -static_cast<int32_t>(values_.size());
}

Result<Tensor> Bodies::find(int32_t number, Builder& entry) {
  size_t level = 0;  // bodies around the value
  Value value{number - 1};
  if (number < 0) {
    const auto index = static_cast<size_t>(-(number + 1));
    if (index >= values_.size()) return fail(concat("there is no value ", number));
    value = values_[index].value;
    while (level < open_.size() && &open_[level]->builder != values_[index].builder) ++level;
    if (level++ == open_.size()) {
      return fail(
          "a value of a branch or loop that has ended: return it there, and use the results of "
          "cond or "
          "whileLoop");
    }
  } else if (number == 0 || static_cast<size_t>(number) > entry.graph().nodes.size()) {
    return fail(
        concat("there is no value ", number, " in entry ", json_string(entry.graph().name)));
  }
  Tensor tensor{level == 0 ? &entry : &open_[level - 1]->builder, value};
  for (; level < open_.size(); ++level) {
    Open& body = *open_[level];
    const auto [input, is_new] = body.inputs.try_emplace(tensor.value);
    if (is_new) {
      const std::string name = concat("capture ", body.captures.size());
      input->second = body.builder.input(name, tensor.dtype(), tensor.shape()).value;
      body.captures.push_back(tensor.value);
    }
    tensor = {&body.builder, input->second};
  }
  return tensor;
}

}  // namespace lathe::api
