// Copies of a contraction's operand in the order in which register tiles read it: for each step of
// the tiled dimension one panel, the reduced dimensions outside, the step's elements inside.
#pragma once

#include <vector>

#include "lathe/lower/contraction.h"
#include "lathe/lower/segments.h"

namespace lathe::lower::cpu {

// Steps of a tiled dimension within blocks of it; the tiles begin at their block.
struct Block {
  Segment block;
  std::vector<Segment> tiles;
};
using Tiling = std::vector<Block>;

class QuantizedWeights;

class Panels {
 public:
  // Adds a kernel that fills them before the contraction's kernel; contractions that read the
  // operand in the same way share it. `dimension` is the tiled one, -1 where there is none; its
  // steps are `tiling`. `in_lanes`: they are read by `lanes`.
  Panels(Contraction& contraction, int operand, int dimension, const Tiling& tiling,
         bool in_lanes = false);

  // Loops over the elements of a tile, in any kernel. Two vectors of 16-bit elements are
  // interleaved, so that both come with one read.
  LaneLoops lanes(loop::Kernel& kernel, const Segment& tile) const;
  // The element at `offset` of a tile of `width` elements that starts at `start`, under the loops
  // of `index`.
  loop::ExprId at(const Index& index, const loop::Affine& start, int64_t width,
                  const loop::Affine& offset);

 private:
  loop::Affine address(const Index& index, const loop::Affine& start, int64_t width) const;
  void fill(const Tiling& tiling);
  std::vector<loop::Stmt> unpack_tile(const Segment& tile, const loop::Affine& block, Nest& nest,
                                      QuantizedWeights& weights);
  std::vector<loop::Stmt> fill_tile(const Segment& tile, const loop::Affine& block, Nest& nest);

  Contraction& contraction_;
  int operand_, dimension_;
  bool interleaved_;
  std::vector<int> outer_;  // spatial dimensions that the operand depends on, except the tiled one
  int64_t length_ = 1, depth_ = 1;  // of the padded dimension; of a panel
  loop::BufferRef buffer_;
};

}  // namespace lathe::lower::cpu
