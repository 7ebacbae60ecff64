// The graph passes right before lowering to lanes, in the order they run: what they make is worth
// its memory on a CPU only, and other graph passes would undo it.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "lathe/lower/cpu/pad_operands.h"
#include "lathe/lower/cpu/shorten_constants.h"

namespace lathe::lower::cpu {

struct Pass {
  std::string_view name;
  graph::Graph (*run)(graph::Graph);
};

inline constexpr std::array kPasses = {
    Pass{"pad_operands", graph::with_bodies<pad_operands>},
    Pass{"shorten_constants", graph::with_bodies<shorten_constants>},
};

inline graph::Graph prepare(graph::Graph graph) {
  for (const Pass& pass : kPasses) graph = pass.run(std::move(graph));
  return graph;
}

}  // namespace lathe::lower::cpu
