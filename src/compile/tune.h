// Input of an autotuner: candidate schedules of a contraction, and the contraction as a standalone
// program. Nothing is measured here.
#pragma once

#include <string>
#include <vector>

#include "lathe/compile/compile.h"

namespace lathe::compile {

// Schedules worth trying instead of the default, the best estimate first, without duplicates.
std::vector<lower::cpu::Schedule> candidates(const lower::cpu::ContractionShape& shape);

// A module with the entry `run`: the contraction on inputs `x` and `y`, with no epilogue, and with
// only some of its rows where all would be slow. Its output is
// `z`, or where the shape accumulates it adds to the state `z`. Error: the shape does not determine
// how the operands are read, so the module would measure something else.
Result<Executable> compile_kernel(const lower::cpu::ScheduledContraction& contraction,
                                  const lower::cpu::Schedule& schedule, const Features& features);

}  // namespace lathe::compile
