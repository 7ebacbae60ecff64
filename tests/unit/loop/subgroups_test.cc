// Subgroup loops and their reductions: text, verifier, interpreter.
#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/text/parse.h"
#include "lathe/loop/text/print.h"

namespace lathe::loop::subgroups_test {
namespace {

Module module_of(std::string_view kernel) {
  auto module =
      parse(concat("buffer x : f32[96] input\nbuffer n : i32[96] input\nbuffer y : f32[96] output\n"
                   "entry e {\n  kernel k {\n    register r : f32[1]\n    register i : i32[1]\n"
                   "    shared s : f32[24]\n",
                   kernel, "  }\n}\n"));
  EXPECT_TRUE(module) << module.error().message;
  return module ? *std::move(module) : Module();
}

std::string verdict(std::string_view kernel) {
  const Status status = verify(module_of(kernel));
  constexpr std::string_view kLocation = "entry e, kernel k: ";
  return status ? "" : status.error().message.substr(kLocation.size());
}

// Each thread gets the reduction of all 48 in its group.
std::string group_reduction(std::string_view op, std::string_view identity) {
  return concat(
      "    for g in 2 grid {\n      for t in 48 group {\n        if 0 <= t < 12 {\n"
      "          s[t] = ",
      identity,
      "\n        }\n        r[0] = x[48*g + t]\n        barrier\n"
      "        for p in 12 subgroup {\n          s[p] = reduce<",
      op, ">(r[0])\n        }\n        barrier\n        r[0] = ", identity,
      "\n        for q in 12 {\n          r[0] = ", op,
      "(r[0], s[q])\n        }\n        y[48*g + t] = r[0]\n      }\n    }\n");
}

float element(int i) { return static_cast<float>(i * 37 % 96 - 40); }

std::vector<float> outcome(const Module& module, int64_t subgroup_threads) {
  Memory memory(module);
  for (int i = 0; i < 96; ++i) memory.view<float>(0)[i] = element(i);
  for (int i = 0; i < 96; ++i) memory.view<int32_t>(1)[i] = i;
  const Status status = run(module, "e", memory, subgroup_threads);
  EXPECT_TRUE(status) << status.error().message;
  const auto result = memory.view<float>(2);
  return {result.begin(), result.end()};
}

TEST(Subgroups, PrintAfterParseIsTheIdentity) {
  const std::string loops = group_reduction("max", "-inf");
  const std::string text = print(module_of(loops));
  EXPECT_NE(text.find(loops), std::string::npos) << text;
  EXPECT_EQ(print(*parse(text)), text);
}

TEST(Subgroups, OfAnySizeReduceTheGroup) {
  float sums[2] = {}, least[2] = {1000, 1000}, most[2] = {-1000, -1000};
  for (int i = 0; i < 96; ++i) {
    sums[i / 48] += element(i);
    least[i / 48] = std::min(least[i / 48], element(i));
    most[i / 48] = std::max(most[i / 48], element(i));
  }
  for (int64_t size = kMinSubgroup; size <= kMaxSubgroup; size *= 2) {
    for (const auto& [op, identity, expected] :
         {std::tuple("add", "0.0", sums), {"min", "inf", least}, {"max", "-inf", most}}) {
      const Module module = module_of(group_reduction(op, identity));
      ASSERT_TRUE(verify(module)) << verify(module).error().message;
      const std::vector<float> got = outcome(module, size);
      for (int i = 0; i < 96; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], expected[i / 48]) << op;
    }
  }
}

// Of 10 threads: 4, 4 and 2, or 8 and 2, or all.
TEST(Subgroups, GiveEachThreadItsReduction) {
  const Module module = module_of(
      "for t in 10 group { i[0] = n[t] for p in 3 subgroup { i[0] = add(reduce<add>(i[0]), "
      "mul(reduce<max>(i[0]), 100)) } y[t] = cast<f32>(i[0]) }");
  ASSERT_TRUE(verify(module)) << verify(module).error().message;
  const auto got = [&](int64_t size) {
    const std::vector<float> all = outcome(module, size);
    return std::vector<float>{all[0], all[3], all[4], all[7], all[8], all[9]};
  };
  EXPECT_EQ(got(4), (std::vector<float>{306, 306, 722, 722, 917, 917}));
  EXPECT_EQ(got(8), (std::vector<float>{728, 728, 728, 728, 917, 917}));
  EXPECT_EQ(got(16), (std::vector<float>{945, 945, 945, 945, 945, 945}));
}

TEST(Subgroups, ThatAreMoreThanIterationsAreAnError) {
  const Module module = module_of("for t in 48 group { for p in 3 subgroup { s[p] = 1.0 } }");
  ASSERT_TRUE(verify(module)) << verify(module).error().message;
  Memory memory(module);
  EXPECT_TRUE(run(module, "e", memory, 16));
  const Status status = run(module, "e", memory, 8);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "kernel k: 6 subgroups in loop p of 3");
}

