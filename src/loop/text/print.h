// The textual form of loop programs. Parsing and printing it reproduces the same string.
#pragma once

#include <string>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// Invalid programs print too: unresolved references are printed as '?'.
std::string print(const Module& module);
std::string print(const Kernel& kernel, const Module& module);

}  // namespace lathe::loop
