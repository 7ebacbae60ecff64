#include "lathe/lower/gpu/narrow_int64.h"

#include "gtest/gtest.h"
#include "lathe/graph/parse.h"
#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"

namespace lathe::lower::gpu {
namespace {

std::string narrowed(std::string_view text) {
  auto graph = graph::parse(text);
  if (!graph) return graph.error().message;
  if (const Status status = narrow_int64(*graph); !status) return status.error().message;
  const Status sound = graph::verify(*graph);
  return sound ? graph::print(*graph) : sound.error().message;
}

TEST(NarrowInt64, ChangesTypesAndConstantsAndDropsCasts) {
  EXPECT_EQ(narrowed(R"(graph "t" {
  %0 = input "x" : i64[2]
  %1 = constant [-9223372036854775808, 9223372036854775807] : i64[2]
  %2 = map max %0 %1 : i64[2]
  %3 = cast %2 : i32[2]
  %4 = cast %2 : u64[2]
  output "y" %3
  output "z" %4
}
)"),
            R"(graph "t" {
  %0 = input "x" : i32[2]
  %1 = constant [-2147483648, 2147483647] : i32[2]
  %2 = map max %0 %1 : i32[2]
  %3 = reshape %2 : i32[2]
  %4 = cast %2 : u32[2]
  output "y" %3
  output "z" %4
}
)");
}

TEST(NarrowInt64, NamesWhatNeeds64Bits) {
  EXPECT_EQ(narrowed(R"(graph "t" {
  %0 = input "x" : i64[1]
  %1 = constant [4294967296] : i64[1]
  %2 = map mul %0 %1 : i64[1]
  output "y" %2
}
)"),
            "the constant 4294967296 needs i64, which shaders do not have");
  EXPECT_EQ(narrowed(R"(graph "t" {
  %0 = input "x" : i64[1]
  %1 = map shift_left %0 %0 : i64[1]
  output "y" %1
}
)"),
            "shift_left of i64, which shaders do not have; cast it to i32");
  EXPECT_EQ(narrowed(R"(graph "t" {
  %0 = input "x" : f32[1]
  %1 = cast %0 : f64[1]
  output "y" %1
}
)"),
            "shaders have no f64, the type of a cast; cast it to f32");
}

}  // namespace
}  // namespace lathe::lower::gpu
