#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/passes/expand_transcendentals.h"
#include "lathe/loop/passes/hoist_guards.h"
#include "lathe/loop/passes/split_guards.h"
#include "lathe/loop/passes/substitute.h"
#include "lathe/loop/passes/tile_transposes.h"
#include "lathe/loop/passes/vectorize_loops.h"
#include "lathe/loop/text/parse.h"
#include "lathe/loop/text/print.h"
#include "lathe/scalar/op.h"
#include "random_module.h"

namespace lathe::loop {
namespace {

constexpr uint32_t kSeeds = 300;
constexpr int64_t kWidths[] = {2, 4, 8, 16};  // of Vector loops

using Pass = std::function<void(Kernel&)>;

void apply(const Pass& pass, Module& module) {
  for (Entry& entry : module.entries) {
    for (Kernel& kernel : entry.kernels) pass(kernel);
  }
}

// The values after the pass are the values before, and a second run changes nothing.
void expect_preserved(const Pass& pass, int64_t lanes = 4) {
  int changed = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Module before = random_module(seed, Types::All, lanes);
    Module after = before;
    apply(pass, after);
    const std::string text = print(after);
    const auto verified = verify(after);
    ASSERT_TRUE(verified) << verified.error().message << '\n' << print(before) << text;
    ASSERT_EQ(outcome(after, seed), outcome(before, seed)) << print(before) << text;
    changed += text != print(before);
    apply(pass, after);
    EXPECT_EQ(print(after), text);
  }
  // Few loops of random modules have 16 iterations.
  EXPECT_GT(changed, lanes < 16 ? static_cast<int>(kSeeds / 10) : 0);
}

TEST(Passes, CollapseLoopsPreservesValues) { expect_preserved(collapse_loops); }

auto vectorize(int64_t lanes) {
  return [lanes](Kernel& kernel) { vectorize_loops(kernel, lanes); };
}

TEST(Passes, VectorizeLoopsPreservesValues) {
  for (const int64_t lanes : kWidths) expect_preserved(vectorize(lanes), lanes);
}

// Sums of guarded loads in tiles of two lanes to eight, over windows inside and outside.
TEST(Passes, HoistGuardsPreservesValues) {
  int hoisted = 0;
  for (const int lanes : {2, 4, 8}) {
    for (const int before : {0, 1, 7, 40}) {
      const std::string text = concat(
          "buffer x : f32[96] input\nbuffer y : f32[96] output\nentry e {\n  kernel k {\n"
          "    register sums : f32[8]\n    for i in 12 {\n      for u in ",
          lanes,
          " unroll {\n"
          "        sums[u] = 0.5\n      }\n      for k in 3 {\n        for u1 in ",
          lanes, " unroll {\n          sums[u1] = add(sums[u1], x[", lanes, "*i + ", lanes,
          "*k + u1 - ", before * lanes, " if 0 <= i + k - ", before,
          " < 12])\n        }\n      }\n"
          "      for u2 in ",
          lanes, " unroll {\n        y[", lanes,
          "*i + u2] = sums[u2]\n"
          "      }\n    }\n  }\n}\n");
      const auto before_pass = parse(text);
      ASSERT_TRUE(before_pass) << before_pass.error().message << text;
      Module after = *before_pass;
      apply(hoist_guards, after);
      ASSERT_TRUE(verify(after)) << print(after);
      ASSERT_EQ(outcome(after, 1), outcome(*before_pass, 1)) << print(after);
      hoisted += print(after).find("if 0 <= i") < print(after).find("for u1");
    }
  }
  EXPECT_EQ(hoisted, 12);
}

// Guards on one side, both sides, all or nothing of a loop; two of them on one loop.
TEST(Passes, SplitGuardsPreservesValues) {
  int split = 0;
  for (const auto offset : {"- 9", "- 3", "- 1", "+ 1", "+ 4"}) {
    for (const int extent : {1, 3, 8, 20}) {
      const auto before = parse(concat(
          "buffer a : f32[800] input\nbuffer b : f32[240] state\nentry e {\n  kernel "
          "p {\n    for h in 3 { "
          "for i in 8 { for j in 10 { b[80*h + 10*i + j] = add(a[",
          "20*i + j + 200 if 0 <= i ", offset, " < ", extent, ", 0 <= j - 2 < 7], a[j if 0 <= h ",
          offset, " < ", extent, ", 0 <= j - 4 < 20]) } } }\n  }\n}\n"));
      ASSERT_TRUE(before) << before.error().message;
      Module after = *before;
      apply(split_guards, after);
      split += print(after) != print(*before);
      const auto verified = verify(after);
      ASSERT_TRUE(verified) << verified.error().message << print(after);
      EXPECT_EQ(outcome(after, 7), outcome(*before, 7)) << print(after);
    }
  }
  EXPECT_EQ(split, 5 * 4);
}

TEST(Passes, BindGridPreservesValues) {
  expect_preserved([](Kernel& kernel) { bind_grid(kernel); });
}

// Sizes around the edges of squares and blocks; one operand is read across, one along, one is a
// row.
void expect_tiled(int64_t lanes, int expected) {
  int tiled = 0;
  for (const int m : {3, 4, 7, 16, 21, 36}) {
    for (const int n : {2, 4, 9, 16, 20, 35}) {
      const auto before = parse(
          concat("buffer a : f32[", 2 * m * n, "] input\nbuffer b : f32[", 2 * m * n,
                 "] state\nbuffer c : i32[", m,
                 "] input\nentry e {\n  kernel p {\n    for o in 2 { for i in ", m, " { for j in ",
                 n, " { b[", m * n, "*o + ", n, "*i + j] = sub(a[", m * n, "*o + i + ", m,
                 "*j], mul(b[", m * n, "*o + ", n, "*i + j], cast<f32>(c[i]))) } } }\n  }\n}\n"));
      ASSERT_TRUE(before) << before.error().message;
      Module after = *before;
      apply([lanes](Kernel& kernel) { tile_transposes(kernel, lanes); }, after);
      tiled += !after.entries[0].kernels[0].registers.empty();
      const auto verified = verify(after);
      ASSERT_TRUE(verified) << verified.error().message << print(after);
      EXPECT_EQ(outcome(after, 7), outcome(*before, 7)) << print(after);
    }
  }
  EXPECT_EQ(tiled, expected) << lanes;
}

TEST(Passes, TileTransposesPreservesValues) {
  expect_tiled(2, 6 * 6);
  expect_tiled(4, 5 * 5);
  expect_tiled(8, 3 * 4);
  expect_tiled(16, 3 * 3);
}

TEST(Passes, CollapseThenVectorizePreservesValues) {
  expect_preserved([](Kernel& kernel) {
    collapse_loops(kernel);
    vectorize_loops(kernel, 4);
  });
}

TEST(Passes, ExpandTranscendentalsStaysClose) {
  auto module = parse(
      "buffer x : f32[2001] input\n"
      "buffer y : f32[8004] output\n"
      "entry e {\n"
      "  kernel k {\n"
      "    for i in 2001 {\n"
      "      y[i] = exp(x[i])\n"
      "      y[i + 2001] = log(add(x[i], 10.5))\n"
      "      y[i + 4002] = tanh(x[i])\n"
      "      y[i + 6003] = sigmoid(x[i])\n"
      "    }\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(module) << module.error().message;
  const auto values = [&module] {
    Memory memory(*module);
    for (int i = 0; i < 2001; ++i) memory.view<float>(0)[i] = static_cast<float>(i - 1000) / 100;
    EXPECT_TRUE(run(*module, "e", memory));
    const auto result = memory.view<float>(1);
    return std::vector<float>(result.begin(), result.end());
  };
  const std::vector<float> exact = values();
  apply(expand_transcendentals, *module);
  ASSERT_TRUE(verify(*module));
  for (const Expr& expr : module->entries[0].kernels[0].exprs) {
    EXPECT_FALSE(expr.kind == ExprKind::Apply && scalar::info(expr.op).expanded);
  }
  const std::vector<float> expanded_values = values();
  for (size_t i = 0; i < exact.size(); ++i) {
    ASSERT_NEAR(expanded_values[i], exact[i], 1e-6 * std::max(1.0f, std::fabs(exact[i]))) << i;
  }
}

TEST(Passes, ExpandTranscendentalsVerifies) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Module module = random_module(seed, Types::All);
    apply(expand_transcendentals, module);
    apply(vectorize(4), module);
    const auto verified = verify(module);
    ASSERT_TRUE(verified) << verified.error().message << print(module);
    const std::string text = print(module);
    apply(expand_transcendentals, module);
    EXPECT_EQ(print(module), text);
  }
}

