// Vectors of a processor: how many lanes Vector loops have, and loops of static extent that are
// divided into them.
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/lower/segments.h"

namespace lathe::lower::cpu {

inline constexpr int64_t kLanes = 4;  // of 32 bits in a vector of 128

// The fewest steps of full vectors, up to `width` (a multiple of the lanes) each. Where the
// extent, at least one vector, is no multiple of the lanes, the last step has a shift.
std::vector<Segment> split_vectors(int64_t extent, int64_t width);

// Steps of `width` (a multiple of the lanes), then of the lanes. What is left over is either a last
// step of the lanes that overlaps the one before (`overlap`, where storing a value twice does no
// harm) or a narrow scalar step.
std::vector<Segment> split_lanes(int64_t extent, int64_t width, bool overlap);

inline bool is_vector(const Segment& segment) { return segment.width % kLanes == 0; }

inline LaneLoops lane_loops(loop::Kernel& kernel, int64_t width, bool interleaved = false) {
  return vector_loops(kernel, width, kLanes, interleaved);
}

}  // namespace lathe::lower::cpu
