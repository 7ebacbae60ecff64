#include "lathe/lower/plan_memory.h"

#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/loop/text/parse.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/lower/gpu/lower.h"
#include "lathe/nn/layers/activation.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/training/training.h"
#include "lathe/opt/passes.h"
#include "random_graph.h"

namespace lathe::lower {
namespace {

using loop::BufferRole;

struct Life {
  int first = -1, last = -1;
};

void touch(Life& life, int kernel) {
  if (life.first < 0) life.first = kernel;
  life.last = kernel;
}

// When each buffer is accessed, in kernels of all entries numbered consecutively.
std::vector<Life> lives_of(const loop::Module& module) {
  std::vector<Life> lives(module.buffers.size());
  int number = 0;
  for (const loop::Entry& entry : module.entries) {
    for (const loop::Kernel& kernel : entry.kernels) {
      const auto visit = [&](const auto& self, const std::vector<loop::Stmt>& body) -> void {
        for (const loop::Stmt& stmt : body) {
          const bool global = stmt.buffer.space == loop::Space::Global;
          if (stmt.kind == loop::StmtKind::Store && global) touch(lives[stmt.buffer.id], number);
          self(self, stmt.body);
        }
      };
      visit(visit, kernel.body);
      for (const loop::Expr& expr : kernel.exprs) {
        const bool global = expr.buffer.space == loop::Space::Global;
        if (expr.kind == loop::ExprKind::Load && global) touch(lives[expr.buffer.id], number);
      }
      ++number;
    }
  }
  return lives;
}

void expect_disjoint(const loop::Module& module, const MemoryPlan& plan) {
  const std::vector<Life> lives = lives_of(module);
  const auto always = [&](size_t id) { return module.buffers[id].role != BufferRole::Temporary; };
  const auto end = [&](size_t id) {
    const loop::Buffer& buffer = module.buffers[id];
    return plan.offsets[id] + static_cast<uint64_t>(buffer.size * scalar::size_of(buffer.dtype));
  };
  for (size_t a = 0; a < lives.size(); ++a) {
    if (lives[a].first < 0 && !always(a)) continue;
    EXPECT_EQ(plan.offsets[a] % 64, 0u);
    EXPECT_GT(plan.offsets[a], 0u);
    EXPECT_LE(end(a), plan.total_bytes);
    for (size_t b = a + 1; b < lives.size(); ++b) {
      if (lives[b].first < 0 && !always(b)) continue;
      const bool together = always(a) || always(b) ||
                            (lives[a].first <= lives[b].last && lives[b].first <= lives[a].last);
      if (!together) continue;
      EXPECT_TRUE(end(a) <= plan.offsets[b] || end(b) <= plan.offsets[a])
          << module.buffers[a].name << " and " << module.buffers[b].name;
    }
  }
}

TEST(PlanMemory, LivingBuffersNeverOverlap) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    graph::RandomGraph random(seed);
    graph::Program program{{random.make(30), random.make(20)}};
    program.entries[1].name = "other";
    const loop::Module module = cpu::lower(program);
    const auto plan = plan_memory(module);
    ASSERT_TRUE(plan) << plan.error().message;
    expect_disjoint(module, *plan);
  }
}

// A chain of copies through temporaries a, b, c, d of 1024 bytes each.
constexpr std::string_view kChain =
    "buffer x : f32[256] input\n"
    "buffer y : f32[256] output\n"
    "buffer a : f32[256] temporary\n"
    "buffer b : f32[256] temporary\n"
    "buffer c : f32[256] temporary\n"
    "buffer d : f32[256] temporary\n"
    "entry e {\n"
    "  kernel k0 { for i in 256 { a[i] = x[i] } }\n"
    "  kernel k1 { for i in 256 { b[i] = a[i] } }\n"
    "  kernel k2 { for i in 256 { c[i] = b[i] } }\n"
    "  kernel k3 { for i in 256 { d[i] = c[i] } }\n"
    "  kernel k4 { for i in 256 { y[i] = d[i] } }\n"
    "}\n";

TEST(PlanMemory, TemporariesShareMemory) {
  const auto module = loop::parse(kChain);
  ASSERT_TRUE(module) << module.error().message;
  const auto plan = plan_memory(*module);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->persistent_bytes, 192u + 2 * 1024);
  EXPECT_EQ(plan->total_bytes, plan->persistent_bytes + 2 * 1024);
  EXPECT_EQ(plan->offsets[2], plan->offsets[4]);
  EXPECT_EQ(plan->offsets[3], plan->offsets[5]);
}

