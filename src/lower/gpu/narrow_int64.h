// 64-bit integers for devices that have none: they become i32 and u32, and ports keep their types
// for the runtime, which checks what it writes.
#pragma once

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::lower::gpu {

// Before: any graph before opt/widen_types, which sorts 64 bits by their halves. After: no type of
// 64 bits. The least and the greatest number of the long type stand for "no bound" and become those
// of the short one. Errors: another constant beyond the short type; shifts of 64 bits; f64.
Status narrow_int64(graph::Graph& graph);

}  // namespace lathe::lower::gpu
