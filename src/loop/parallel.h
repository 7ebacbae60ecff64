// Which loops of a kernel threads may share.
#pragma once

#include <span>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// Whether no iteration touches what another stores and no register carries a value into the next.
bool iterations_independent(const Kernel& kernel, const Stmt& loop);

// The Serial loops, outermost first, that lie around all of the statements and whose iterations are
// independent.
std::vector<VarId> parallel_nest(const Kernel& kernel, std::span<const Stmt> stmts);

// What lies inside the nest that is around all of the kernel.
const std::vector<Stmt>& body_inside(const Kernel& kernel, const std::vector<VarId>& nest);

}  // namespace lathe::loop