// Executes Vector loops as lanes do: one statement for all lanes, in any order of lanes.
void spread_lanes(Kernel& kernel, std::vector<Stmt>& stmts) {
  std::vector<Stmt> result;
  for (Stmt& stmt : stmts) {
    if (stmt.kind == StmtKind::For && stmt.loop == LoopKind::Vector) {
      const Affine reversed =
          Affine::variable(stmt.var, -1) + Affine(kernel.vars[stmt.var].extent - 1);
      for (const Stmt& inner : substitute(kernel, stmt.body, stmt.var, reversed)) {
        result.push_back(for_loop(stmt.var, LoopKind::Serial, {inner}));
      }
    } else {
      spread_lanes(kernel, stmt.body);
      result.push_back(std::move(stmt));
    }
  }
  stmts = std::move(result);
}

TEST(Passes, VectorLoopsMayRunLanesInAnyOrder) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const int64_t lanes = kWidths[seed % 4];
    Module module = random_module(seed, Types::All, lanes);
    apply(vectorize(lanes), module);
    const auto expected = outcome(module, seed);
    const std::string text = print(module);
    apply([](Kernel& kernel) { spread_lanes(kernel, kernel.body); }, module);
    ASSERT_EQ(outcome(module, seed), expected) << text;
  }
}

