// Graphs run as the loops they are lowered to: shared by the tests of strategies.
#pragma once

#include <string>

#include "lathe/loop/loop.h"
#include "lathe/lower/cpu/schedule.h"
#include "random_graph.h"

namespace lathe::lower {

// Runs the graph on random values as the module that it was lowered to; "" or what differs from the
// evaluator by more than the relative tolerance. Subgroups have this many threads.
std::string problem(const graph::Graph& graph, const loop::Module& module,
                    graph::RandomGraph& random, double tolerance,
                    int64_t subgroup_threads = loop::kMinSubgroup);

// The same lowered for a processor, each contraction under the schedule.
namespace cpu {
std::string problem(const graph::Graph& graph, const Schedule& schedule, graph::RandomGraph& random,
                    double tolerance);
}

}  // namespace lathe::lower
