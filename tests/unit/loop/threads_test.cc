// Grids, groups, barriers and workgroup memory: text, verifier, interpreter.
#include <gtest/gtest.h>

#include <random>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/lanes.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/parse.h"
#include "lathe/loop/text/print.h"

namespace lathe::loop {
namespace {

Module module_of(std::string_view kernel) {
  auto module =
      parse(concat("buffer x : f32[12] input\nbuffer y : f32[12] output\n"
                   "entry e {\n  kernel k rereads y {\n",
                   kernel, "  }\n}\n"));
  EXPECT_TRUE(module) << module.error().message;
  return module ? *std::move(module) : Module();
}

std::string verdict(std::string_view kernel) {
  const Status status = verify(module_of(kernel));
  constexpr std::string_view kLocation = "entry e, kernel k: ";
  return status ? "" : status.error().message.substr(kLocation.size());
}

// Turns every group of three elements round, through workgroup memory.
constexpr std::string_view kTurn =
    "    shared tile : f32[3]\n"
    "    for g in 4 grid {\n"
    "      for t in 3 group {\n"
    "        tile[t] = x[3*g + t]\n"
    "        barrier\n"
    "        y[3*g + t] = tile[-t + 2]\n"
    "      }\n"
    "    }\n";

std::string run_on_numbers(const Module& module) {
  Memory memory(module);
  for (int i = 0; i < 12; ++i) memory.view<float>(0)[i] = static_cast<float>(i);
  const Status status = run(module, "e", memory);
  return status ? bracketed(memory.view<float>(1)) : status.error().message;
}

TEST(Threads, PrintAfterParseIsTheIdentity) {
  const std::string text = print(module_of(kTurn));
  EXPECT_NE(text.find(kTurn), std::string::npos) << text;
  EXPECT_EQ(print(*parse(text)), text);
}

TEST(Threads, NamesLikeKeywordsAreQuoted) {
  const std::string text = print(
      module_of("    shared \"shared\" : f32[1]\n    for t in 1 group { \"shared\"[0] = 1.0 }\n"));
  EXPECT_NE(text.find("\"shared\"[0] = 1.0"), std::string::npos) << text;
  EXPECT_TRUE(parse(text));
}

TEST(Threads, VerifierAcceptsTheNest) {
  EXPECT_EQ(verdict(kTurn), "");
  EXPECT_EQ(verdict("for a in 2 grid { for b in 2 grid { for t in 3 group { "
                    "y[6*a + 3*b + t] = 0.0 } } }"),
            "");
  EXPECT_EQ(verdict("for t in 3 group { for i in 4 { barrier\n y[4*t + i] = 0.0 } }"), "");
}

TEST(Threads, VerifierRejectsThreadsInside) {
  EXPECT_EQ(verdict("for i in 2 { for g in 2 grid { y[g] = 0.0 } }"),
            "grid loop g is not among the outermost loops");
  EXPECT_EQ(verdict("for t in 2 group { for g in 2 grid { y[g] = 0.0 } }"),
            "grid loop g is not among the outermost loops");
  EXPECT_EQ(verdict("for g in 2 grid { y[g] = 0.0 } y[0] = 1.0"),
            "grid loop g is not among the outermost loops");
  EXPECT_EQ(verdict("for g in 2 grid { y[g] = 0.0\n for t in 2 group { y[t] = 0.0 } }"),
            "group loop t is not among the outermost loops");
}

TEST(Threads, VerifierRejectsMisplacedBarriers) {
  EXPECT_EQ(verdict("for g in 2 grid { barrier\n y[g] = 0.0 }"), "a barrier outside a group");
  EXPECT_EQ(verdict("for t in 2 group { if 0 <= t < 1 { barrier } y[t] = 0.0 }"),
            "a barrier that not every thread may reach");
  EXPECT_EQ(verdict("for t in 2 group { for v in 4 vector { barrier\n y[v] = 0.0 } }"),
            "a barrier that not every thread may reach");
  EXPECT_EQ(verdict("shared s : f32[2]\n for g in 2 grid { s[g] = 0.0 }"),
            "shared buffer s is used outside a group");
  EXPECT_EQ(verdict("register r : f32[2]\n for t in 2 group { r[t] = 0.0 }"),
            "the address of register r depends on serial loop t");
}

TEST(Threads, RunPhaseByPhase) {
  EXPECT_EQ(run_on_numbers(module_of(kTurn)), "[2,1,0,5,4,3,8,7,6,11,10,9]");
}

TEST(Threads, BarriersInLoopsSeparateRounds) {
  EXPECT_EQ(run_on_numbers(module_of("register sum : f32[1]\n shared tile : f32[3]\n"
                                     "for t in 3 group { sum[0] = 0.0 for i in 4 {"
                                     "  tile[t] = x[3*i + t]  barrier"
                                     "  for j in 3 { sum[0] = add(sum[0], tile[j]) } barrier }"
                                     "  y[t] = sum[0] }")),
            "[66,66,66,0,0,0,0,0,0,0,0,0]");
}

TEST(Threads, RegistersBelongToOneThread) {
  const std::string got = run_on_numbers(
      module_of("register r : f32[1]\n for g in 2 grid { for t in 2 group {"
                " if 0 <= g < 1 { r[0] = x[t + 5] } barrier\n y[2*g + t] = r[0] } }"));
  EXPECT_EQ(got.substr(0, 13), "[5,6,nan,nan,");
}

TEST(Threads, RacesAreErrors) {
  EXPECT_EQ(run_on_numbers(module_of("shared s : f32[3]\n for t in 3 group {"
                                     " s[t] = x[t] y[t] = s[-t + 2] }")),
            "kernel k: threads race for s[2]");
  EXPECT_EQ(run_on_numbers(module_of("for g in 3 grid { y[0] = x[g] }")),
            "kernel k: threads race for y[0]");
  EXPECT_EQ(run_on_numbers(module_of("for g in 3 grid { y[g] = y[2] }")),
            "kernel k: threads race for y[2]");
}

TEST(Threads, IterationsMeet) {
  const auto meet = [](std::string_view kernel) {
    const Module module = module_of(kernel);
    const Kernel& parsed = module.entries[0].kernels[0];
    return iterations_meet(parsed, parsed.body[0]);
  };
  EXPECT_FALSE(meet("for i in 4 { for j in 3 { y[3*i + j] = x[0] } }"));
  EXPECT_FALSE(meet("for i in 6 { y[2*i] = y[2*i + 1] }"));
  EXPECT_TRUE(meet("for i in 4 { for j in 4 { y[2*i + j] = x[0] } }"));
  EXPECT_TRUE(meet("for i in 6 { y[i] = y[i + 6] y[i + 5] = 0.0 }"));
  EXPECT_TRUE(meet("for i in 1000000000 { y[0] = x[0] }"));
}

constexpr int64_t kExtents[] = {2, 4, 3, 2};

bool meet_by_trying(const Affine& a, const Affine& b) {
  const auto at = [](const Affine& form, int64_t o, int64_t i, int64_t j, int64_t k) {
    return form.coefficient(0) * o + form.coefficient(1) * i + form.coefficient(2) * j +
           form.coefficient(3) * k + form.offset;
  };
  for (int n = 0; n < 2 * (4 * 3 * 2) * (4 * 3 * 2); ++n) {
    const int o = n % 2, i = n / 2 % 4, j = n / 8 % 3, k = n / 24 % 2;
    const int i2 = n / 48 % 4, j2 = n / 192 % 3, k2 = n / 576;
    const int64_t stored = at(a, o, i, j, k);
    if (i != i2 && stored == at(a, o, i2, j2, k2)) return true;
    if (i != i2 && stored == at(b, o, i2, j2, k2)) return true;
  }
  return false;
}

// Both addresses have the same coefficient of the loop variable; otherwise they are assumed to
// overlap.
TEST(Threads, IterationsMeetWhereTryingFindsIt) {
  std::mt19937 random(3);
  const auto number = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
  };
  int met = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t step = number(-12, 12);
    Affine forms[2];
    for (Affine& form : forms) {
      for (VarId var = 0; var < 4; ++var) {
        form += Affine::variable(var, var == 1 ? step : number(-3, 6));
      }
      form.offset = number(0, 9);
    }
    Kernel kernel;
    for (const int64_t extent : kExtents) kernel.add_var("i", extent);
    const BufferRef y{Space::Global, 0};
    const ExprId value = ExprBuilder(kernel).load(y, DType::F32, forms[1]);
    Stmt body = store(y, forms[0], value);
    for (VarId var = 3; var >= 1; --var) body = for_loop(var, LoopKind::Serial, {body});
    const bool expected = meet_by_trying(forms[0], forms[1]);
    EXPECT_EQ(iterations_meet(kernel, body), expected) << "round " << round;
    met += expected;
  }
  EXPECT_GT(met, 300);
  EXPECT_LT(met, 2900);
}

