#include "lowered.h"

#include <cstring>
#include <map>
#include <vector>

#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/lower/cpu/lower.h"

namespace lathe::lower {

using graph::DType;
using graph::Graph;
using Arrays = std::map<std::string, graph::Array>;

std::string problem(const Graph& graph, const loop::Module& module, graph::RandomGraph& random,
                    double tolerance, int64_t subgroup_threads) {
  const Arrays inputs = random.values(graph, graph::Kind::Input);
  const Arrays states = random.values(graph, graph::Kind::State);
  Arrays states_after = states;
  const auto expected = graph::evaluate(graph, inputs, states_after);
  if (!expected) return expected.error().message;
  if (const Status sound = loop::verify(module); !sound) return sound.error().message;
  loop::Memory memory(module);
  const auto write = [&](const loop::Port& port, const Arrays& from) {
    const auto& data = from.at(port.name).data;
    std::memcpy(memory.bytes(port.buffer).data(), data.data(), data.size());
  };
  const auto read = [&](const std::vector<loop::Port>& ports) {
    Arrays arrays;
    for (const loop::Port& port : ports) {
      const auto bytes = memory.bytes(port.buffer);
      arrays[port.name] = {DType::F32, port.shape, {bytes.begin(), bytes.end()}};
    }
    return arrays;
  };
  for (const loop::Port& port : module.entries[0].inputs) write(port, inputs);
  for (const loop::Port& port : module.states) write(port, states);
  if (const Status ran = loop::run(module, "t", memory, subgroup_threads); !ran)
    return ran.error().message;
  const std::string outputs = difference(*expected, read(module.entries[0].outputs), tolerance);
  return outputs.empty() ? difference(states_after, read(module.states), tolerance) : outputs;
}

std::string cpu::problem(const Graph& graph, const Schedule& schedule, graph::RandomGraph& random,
                         double tolerance) {
  std::vector<ScheduledContraction> found;
  lower({{graph}}, {}, &found);
  Schedules schedules;
  for (const ScheduledContraction& each : found) schedules[each.key] = schedule;
  return lower::problem(graph, lower({{graph}}, schedules), random, tolerance);
}

}  // namespace lathe::lower