// A page holds one of them and a half.
TEST(PlanMemory, NoBufferCrossesAPage) {
  EXPECT_EQ(place(512, 1024, 1536), 512u);
  EXPECT_EQ(place(768, 1024, 1536), 1536u);
  EXPECT_EQ(place(0, 2048, 1536), 0u);
  EXPECT_EQ(place(64, 2048, 1536), 1536u);
  const auto module = loop::parse(kChain);
  ASSERT_TRUE(module) << module.error().message;
  const auto plan = plan_relocatable_memory(*module, {.page_bytes = 1536});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->offsets[2], 0u);
  EXPECT_EQ(plan->offsets[3], 1536u);
  EXPECT_EQ(plan->scratch_bytes, 1536u + 1024);
  EXPECT_EQ(plan->scratch_of_entries, std::vector<uint64_t>{plan->scratch_bytes});
}

TEST(PlanMemory, PagesOfRandomProgramsAreDisjoint) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    graph::RandomGraph random(seed);
    const loop::Module module = cpu::lower(graph::Program{{random.make(30)}});
    constexpr uint64_t kPage = 4096;
    const auto plan = plan_relocatable_memory(module, {.page_bytes = kPage});
    ASSERT_TRUE(plan) << plan.error().message;
    const std::vector<Life> lives = lives_of(module);
    const auto bytes = [&](size_t id) {
      const loop::Buffer& buffer = module.buffers[id];
      return static_cast<uint64_t>(buffer.size * scalar::size_of(buffer.dtype));
    };
    for (size_t a = 0; a < lives.size(); ++a) {
      if (module.buffers[a].role != BufferRole::Temporary || bytes(a) == 0) continue;
      const uint64_t begin = plan->offsets[a], end = begin + bytes(a);
      EXPECT_TRUE(bytes(a) > kPage ? begin % kPage == 0 : begin / kPage == (end - 1) / kPage);
      for (size_t b = a + 1; b < lives.size(); ++b) {
        if (module.buffers[b].role != BufferRole::Temporary || bytes(b) == 0) continue;
        if (lives[a].first > lives[b].last || lives[b].first > lives[a].last) continue;
        EXPECT_TRUE(end <= plan->offsets[b] || plan->offsets[b] + bytes(b) <= begin);
      }
    }
  }
}

uint64_t temporaries_of(int layers, const char* activation) {
  nn::Sequential model;
  for (int i = 0; i < layers; ++i) {
    model.add(nn::dense({.units = 48, .activation = activation, .input_shape = {48}}));
  }
  auto program = nn::build_program(model, {.batch = {.predict = 32}});
  EXPECT_TRUE(program) << program.error().message;
  std::erase_if(program->entries, [](const auto& entry) { return entry.name != "predict"; });
  for (auto& entry : program->entries) {
    for (const opt::Pass& pass : opt::passes()) entry = pass.run(std::move(entry));
  }
  const auto plan = plan_memory(gpu::lower(*program, {256, 16384}));
  EXPECT_TRUE(plan);
  return plan->total_bytes - plan->persistent_bytes;
}

// One layer's input and its output are live at once; separate maps overwrite their operand.
TEST(PlanMemory, PredictionNeedsTwoActivationsAtAnyDepth) {
  constexpr uint64_t kActivation = 32 * 48 * sizeof(float);
  for (const char* activation : {"relu", "tanh", "sigmoid"}) {
    EXPECT_EQ(temporaries_of(4, activation), 2 * kActivation) << activation;
    EXPECT_EQ(temporaries_of(40, activation), 2 * kActivation) << activation;
  }
}

TEST(PlanMemory, RejectsMoreThanFourGigabytes) {
  const auto module = loop::parse(
      "buffer w : f32[1073741824] state\n"
      "buffer x : f32[16] input\n");
  ASSERT_TRUE(module) << module.error().message;
  const auto plan = plan_memory(*module);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "the model needs 4096 MiB of memory (4096 MiB of weights, inputs and outputs); a "
            "32-bit WebAssembly memory has 4096 MiB. Use a smaller batch or fewer units");
}

}  // namespace
}  // namespace lathe::lower
