// Lets the threads of a group share what they load for a product.
// Before: collapsed loops. After: a kernel whose two innermost parallel loops i and j lie around
// one serial loop k, with loads that move with i and k only and others that move with k and j only,
// runs in square groups; each loads a tile of both operands into Workgroup memory for a stretch of
// k, waits, and folds from there. Others stay as they are. It runs before bind_grid.
#pragma once

#include "loop/loop.h"

namespace lathe::loop {

//   for i { for j { sum = 0; for k { sum += a[i, k] * b[k, j] }; c[i, j] = sum } }   becomes
//   for i.tile grid { for j.tile grid { for i.thread in 8 group { for j.thread in 8 group {
//     sum = 0
//     for k.tile { fill both tiles; barrier; for k.step in 8 { … }; barrier }
//     c[8*i.tile + i.thread, …] = sum } } } }
void tile_products(Kernel& kernel);

}  // namespace lathe::loop