constexpr std::string_view kTasks =
    "    register r : f32[1]\n"
    "    for a in 2 parallel {\n"
    "      for i in 5 parallel by 2 {\n"
    "        y[5*a + i] = x[5*a + i]\n"
    "      }\n"
    "    }\n"
    "    r[0] = 7.0\n"
    "    y[10] = r[0]\n"
    "    barrier\n"
    "    for j in 1 parallel outlined {\n"
    "      y[11] = add(y[0], y[10])\n"
    "    }\n";

TEST(Tasks, PrintAfterParseIsTheIdentity) {
  const std::string text = print(module_of(kTasks));
  EXPECT_NE(text.find(kTasks), std::string::npos) << text;
  EXPECT_EQ(print(*parse(text)), text);
}

TEST(Tasks, RunAndAreAccepted) {
  EXPECT_EQ(verdict(kTasks), "");
  EXPECT_EQ(run_on_numbers(module_of(kTasks)), "[0,1,2,3,4,5,6,7,8,9,7,7]");
}

TEST(Tasks, VerifierRejectsMisplacedLoops) {
  EXPECT_EQ(verdict("for i in 2 { for j in 2 parallel { y[j] = 0.0 } }"),
            "parallel loop j is not among the outermost loops");
  EXPECT_EQ(verdict("for i in 2 parallel { y[2*i] = 0.0\n for j in 1 parallel { y[i] = 0.0 } }"),
            "parallel loop j is not among the outermost loops");
  EXPECT_EQ(verdict("for i in 2 parallel by 2 { for j in 2 parallel { y[2*i + j] = 0.0 } }"),
            "parallel loop i has a grain and is not the innermost");
  EXPECT_EQ(verdict("for i in 2 parallel outlined { for j in 2 parallel { y[2*i + j] = 0.0 } }"),
            "parallel loop i is outlined and not the innermost");
  EXPECT_EQ(verdict("for i in 2 parallel by 0 { y[i] = 0.0 }"), "parallel loop i has grain 0");
  EXPECT_EQ(verdict("for i in 2 by 2 { y[i] = 0.0 }"), "loop i has a grain");
  EXPECT_EQ(verdict("barrier"), "a barrier outside a group");
  EXPECT_EQ(verdict("for i in 2 parallel { barrier }"), "a barrier outside a group");
}

