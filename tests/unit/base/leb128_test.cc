#include "lathe/base/leb128.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(Leb128, UnsignedExamples) {
  Bytes bytes;
  append_uleb128(bytes, 624485);
  EXPECT_EQ(bytes, (Bytes{0xe5, 0x8e, 0x26}));
}

TEST(Leb128, SignedExamples) {
  Bytes bytes;
  append_sleb128(bytes, -123456);
  append_sleb128(bytes, 64);
  EXPECT_EQ(bytes, (Bytes{0xc0, 0xbb, 0x78, 0xc0, 0x00}));
}

}  // namespace
}  // namespace lathe
