// Copies of constants run while compiling: guards, steps and nests as the interpreter runs them;
// what is no such copy stays.
#include "lathe/loop/passes/fold_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/parse.h"

namespace lathe::loop {
namespace {

Module parsed(std::string_view text) {
  auto module = parse(text);
  EXPECT_TRUE(module) << module.error().message;
  return module ? *std::move(module) : Module{};
}

std::vector<float> result(const Module& module, int32_t buffer) {
  Memory memory(module);
  EXPECT_TRUE(run(module, "e", memory));
  const auto view = memory.view<float>(buffer);
  return {view.begin(), view.end()};
}

TEST(FoldCopies, RunsThemOnce) {
  Module module = parsed(R"(
    buffer c : f32[6] constant {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
    buffer t : f32[8] temporary
    buffer y : f32[8] output
    entry e {
      output "y" [8] y
      kernel copy {
        for i in 2 {
          for j in 2 { t[4*i + j] = c[3*j + i] }
          for u in 2 unroll { t[4*i + u + 2] = c[3*i + 2*u - 1 if 0 <= i + u - 1 < 1] }
        }
      }
      kernel use { for i in 8 { y[i] = add(t[i], 1.0) } }
    })");
  const std::vector<float> expected = result(module, 2);
  fold_copies(module);
  const Status sound = verify(module);
  ASSERT_TRUE(sound) << sound.error().message;
  ASSERT_EQ(module.entries[0].kernels.size(), 1u);
  EXPECT_EQ(module.entries[0].kernels[0].name, "use");
  EXPECT_EQ(module.buffers[0].size, 0) << "nothing reads it any more";
  EXPECT_EQ(module.buffers[1].role, BufferRole::Constant);
  EXPECT_EQ(result(module, 2), expected);
}

// Runs of every length and stride: full rows, single elements, transposed nests.
TEST(FoldCopies, CopiesNestsOfEveryOrder) {
  int orders[] = {0, 1, 2};
  do {
    for (const auto& [type, value] : {std::pair{"f32", ".5"}, {"i32", ""}}) {
      for (const int width : {1, 4, 7, 70}) {
        const int extents[] = {3, 5, width};
        int steps[3];
        for (int k = 2, step = 1; k >= 0; step *= extents[orders[k--]]) steps[orders[k]] = step;
        std::string values;
        for (int i = 0; i < 15 * width; ++i) append(values, i == 0 ? "" : ", ", i, value);
        Module module = parsed(concat(
            "buffer c : ", type, "[", 15 * width, "] constant {", values, "}\nbuffer t : ", type,
            "[", 15 * width, "] temporary\nbuffer y : ", type, "[", 15 * width,
            "] output\nentry e { output \"y\" [", 15 * width,
            "] y kernel copy { for i in 3 { for j in 5 { for k in ", width, " { t[", 5 * width,
            "*i + ", width, "*j + k] = c[", steps[0], "*i + ", steps[1], "*j + ", steps[2],
            "*k] } } } } kernel use { for i in ", 15 * width, " { y[i] = t[i] } } }"));
        const std::vector<float> expected = result(module, 2);
        fold_copies(module);
        EXPECT_EQ(module.buffers[1].role, BufferRole::Constant);
        EXPECT_EQ(result(module, 2), expected);
      }
    }
  } while (std::next_permutation(std::begin(orders), std::end(orders)));
}

TEST(FoldCopies, LeavesWhatIsNoCopyOfConstants) {
  const std::string_view bodies[] = {
      "kernel k { for i in 4 { t[i] = neg(c[i]) } }",
      "kernel k { for i in 4 { t[i] = x[i] } }",
      "kernel k { for i in 4 { y[i] = c[i] } }",
      "kernel k { for i in 4 { t[i] = c[i] } } kernel l { t[0] = x[1] }",
      "kernel k { for i in 4 { if 0 <= i - 1 < 2 { t[i] = c[i] } } }",
      "kernel k { for i in 4 { t[i] = c[0 plus 1 * index(3 - i) < 4] } }",
  };
  for (const std::string_view body : bodies) {
    Module module = parsed(std::string(R"(
      buffer c : f32[4] constant {1.0, 2.0, 3.0, 4.0}
      buffer x : f32[4] input
      buffer t : f32[4] temporary
      buffer y : f32[4] output
      entry e {
        input "x" [4] x
        output "y" [4] y
        )") + std::string(body) +
                           "}");
    const size_t kernels = module.entries[0].kernels.size();
    fold_copies(module);
    EXPECT_EQ(module.entries[0].kernels.size(), kernels) << body;
    EXPECT_EQ(module.buffers[2].role, BufferRole::Temporary) << body;
  }
}

}  // namespace
}  // namespace lathe::loop
