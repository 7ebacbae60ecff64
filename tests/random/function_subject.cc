#include <numeric>

#include "functions.h"
#include "lathe/base/text.h"
#include "lathe/grad/gradient.h"
#include "lathe/graph/builder.h"
#include "subject.h"

namespace lathe::random_tests {

namespace {

using graph::Graph;
using graph::Tensor;

constexpr std::string_view kWeights = "weights of ";

Tensor sum_of_all(Tensor x) {
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
    loss = loss + sum_of_all(value * weights);
  }
  if (!any || wrt.empty()) return std::optional<Graph>();
  const std::vector<Tensor> gradients = grad::gradients(b, loss, wrt);
  b.output("loss", loss);
  for (size_t i = 0; i < gradients.size(); ++i) {
    b.output(concat('d', b.graph()[wrt[i].value].name), gradients[i]);
  }
  LATHE_ASSIGN_OR_RETURN(Graph entry, std::move(b).finish());
  return std::optional(std::move(entry));
}

void fill(const Graph& graph, Named& inputs, Rng& rng) {
  for (const graph::Node& node : graph.nodes) {
    if (node.kind != graph::Kind::Input || inputs.contains(node.name)) continue;
    Values values = Values::zeros(node.dtype, node.shape);
    for (Bounded& each : values.elements) {
      switch (scalar::kind_of(node.dtype)) {
        case scalar::DTypeKind::Float:
          each.value = rng.number(2);
          break;
        case scalar::DTypeKind::Signed:
        case scalar::DTypeKind::Unsigned:
          each.value = static_cast<double>(rng.from(-3, 12));
          break;
        case scalar::DTypeKind::Truth:
          each.value = static_cast<double>(rng.below(2));
          break;
      }
    }
    inputs[node.name] = std::move(values);
  }
}

// A function that the slow evaluators can do.
Function affordable_function(uint64_t seed, int steps) {
  constexpr uint64_t kNext = 1ull << 40;
  while (work_of({{random_function(seed).graph}}) > kMaxWork / 4) seed += kNext;
  return random_function(seed, steps);
}

}  // namespace

int64_t work_of(const graph::Program& program) {
  int64_t work = 0;
  for (const Graph& entry : program.entries) {
    for (const graph::Node& node : entry.nodes) {
      int64_t steps = graph::element_count(node.shape);
      if (node.kind == graph::Kind::Contract) {
        steps = graph::element_count(node.contraction.extents);
      } else if (node.kind == graph::Kind::Loop) {
        steps = node.repetition.steps * work_of({{*node.body}});
      } else if (node.kind == graph::Kind::Sort) {
        steps *= node.shape[static_cast<size_t>(node.axes[0])];
      }
      work += steps;
    }
  }
  return work;
}

Result<Subject> function_subject(uint64_t seed, int steps) {
  Function function = affordable_function(seed, steps);
  Subject subject{concat("function_", seed), {}, {}, {}, {}, {}};
  for (const std::string& recipe : function.recipes) {
    append(subject.text, subject.text.empty() ? "" : ", ", recipe);
  }
  LATHE_ASSIGN_OR_RETURN(std::optional<Graph> grad, gradient_entry(function.graph));
  Rng rng(seed ^ 0xda7a);
  subject.inputs.emplace_back();
  fill(function.graph, subject.inputs[0], rng);
  if (grad) {
    for (const graph::Node& node : function.graph.nodes) {
      if (node.kind != graph::Kind::Input || node.dtype != DType::F32) continue;
      subject.variables.push_back(node.name);
    }
    subject.inputs.push_back(subject.inputs[0]);
    fill(*grad, subject.inputs[1], rng);
  }
  subject.program.entries.push_back(std::move(function.graph));
  if (grad) subject.program.entries.push_back(std::move(*grad));
  return subject;
}

}  // namespace lathe::random_tests