TEST(Tasks, VerifierRejectsDependentIterations) {
  constexpr std::string_view kMeet = "parallel loop i has iterations that need each other";
  EXPECT_EQ(verdict("for i in 11 parallel { y[i + 1] = y[i] }"), kMeet);
  EXPECT_EQ(verdict("for i in 2 parallel { y[0] = 1.0 }"), kMeet);
  EXPECT_EQ(verdict("register r : f32[1] for i in 2 parallel { "
                    "if 0 <= i < 1 { r[0] = 1.0 } y[i] = r[0] }"),
            kMeet);
}

TEST(Tasks, VerifierRejectsSharedRegisters) {
  EXPECT_EQ(
      verdict("register r : f32[1] r[0] = 1.0 for i in 2 parallel { y[i] = 1.0 } y[5] = r[0]"),
      "register r crosses the body of an outlined loop or a task");
}

TEST(Tasks, InterpreterCatchesRaces) {
  EXPECT_EQ(run_on_numbers(module_of("for i in 2 parallel { y[i] = 1.0 } y[1] = 2.0")),
            "kernel k: threads race for y[1]");
  EXPECT_EQ(run_on_numbers(module_of("for i in 2 parallel { y[i] = 1.0 }\n"
                                     "for j in 2 parallel { y[j + 4] = y[-j + 1] }")),
            "kernel k: threads race for y[1]");
}

}  // namespace
}  // namespace lathe::loop
