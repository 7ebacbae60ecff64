// Which loops of a kernel threads may share.
#pragma once

#include <vector>

#include "loop/loop.h"

namespace lathe::loop {

// The Serial loops, outermost first, that lie around all of the kernel and whose iterations are
// independent: none touches what another stores, no register carries a value into the next.
std::vector<VarId> parallel_nest(const Kernel& kernel);

// What lies inside the nest.
const std::vector<Stmt>& body_inside(const Kernel& kernel, const std::vector<VarId>& nest);

}  // namespace lathe::loop
