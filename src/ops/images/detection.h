// What detectors of objects end with.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// The boxes selected for each batch and class, the best scores first: a box is suppressed where a
// selected one overlaps it by more than the threshold (intersection over union).
struct SelectedBoxes {
  Tensor box;    // I32 [b, c, max_boxes]
  Tensor valid;  // bool [b, c, max_boxes]: whether there was one
};
// Boxes are F32 [b, n, 4]: two corners (y, x) each; scores F32 [b, c, n]; scores up to
// `least_score` are left out, where it is valid. The thresholds have no axes.
SelectedBoxes non_max_suppression(Tensor boxes, Tensor scores, int64_t max_boxes, Tensor overlap,
                                  Tensor least_score);

}  // namespace lathe::ops
