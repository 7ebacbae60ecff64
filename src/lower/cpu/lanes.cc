#include "lathe/lower/cpu/lanes.h"

#include <algorithm>

namespace lathe::lower::cpu {

std::vector<Segment> split_vectors(int64_t extent, int64_t width) {
  std::vector<Segment> segments =
      split_evenly((extent + kLanes - 1) / kLanes, std::max<int64_t>(width / kLanes, 1));
  for (Segment& segment : segments) {
    segment.begin *= kLanes;
    segment.width *= kLanes;
  }
  const int64_t shift = (kLanes - extent % kLanes) % kLanes;
  if (shift == 0) return segments;
  Segment last = segments.back();
  if (--segments.back().count == 0) segments.pop_back();
  last.begin += (last.count - 1) * last.width;
  last.count = 1;
  last.shift = shift;
  segments.push_back(last);
  return segments;
}

std::vector<Segment> split_lanes(int64_t extent, int64_t width, bool overlap) {
  std::vector<Segment> segments;
  int64_t done = extent / width * width;
  if (done > 0) segments.push_back({0, done / width, width});
  if (const int64_t vectors = (extent - done) / kLanes; vectors > 0) {
    segments.push_back({done, 1, vectors * kLanes});
    done += vectors * kLanes;
  }
  if (done == extent) return segments;
  if (overlap && extent >= kLanes) {
    segments.push_back({extent - kLanes, 1, kLanes});
  } else {
    segments.push_back({done, 1, extent - done});
  }
  return segments;
}

}  // namespace lathe::lower::cpu
