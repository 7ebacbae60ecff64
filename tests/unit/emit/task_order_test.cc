#include "lathe/emit/wasm/task_order.h"

#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/parse.h"

namespace lathe::emit_wasm {
namespace {

constexpr std::string_view kRowsFirst =
    "for r in 64 parallel { for c in 64 { a[64*r + c] = x[64*r + c] } }\n";
constexpr std::string_view kColumnsFirst =
    "for c in 64 parallel { for r in 64 { a[64*r + c] = x[64*r + c] } }\n";

// Panels of columns outside, tiles of rows inside, as products are lowered: y = a · w.
std::string product(int64_t columns, int64_t panel) {
  return concat("for j in ", columns / panel,
                " parallel { for i in 64 parallel { for k in 64 { for v in ", panel, " { y[", panel,
                "*j + ", columns, "*i + v] = mul(a[64*i + k], w[", 64 * panel, "*j + ", panel,
                "*k + v]) } } } }\n");
}

// The loops that TaskOrder picks for the nests of two kernels that follow each other.
std::vector<size_t> slowest(std::string_view first, std::string_view second, int64_t columns) {
  const std::string text = concat(
      "buffer x : f32[4096] input\nbuffer a : f32[4096] temporary\nbuffer y : f32[", 64 * columns,
      "] output\nbuffer w : f32[", 64 * columns, "] constant {1.0}\nentry e {\nkernel one {\n",
      first, "}\nkernel two {\n", second, "}\n}\n");
  const Result<loop::Module> module = loop::parse(text);
  EXPECT_TRUE(module) << module.error().message;
  if (!module) return {};
  TaskOrder order(*module);
  std::vector<size_t> found;
  for (const loop::Kernel& kernel : module->entries[0].kernels) {
    std::vector<const loop::Stmt*> nest = {&kernel.body[0]};
    while (nest.back()->body[0].loop == loop::LoopKind::Parallel)
      nest.push_back(&nest.back()->body[0]);
    found.push_back(order.slowest(kernel, nest));
  }
  return found;
}

TEST(TaskOrderTest, FollowsTheRowsThatAThreadWrote) {
  EXPECT_EQ(slowest(kRowsFirst, product(64, 8), 64), (std::vector<size_t>{0, 1}));
}

TEST(TaskOrderTest, SharesLargeConstants) {
  EXPECT_EQ(slowest(kRowsFirst, product(1024, 8), 1024), (std::vector<size_t>{0, 0}));
}

TEST(TaskOrderTest, PrefersTheThreadThatStoredTheRows) {
  EXPECT_EQ(slowest(kRowsFirst, product(192, 8), 192), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(slowest(kColumnsFirst, product(192, 8), 192), (std::vector<size_t>{0, 0}));
}

TEST(TaskOrderTest, LetsNoTwoThreadsWriteToOneLine) {
  EXPECT_EQ(slowest(kColumnsFirst, product(16, 8), 16), (std::vector<size_t>{0, 1}));
}

}  // namespace
}  // namespace lathe::emit_wasm
