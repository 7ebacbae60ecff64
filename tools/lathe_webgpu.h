// Models as shaders on the command line.
#pragma once

#include "lathe.h"
#include "lathe/compile/target.h"
#include "lathe/graph/graph.h"

namespace lathe::tool {

// The target of --target. Errors: flags that it does not have.
Outcome<const compile::Target*> target_of(const Arguments& arguments);

// Writes the loader, the shaders and the weights, where there is -o, and prints times and sizes.
// `options.contents`: of the states.
Outcome<void> compile_shaders(const Arguments& arguments, graph::Program program,
                              const compile::Options& options);

}  // namespace lathe::tool
