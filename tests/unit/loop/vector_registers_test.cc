#include "lathe/loop/analysis/vector_registers.h"

#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/loop/text/parse.h"

namespace lathe::loop::vector_registers_test {
namespace {

// For registers `a` and `b` of eight elements each.
std::vector<int64_t> registers_of(std::string_view body) {
  const auto module =
      parse(concat("buffer x : f32[16] input\nbuffer y : f32[16] output\nentry e {\nkernel k {\n"
                   "register a : f32[8]\nregister b : f32[8]\n",
                   body, "\n}\n}\n"));
  EXPECT_TRUE(module) << module.error().message;
  return module ? vector_registers(module->entries[0].kernels[0]) : std::vector<int64_t>();
}

using Registers = std::vector<int64_t>;

TEST(VectorRegisters, AreAddressedByALane) {
  EXPECT_EQ(registers_of("for v in 4 vector { a[v] = x[v] }\ny[0] = add(a[1], b[1])"),
            (Registers{4, 0}));
  EXPECT_EQ(registers_of("for u in 2 unroll { for v in 4 vector { b[4*u + v] = x[v] } }"),
            (Registers{0, 4}));
  EXPECT_EQ(registers_of("for v in 2 vector { a[v] = x[v] }\nfor w in 8 vector { b[w] = x[w] }"),
            (Registers{2, 8}));
}

TEST(VectorRegisters, AreLoadedByALane) {
  EXPECT_EQ(
      registers_of("for u in 8 unroll { a[u] = x[u] }\nfor v in 4 vector { y[v] = a[v + 1] }"),
      (Registers{4, 0}));
}

TEST(VectorRegisters, OfOtherLoopsAreScalars) {
  EXPECT_EQ(registers_of("for u in 8 unroll { a[u] = x[u] }\nfor v in 4 vector { y[v] = a[3] }\n"
                         "for u1 in 4 unroll { b[u1] = 0.0 }"),
            (Registers{0, 0}));
}

TEST(VectorRegisters, AreNotBuffersOfOtherSpaces) {
  EXPECT_EQ(registers_of("for v in 4 vector { y[v] = x[v] }"), (Registers{0, 0}));
}

}  // namespace
}  // namespace lathe::loop::vector_registers_test