TEST(Passes, CollapseLoopsMindsVariablesOfSeveralLoops) {
  auto module = parse(
      "buffer y : f32[24] output\n"
      "entry e {\n"
      "  kernel k {\n"
      "    for i in 3 {\n"
      "      for j in 4 {\n"
      "        y[4*i + j] = 1.0\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(module) << module.error().message;
  Kernel& kernel = module->entries[0].kernels[0];
  Stmt inner = kernel.body[0].body[0];
  inner.body[0].address += Affine(12);
  inner.body[0].address += Affine::variable(kernel.body[0].var, -4);
  kernel.body.push_back(inner);
  ASSERT_TRUE(verify(*module)) << print(*module);
  const auto before = outcome(*module, 0);
  collapse_loops(kernel);
  EXPECT_EQ(outcome(*module, 0), before) << print(*module);
}

TEST(Passes, VectorizeLoopsMindsStoresThatOverlap) {
  auto module = parse(
      "buffer y : f32[9] output\n"
      "entry e {\n"
      "  kernel k {\n"
      "    for i in 8 {\n"
      "      y[i] = 1.0\n"
      "      y[i + 1] = 2.0\n"
      "    }\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(module) << module.error().message;
  const std::string text = print(*module);
  apply(vectorize(4), *module);
  EXPECT_EQ(print(*module), text);
}

TEST(Passes, SubstituteClonesStatements) {
  auto module = parse(
      "buffer x : f32[40] input\n"
      "buffer y : f32[40] output\n"
      "entry e {\n"
      "  kernel k {\n"
      "    for i in 8 {\n"
      "      y[2*i + 1] = mul(cast<f32>(index(i)), x[i + 3 if 0 <= i - 1 < 9])\n"
      "    }\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(module) << module.error().message;
  Kernel& kernel = module->entries[0].kernels[0];
  const Stmt loop = kernel.body[0];
  const VarId half = kernel.add_var("half", 4);
  kernel.body = {for_loop(half, LoopKind::Serial,
                          substitute(kernel, loop.body, loop.var, Affine::variable(half, 2)))};
  for (Stmt& last : substitute(kernel, loop.body, loop.var, 7)) kernel.body.push_back(last);
  EXPECT_EQ(print(kernel, *module),
            "kernel k {\n"
            "  for half in 4 {\n"
            "    y[4*half + 1] = mul(cast<f32>(index(2*half)), x[2*half + 3 if 0 <= 2*half - 1 < "
            "9])\n"
            "  }\n"
            "  y[15] = mul(cast<f32>(7), x[10 if 0 <= 6 < 9])\n"
            "}\n");
}

}  // namespace
}  // namespace lathe::loop
