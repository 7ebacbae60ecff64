// Checks the invariants of loop programs that passes and targets rely on.
#pragma once

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// The error names the entry, the kernel and the broken rule:
// - Every reference resolves; names are unique among buffers, entries, states, ports of an entry,
//   kernels of an entry, registers of a kernel and loops inside each other.
// - Expressions come after their operands, each distinct one once; dtypes are those of the scalar
//   operations, in types of arithmetic, and of the buffers loaded and stored. float16 and
//   bfloat16 do not occur: they are lowered to u16. Where the target `has_f16`, float16 does: it is
//   stored, and is a type of arithmetic of operations that no target expands, which round each.
// - A variable is used inside its loop only. Only Serial and Parallel loops are outlined.
// - Every address stays inside its buffer, as range_of() (bounds.h) sees it under the guards of the
//   load and of all enclosing Ifs. A guarded access that range_of cannot bound is rejected.
// - Input and Constant buffers are not stored to; a Constant has all its data.
// - Grid loops are outermost, then come Group loops; each is the only statement around it.
// - Barriers and Workgroup buffers are used inside a Group loop; no If encloses a barrier. Other
//   barriers separate the tasks of a kernel.
// - Subgroup loops are inside Group loops, in no If, When or Vector loop, and have at most as many
//   iterations as there may be subgroups. They contain only Stores: to registers, or of reductions
//   and constants to Workgroup buffers, at addresses that differ from subgroup to subgroup and not
//   from thread to thread. A Reduce is in no other statement, and in no other Reduce.
// - Parallel loops are outermost or the only statement of another; only the innermost has a grain
//   above 1. Their iterations are independent (parallel.h). No register is used by two tasks.
// - Register addresses depend on Unroll and Vector variables only; lanes are contiguous from a
//   multiple of their number on, or are read one from each of as many such vectors. All Vector
//   loops that address a register have the same number of lanes.
// - A register that an outlined loop or a task uses is used nowhere else, and stored there before
//   it is loaded.
// - Vector loops have 2, 4, 8 or 16 iterations and contain only Stores, whose address moves with
//   the lane, and Unroll loops; no lane accesses what another lane of the same loop stores.
Status verify(const Module& module, bool has_f16 = false);

}  // namespace lathe::loop
