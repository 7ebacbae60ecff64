// What a tuner measures: which schedules to try for a contraction, and the contraction as a program
// of its own. It measures nothing itself.
#pragma once

#include <string>
#include <vector>

#include "lathe/compile/compile.h"

namespace lathe::compile {

// Schedules worth trying instead of the default, the most promising first, no two alike.
std::vector<lower::cpu::Schedule> candidates(const lower::cpu::ContractionShape& shape);

// A module with the entry `run`: the contraction on inputs `x` and `y`, with no epilogue, and with
// some of its rows only where all would take long. It gives
// `z`, or where the shape is in place adds to the state `z`. Error: the shape alone does not say
// how the operands are read, so the module would measure something else.
Result<Executable> compile_kernel(const lower::cpu::ScheduledContraction& contraction,
                                  const lower::cpu::Schedule& schedule, const Features& features);

}  // namespace lathe::compile
