// The readable text of loop programs. Parsing it and printing again gives the same text.
#pragma once

#include <string>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// Broken programs print too: what does not resolve is spelled '?'.
std::string print(const Module& module);
std::string print(const Kernel& kernel, const Module& module);

}  // namespace lathe::loop
