// Random programs through the entire compiler: graphs against the graph evaluator, loop modules
// straight into the emitter.
#pragma once

#include <cstdint>

#include "harness.h"

namespace lathe::ops_tests {

Status run_random_graph(uint32_t seed, Manifest& manifest);
Status run_random_module(uint32_t seed, Manifest& manifest);
// The same over all element types.
Status run_typed_module(uint32_t seed, Manifest& manifest);

}  // namespace lathe::ops_tests
