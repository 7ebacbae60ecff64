#include "lathe/models/cost.h"

#include "lathe/compile/compile.h"
#include "lathe/nn/training/training.h"

namespace lathe::models {
namespace {

constexpr std::string_view kForward = "forward ";

double products_of(const graph::Node& node) {
  if (node.body) return multiply_adds(*node.body) * static_cast<double>(node.repetition.steps);
  if (node.kind != graph::Kind::Contract) return 0;
  double products = 1;
  for (const int64_t extent : node.contraction.extents) products *= static_cast<double>(extent);
  return products;
}

}  // namespace

double multiply_adds(const graph::Graph& graph) {
  double products = 0;
  for (const graph::Node& node : graph.nodes) products += products_of(node);
  return products;
}

Result<Cost> cost_of(const nn::Model& model) {
  nn::TrainingOptions options;
  options.timing = true;
  const int64_t batch = model.batch() > 0 ? model.batch() : 1;
  options.batch = {batch, batch, batch};
  LATHE_ASSIGN_OR_RETURN(graph::Program program, nn::build_program(model, options));
  Cost cost;
  program.entries.resize(1);
  for (const graph::Node& node : program.entries[0].nodes) {
    const double products = products_of(node) / static_cast<double>(batch);
    cost.all_multiply_adds += products;
    const std::string& part = node.part.name;
    if (products > 0 && part.starts_with(kForward)) {
      cost.multiply_adds[part.substr(kForward.size())] += products;
    }
  }
  LATHE_ASSIGN_OR_RETURN(const compile::Executable executable,
                         compile::compile(std::move(program), {}));
  for (const nn::Variable& weight : model.weights()) {
    cost.weight_bytes += static_cast<uint64_t>(graph::element_count(weight.shape)) * sizeof(float);
  }
  cost.activation_bytes = executable.temporary_bytes;
  cost.memory_bytes = executable.memory_bytes;
  cost.module_bytes = executable.module().size();
  return cost;
}

}  // namespace lathe::models
