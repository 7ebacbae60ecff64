#include "lathe/loop/analysis/interpret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/parse.h"

namespace lathe::loop {
namespace {

Module checked(std::string_view text, bool has_f16 = false) {
  auto module = parse(text);
  EXPECT_TRUE(module) << module.error().message;
  if (!module) return {};
  const auto verified = verify(*module, has_f16);
  EXPECT_TRUE(verified) << verified.error().message;
  return *std::move(module);
}

std::vector<float> floats(Memory& memory, int32_t buffer) {
  const auto view = memory.view<float>(buffer);
  return {view.begin(), view.end()};
}

TEST(Interpret, MatrixProductInRegisters) {
  const Module module = checked(R"(
    buffer a : f32[6] input
    buffer b : f32[24] input
    buffer c : f32[16] output
    entry product {
      kernel k {
        register acc : f32[8]
        for i in 2 outlined {
          for u in 2 unroll { for v in 4 vector { acc[4*u + v] = 0.0 } }
          for k in 3 {
            for u in 2 unroll {
              for v in 4 vector {
                acc[4*u + v] = mul_add(a[3*i + k], b[8*k + 4*u + v], acc[4*u + v])
              }
            }
          }
          for u in 2 unroll { for v in 4 vector { c[8*i + 4*u + v] = acc[4*u + v] } }
        }
      }
    })");
  Memory memory(module);
  const auto a = memory.view<float>(0), b = memory.view<float>(1);
  for (int i = 0; i < 6; ++i) a[i] = static_cast<float>(i);
  for (int i = 0; i < 24; ++i) b[i] = static_cast<float>(i % 5);
  ASSERT_TRUE(run(module, "product", memory));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 8; ++j) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += a[3 * i + k] * b[8 * k + j];
      EXPECT_EQ(memory.view<float>(2)[8 * i + j], sum);
    }
  }
}

TEST(Interpret, ReductionsFoldInOrder) {
  const Module module = checked(R"(
    buffer x : f32[4] constant {3.0, -1.0, 7.5, 2.0}
    buffer sum : f32[1] state
    buffer best : i32[1] output
    entry e {
      kernel k rereads sum, best {
        best[0] = 0
        for i in 4 {
          sum[0] = add(sum[0], x[i])
          best[0] = select(gt(x[i], 7.0), index(i), best[0])
        }
      }
    })");
  Memory memory(module);
  ASSERT_TRUE(run(module, "e", memory));
  ASSERT_TRUE(run(module, "e", memory));
  EXPECT_EQ(memory.view<float>(1)[0], 23.0f);
  EXPECT_EQ(memory.view<int32_t>(2)[0], 2);
}

TEST(Interpret, GuardedLoadsAreZeroAndStoresAreSkipped) {
  const Module module = checked(R"(
    buffer x : f32[3] constant {1.0, 2.0, 3.0}
    buffer y : f32[5] output
    buffer z : f32[5] output
    entry e {
      kernel k {
        for i in 5 {
          y[i] = x[i - 1 if 0 <= i - 1 < 3]
          if 0 <= i - 2 < 2 { z[i] = 9.0 }
        }
      }
    })");
  Memory memory(module);
  ASSERT_TRUE(run(module, "e", memory));
  EXPECT_EQ(floats(memory, 1), (std::vector<float>{0, 1, 2, 3, 0}));
  EXPECT_EQ(floats(memory, 2), (std::vector<float>{0, 0, 9, 9, 0}));
}

TEST(Interpret, ConditionsAreComputedBeforeWhatTheyGuard) {
  const Module module = checked(R"(
    buffer x : f32[5] constant {1.0, 5.0, 2.0, 7.0, 6.0}
    buffer best : f32[1] output
    buffer location : i32[1] output
    entry e {
      kernel k rereads best {
        best[0] = x[0]
        for i in 5 {
          when lt(best[0], x[i]) {
            best[0] = x[i]
            location[0] = index(i)
          }
        }
      }
    })");
  Memory memory(module);
  ASSERT_TRUE(run(module, "e", memory));
  EXPECT_EQ(memory.view<float>(1)[0], 7.0f);
  EXPECT_EQ(memory.view<int32_t>(2)[0], 3);
}

TEST(Interpret, TemporariesStartSpoiled) {
  const Module module = checked(R"(
    buffer t : f32[2] temporary
    buffer y : f32[2] output
    entry e {
      kernel k rereads t {
        t[0] = 1.0
        for i in 2 { y[i] = t[i] }
      }
    })");
  Memory memory(module);
  ASSERT_TRUE(run(module, "e", memory));
  EXPECT_EQ(memory.view<float>(1)[0], 1.0f);
  EXPECT_TRUE(std::isnan(memory.view<float>(1)[1]));
}

TEST(Interpret, NamesWhatGoesWrong) {
  const auto module = parse(R"(
    buffer x : f32[3] input
    buffer y : f32[9] output
    entry e { kernel k { for i in 5 { y[i] = x[i] } } })");
  ASSERT_TRUE(module);
  Memory memory(*module);
  EXPECT_EQ(run(*module, "e", memory).error().message, "kernel k: load from x[3] outside f32[3]");
  EXPECT_EQ(run(*module, "f", memory).error().message, "the module has no entry f");
}

TEST(Interpret, HalvesRoundAfterEachOperation) {
  const Module module = checked(R"(
    buffer x : f16[2] input
    buffer y : f16[1] output
    buffer z : f32[1] output
    buffer b : bool[1] output
    entry e { kernel k {
      y[0] = sub(add(x[0], x[1]), x[0])
      z[0] = sub(add(cast<f32>(x[0]), cast<f32>(x[1])), cast<f32>(x[0]))
      b[0] = eq(add(x[0], x[1]), x[0])
    } })",
                                /*has_f16=*/true);
  Memory memory(module);
  const auto x = memory.view<scalar::Half>(0);
  x[0] = scalar::half_of(2048);
  x[1] = scalar::half_of(1);
  ASSERT_TRUE(run(module, "e", memory));
  EXPECT_EQ(scalar::value_of(memory.view<scalar::Half>(1)[0]), 0);
  EXPECT_EQ(floats(memory, 2)[0], 1);
  EXPECT_TRUE(memory.view<bool>(3)[0]);
}

}  // namespace
}  // namespace lathe::loop
