// Which inputs the results of a trace depend on.
#include <algorithm>
#include <map>
#include <string_view>

#include "lathe/base/table.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

std::vector<std::vector<size_t>> result_dependencies(const Trace& trace) {
  std::map<std::string_view, size_t> index_of;
  for (size_t k = 0; k < trace.inputs.size(); ++k) index_of.emplace(trace.inputs[k].name, k);
  index_of.erase("");
  const size_t count = trace.inputs.size();
  Table<graph::Value, std::vector<bool>> of(trace.graph.nodes.size());
  for (size_t id = 0; id < of.size(); ++id) {
    const graph::Node& node = trace.graph.nodes[id];
    of[id].resize(count);
    const auto index = index_of.find(node.name);
    if (node.kind == graph::Kind::Input && index != index_of.end()) of[id][index->second] = true;
    for (const graph::Value each : node.operands) {
      const std::vector<bool>& operand = of[each];
      for (size_t k = 0; k < count; ++k) of[id][k] = of[id][k] || operand[k];
    }
  }
  std::vector<std::vector<size_t>> all;
  for (const Port& result : trace.results) {
    std::vector<size_t>& inputs = all.emplace_back();
    const auto output = std::ranges::find(trace.graph.outputs, result.name, &graph::Output::name);
    if (output == trace.graph.outputs.end()) continue;
    const std::vector<bool>& found = of[output->value];
    for (size_t k = 0; k < count; ++k) {
      if (found[k]) inputs.push_back(k);
    }
  }
  return all;
}

}  // namespace lathe::onnx
