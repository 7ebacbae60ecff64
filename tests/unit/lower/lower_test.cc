#include "lathe/lower/cpu/lower.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/lower/cpu/passes.h"
#include "random_graph.h"

namespace lathe::lower::cpu {
namespace {

using graph::Builder;
using graph::DType;
using graph::Tensor;

loop::Module lowered(Builder&& builder) {
  auto graph = std::move(builder).finish();
  EXPECT_TRUE(graph) << graph.error().message;
  loop::Module module = lower({{prepare(*std::move(graph))}});
  const Status sound = loop::verify(module);
  EXPECT_TRUE(sound) << sound.error().message;
  return module;
}

TEST(Lower, RandomGraphsVerify) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    graph::RandomGraph random(seed);
    const loop::Module module = lower({{prepare(random.make(25))}});
    const Status sound = loop::verify(module);
    ASSERT_TRUE(sound) << seed << ": " << sound.error().message;
  }
}

TEST(Lower, TransposedWeightsAreCopiedBeforeTheProduct) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {4, 8}), w = b.state("w", DType::F32, {16, 8});
  b.output("y", b.matmul(x, w, false, true));
  const loop::Module module = lowered(std::move(b));
  ASSERT_EQ(module.entries[0].kernels.size(), 2u);
  const auto copies =
      std::ranges::count(module.buffers, loop::BufferRole::Temporary, &loop::Buffer::role);
  EXPECT_EQ(copies, 1);
}

// Levels of the deepest expression of any kernel.
int levels(const loop::Module& module) {
  int max_level = 0;
  for (const loop::Kernel& kernel : module.entries[0].kernels) {
    std::vector<int> levels(kernel.exprs.size(), 1);
    for (size_t id = 0; id < levels.size(); ++id) {
      const loop::Expr& expr = kernel.exprs[id];
      for (int i = 0; i < expr.operand_count(); ++i) {
        const auto operand = static_cast<size_t>(expr.operands[static_cast<size_t>(i)]);
        levels[id] = std::max(levels[id], levels[operand] + 1);
      }
      max_level = std::max(max_level, levels[id]);
    }
  }
  return max_level;
}

int levels_of(Tensor (*step)(Tensor), Tensor (*end)(Tensor)) {
  Builder b("t");
  Tensor x = b.input("x", DType::F32, {4, 4});
  for (int i = 0; i < 3000; ++i) x = step(x);
  b.output("y", end(x));
  return levels(lowered(std::move(b)));
}

// Walks over expressions recur, on a stack that ends.
TEST(Lower, NoExpressionIsDeeperThanTheStack) {
  const auto itself = [](Tensor x) { return x; };
  const auto total = [](Tensor x) { return sum(x * x, {0, 1}); };
  const auto plus = [](Tensor x) { return x + 1.0f; };
  const auto curve = [](Tensor x) { return tanh(x); };
  const auto frame = [](Tensor x) {
    graph::AffineMap map = graph::AffineMap::project(2, {0, 1});
    map.axes[0].offset = -1;
    return x.builder->reindex(x, map, x.shape());
  };
  const auto gather_step = [](Tensor x) {
    Builder& b = *x.builder;
    const Tensor table = b.input(concat("x", b.graph().nodes.size()), DType::F32, {4, 4});
    return b.gather(table, b.cast(x, DType::I32), 0);
  };
  const auto product = [](Tensor x) {
    for (int i = 0; i < 1000; ++i) x = i == 0 ? x.builder->matmul(x, x) : x + 1.0f;
    return x;
  };
  for (const auto end : {+itself, +total, +product}) {
    for (const auto step : {+plus, +curve, +frame, +gather_step})
      EXPECT_LT(levels_of(step, end), 600);
  }
}

TEST(Lower, UserNamesHavePrecedence) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {4, 4});
  const Tensor y = b.matmul(x, x);
  b.output("v1", b.matmul(y, y));
  const Tensor state_input = b.state("t.v1'", DType::F32, {1});
  b.output("state", state_input);
  const loop::Module module = lowered(std::move(b));  // verify rejects equal names
  const auto named = [&](std::string_view name) {
    return std::ranges::find(module.buffers, name, &loop::Buffer::name)->role;
  };
  EXPECT_EQ(named("t.v1"), loop::BufferRole::Output);
  EXPECT_EQ(named("t.v1'"), loop::BufferRole::State);
  EXPECT_EQ(named("t.v1''"), loop::BufferRole::Temporary);
}

TEST(Lower, EntriesShareStates) {
  graph::Program program;
  for (const char* name : {"a", "b"}) {
    Builder b(name);
    const Tensor s = b.state("s", DType::F32, {3});
    b.update(s, s + 1.0f);
    program.entries.push_back(*std::move(b).finish());
  }
  const loop::Module module = lower(program);
  ASSERT_EQ(module.states.size(), 1u);
  loop::Memory memory(module);
  EXPECT_TRUE(loop::run(module, "a", memory));
  EXPECT_TRUE(loop::run(module, "b", memory));
  EXPECT_EQ(memory.view<float>(module.states[0].buffer)[2], 2.0f);
}

// Each product of the chain squares the one before: what is read twice is not looked at twice.
TEST(Lower, ChainsOfSquaresAreNotExponential) {
  Builder b("t");
  Tensor x = b.input("x", DType::F32, {3});
  for (int i = 0; i < 60; ++i) x = x * x;
  b.output("y", x);
  EXPECT_EQ(lowered(std::move(b)).entries[0].kernels.size(), 1u);
}

// The same between the elements of a row, which are in registers because two others read them.
TEST(Lower, ReducedChainsAreNotExponential) {
  Builder b("t");
  Tensor x = b.input("x", DType::F32, {3, 5});
  for (int i = 0; i < 30; ++i) x = tanh(x) + 0.5f * x;
  b.output("y", sum(x, {1}));
  EXPECT_EQ(lowered(std::move(b)).entries[0].kernels.size(), 1u);
}

TEST(Lower, EmptyTensorsAreLoopsThatDoNotRun) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {0, 5}), w = b.input("w", DType::F32, {5, 8});
  b.output("y", b.matmul(x, w));
  b.output("z", b.matmul(b.permute(w, {1, 0}), b.permute(x, {1, 0})));
  loop::Module module = lowered(std::move(b));
  loop::Memory memory(module);
  EXPECT_TRUE(loop::run(module, "t", memory));
}

}  // namespace
}  // namespace lathe::lower::cpu
