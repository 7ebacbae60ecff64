// How much there is to do: a guess that decides whether threads are worth their cost, made from
// the kernel and not from any machine.
#pragma once

#include <span>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// About how many nanoseconds one thread needs on a current CPU with lanes.
double work_of(const Kernel& kernel, std::span<const Stmt> stmts);
double work_of(const Entry& entry);

}  // namespace lathe::loop
