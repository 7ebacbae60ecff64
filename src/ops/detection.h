// What detectors of objects end with.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// The boxes that are kept of each batch and class, the best scores first: a box goes where a kept
// one overlaps it by more than the threshold (intersection over union).
struct KeptBoxes {
  Tensor box;    // I32 [b, c, most]
  Tensor valid;  // bool [b, c, most]: whether there was one
};
// Boxes are F32 [b, n, 4]: two corners (y, x) each; scores F32 [b, c, n]; scores up to
// `least_score` are left out, where it is valid. The thresholds have no axes.
KeptBoxes suppress_overlaps(Tensor boxes, Tensor scores, int64_t most, Tensor overlap,
                            Tensor least_score);

}  // namespace lathe::ops