// Their stores are those of a thread: without a barrier others must not read them.
TEST(Subgroups, RaceWithOtherThreads) {
  const Module module =
      module_of("for t in 8 group { for p in 2 subgroup { s[p] = 1.0 } y[t] = s[0] }");
  ASSERT_TRUE(verify(module)) << verify(module).error().message;
  Memory memory(module);
  const Status status = run(module, "e", memory, 4);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "kernel k: threads race for s[0]");
}

TEST(Subgroups, AreRejectedWhereNotEveryThreadIs) {
  EXPECT_EQ(verdict("for p in 1 subgroup { s[p] = 1.0 }"), "subgroup loop p is outside a group");
  EXPECT_EQ(verdict("for t in 8 group { if 0 <= t < 4 { for p in 1 subgroup { s[p] = 1.0 } } }"),
            "a subgroup loop that not every thread may reach");
  EXPECT_EQ(verdict("for t in 8 group { when lt(x[t], 0.0) { for p in 1 subgroup { s[p] = 1.0 } "
                    "} }"),
            "a subgroup loop that not every thread may reach");
  EXPECT_EQ(verdict("for t in 8 group { for p in 2 subgroup { barrier } }"),
            "a subgroup loop contains more than stores");
  EXPECT_EQ(verdict("for t in 8 group { for p in 2 subgroup { for q in 2 subgroup { s[p] = 1.0 } "
                    "} }"),
            "a subgroup loop contains more than stores");
  EXPECT_EQ(verdict("for t in 8 group { for i1 in 3 { for p in 2 subgroup { s[p] = 1.0 } barrier } "
                    "}"),
            "");
  EXPECT_EQ(verdict("for a in 3 group { for t in 4 group { for p in 4 subgroup { s[p] = 1.0 } } }"),
            "subgroup loop p has extent 4; 12 threads form at most 3 subgroups");
  EXPECT_EQ(verdict("for t in 8 group { for p in 0 subgroup { s[p] = 1.0 } }"),
            "subgroup loop p has extent 0; 8 threads form at most 2 subgroups");
}

TEST(Subgroups, StoreOneElementEach) {
  const auto stores = [](std::string_view store) {
    return verdict(concat("for t in 16 group { r[0] = x[t] for p in 4 subgroup { ", store, " } }"));
  };
  EXPECT_EQ(stores("s[p] = add(reduce<add>(mul(r[0], x[t])), 1.0)"), "");
  EXPECT_EQ(stores("r[0] = sub(r[0], reduce<max>(r[0]))"), "");
  EXPECT_EQ(stores("y[p] = reduce<add>(r[0])"), "a subgroup loop stores to global memory");
  EXPECT_EQ(stores("s[0] = reduce<add>(r[0])"), "all subgroups store to one element");
  EXPECT_EQ(stores("s[p + t] = reduce<add>(r[0])"),
            "the threads of a subgroup store to several elements");
  EXPECT_EQ(stores("s[p] = r[0]"), "the threads of a subgroup store several values");
  EXPECT_EQ(stores("s[p] = add(reduce<add>(r[0]), r[0])"),
            "the threads of a subgroup store several values");
}

TEST(Subgroups, ReduceSomeTypesBySomeOperations) {
  const auto reduces = [](std::string_view value) {
    return verdict(concat("for t in 16 group { for p in 4 subgroup { r[0] = ", value, " } }"));
  };
  EXPECT_EQ(reduces("cast<f32>(reduce<add>(cast<u32>(n[t])))"), "");
  EXPECT_EQ(reduces("reduce<mul>(x[t])"), "subgroups do not reduce f32 by mul");
  EXPECT_EQ(reduces("cast<f32>(reduce<max>(cast<i64>(n[t])))"),
            "subgroups do not reduce i64 by max");
  EXPECT_EQ(reduces("reduce<add>(sub(x[t], reduce<max>(x[t])))"), "a reduction of a reduction");
  EXPECT_EQ(verdict("for t in 16 group { r[0] = reduce<add>(x[t]) }"),
            "a reduction outside a subgroup loop");
}

TEST(Subgroups, LoopsOfOneIterationStay) {
  Module module = module_of(
      "for t in 4 group { for p in 1 subgroup { r[0] = reduce<add>(x[t]) } "
      "y[t] = r[0] }");
  collapse_loops(module.entries[0].kernels[0]);
  EXPECT_TRUE(verify(module)) << print(module);
}

}  // namespace
}  // namespace lathe::loop::subgroups_test
