// Which loops of a kernel threads may share.
#pragma once

#include <span>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// Whether no iteration touches what another stores and no register has a loop-carried value.
bool iterations_independent(const Kernel& kernel, const Stmt& loop);

// The Serial loops, outermost first, that enclose all of the statements and whose iterations are
// independent.
std::vector<VarId> parallel_nest(const Kernel& kernel, std::span<const Stmt> stmts);

// The statements inside the nest that encloses the entire kernel.
const std::vector<Stmt>& body_inside(const Kernel& kernel, const std::vector<VarId>& nest);

}  // namespace lathe::loop
