// The body of a loop as an entry that is run once for each step.
#pragma once

#include <string>

#include "lathe/graph/graph.h"

namespace lathe::lower {

inline constexpr std::string_view kStepName = "step";

// What the body's input for operand k of the loop is called.
std::string operand_name(size_t k);

// Before: a valid graph. After: loop-carried values are States of the body, updated at each step;
// sliced operands are gathered at the state "step", an i32 slice index; scalar splat operands are
// constants; the outputs are the stacks of the loop's results with `used`, named by index.
graph::Graph body_entry(const graph::Graph& graph, graph::Value loop,
                        const std::vector<bool>& used);

}  // namespace lathe::lower
