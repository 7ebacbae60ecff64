#include "lathe/lower/segments.h"

#include <gtest/gtest.h>

#include "lathe/lower/cpu/lanes.h"

namespace lathe::lower {
namespace {

using cpu::is_vector;
using cpu::split_lanes;

// How often each element is visited.
std::vector<int> visits(const std::vector<Segment>& segments, int64_t extent) {
  std::vector<int> count(static_cast<size_t>(extent));
  for (const Segment& segment : segments) {
    for (int64_t i = 0; i < segment.count * segment.width; ++i) {
      ++count.at(static_cast<size_t>(segment.begin + i));
    }
  }
  return count;
}

TEST(Segments, CoverExactly) {
  for (int64_t extent = 0; extent < 80; ++extent) {
    const std::vector<int> once(static_cast<size_t>(extent), 1);
    for (const int64_t width : {1, 3, 4, 8, 32}) {
      EXPECT_EQ(visits(split(extent, width), extent), once) << extent << ' ' << width;
    }
    for (const int64_t width : {4, 8, 16, 32}) {
      EXPECT_EQ(visits(split_lanes(extent, width, false), extent), once) << extent << ' ' << width;
    }
  }
}

TEST(Segments, OverlapAvoidsPartialVectors) {
  for (int64_t extent = 4; extent < 80; ++extent) {
    const auto segments = split_lanes(extent, 8, true);
    for (const Segment& segment : segments) EXPECT_TRUE(is_vector(segment)) << extent;
    for (int count : visits(segments, extent)) {
      EXPECT_GE(count, 1);
      EXPECT_LE(count, 2);
    }
  }
  EXPECT_FALSE(is_vector(split_lanes(3, 8, true)[0]));
}

TEST(Segments, FullStepsComeFirst) {
  const auto segments = split_lanes(45, 16, false);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].count * segments[0].width, 32);
  EXPECT_EQ(segments[1].width, 12);
  EXPECT_EQ(segments[2].width, 1);
}

}  // namespace
}  // namespace lathe::lower
