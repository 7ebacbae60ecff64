#include <numeric>

#include "base/text.h"
#include "functions.h"
#include "grad/gradient.h"
#include "graph/builder.h"
#include "opt/eliminate_dead_code.h"
#include "subject.h"

namespace lathe::random_tests {

namespace {

using graph::Graph;
using graph::Tensor;

constexpr std::string_view kWeights = "weights of ";

Tensor whole_sum(Tensor x) {
  std::vector<int> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  return graph::sum(x, axes);
}

// The entry `grad` of a function; nothing where it has no F32 result or input.
Result<std::optional<Graph>> gradient_entry(Graph run) {
  run.name = "grad";
  const std::vector<graph::Output> outputs = std::exchange(run.outputs, {});
  graph::Builder b(std::move(run));
  std::vector<Tensor> wrt;
  for (size_t id = 0; id < b.graph().nodes.size(); ++id) {
    const graph::Node& node = b.graph().nodes[id];
    if (node.kind != graph::Kind::Input || node.dtype != DType::F32) continue;
    wrt.push_back({&b, {static_cast<int32_t>(id)}});
  }
  Tensor loss = b.scalar(0);
  bool any = false;
  for (const graph::Output& output : outputs) {
    const Tensor value{&b, output.value};
    if (value.dtype() != DType::F32) continue;
    any = true;
    const Tensor weights = b.input(concat(kWeights, output.name), DType::F32, value.shape());
    loss = loss + whole_sum(value * weights);
  }
  if (!any || wrt.empty()) return std::optional<Graph>();
  const std::vector<Tensor> gradients = grad::gradients(b, loss, wrt);
  b.output("loss", loss);
  for (size_t i = 0; i < gradients.size(); ++i) {
    b.output(concat('d', b.graph()[wrt[i].value].name), gradients[i]);
  }
  ASSIGN_OR_RETURN(Graph entry, std::move(b).finish());
  return std::optional(std::move(entry));
}

}  // namespace

void fill(const Graph& graph, Named& inputs, Named& states, Draw& draw, double most) {
  for (const graph::Node& node : graph.nodes) {
    if (node.kind != graph::Kind::Input && node.kind != graph::Kind::State) continue;
    Named& named = node.kind == graph::Kind::Input ? inputs : states;
    if (named.contains(node.name)) continue;
    Values values = Values::zeros(node.dtype, node.shape);
    for (Bounded& each : values.elements) {
      switch (node.dtype) {
        case DType::F32:
          each.value = draw.number(most);
          break;
        case DType::I32:
          each.value = static_cast<double>(draw.from(-3, 12));
          break;
        case DType::Bool:
          each.value = static_cast<double>(draw.below(2));
          break;
      }
    }
    named[node.name] = std::move(values);
  }
}

Result<Subject> function_subject(uint64_t seed, int steps) {
  Function function = random_function(seed, steps);
  Subject subject{concat("function_", seed), {}, {}, {}, {}};
  for (const std::string& recipe : function.recipes) append(subject.text, recipe, ", ");
  subject.text.resize(subject.text.size() - (subject.text.empty() ? 0 : 2));
  ASSIGN_OR_RETURN(std::optional<Graph> grad, gradient_entry(function.graph));
  subject.program.entries.push_back(std::move(function.graph));
  if (grad) subject.program.entries.push_back(std::move(*grad));
  Draw draw(seed ^ 0xda7a);
  for (const Graph& entry : subject.program.entries) {
    fill(entry, subject.inputs, subject.states, draw, 2);
  }
  return subject;
}

std::optional<Slopes> function_slopes(const Subject& subject) {
  if (subject.program.entries.size() < 2) return std::nullopt;
  const Graph& entry = subject.program.entries[1];
  Slopes slopes{entry, {}};
  slopes.loss.outputs = {entry.outputs.front()};
  slopes.loss = opt::eliminate_dead_code(std::move(slopes.loss));
  // Dead code takes inputs along; they are given all the same.
  Outcome outcome = expected(entry, subject.inputs, subject.states, kDouble);
  for (auto& [name, values] : outcome.outputs) {
    if (name != "loss") slopes.gradients[name.substr(1)] = std::move(values);
  }
  return slopes;
}

}  // namespace lathe::random_tests
