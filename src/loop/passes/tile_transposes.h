// Copies across rows go through squares of registers.
// Before: collapsed loops. After: a nest of independent loops that only stores, contiguous along
// its innermost loop j, and loads something across j but contiguous along another loop i, runs in
// squares of as many rows as lanes: rows are loaded along i and read along j, a lane from each.
// What is left at the edges stays one element at a time. It runs before vectorize_loops.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

// With 4 lanes
//   for i { for j { y[n*i + j] = x[i + m*j] } }   becomes
//   for i.block { for j.block { for i.square { for j.square unroll {
//     for r in 4 unroll { for v in 4 vector { square[4*r + v] = x[… + v + m*(… + r)] } }
//     for r in 4 unroll { for v in 4 vector { y[n*(… + r) + … + v] = square[4*v + r] } } }}}}
void tile_transposes(Kernel& kernel, int64_t lanes);

}  // namespace lathe::loop
