#include "lathe/emit/wasm/module.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/parse.h"
#include "lathe/lower/plan_memory.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/print.h"

namespace lathe::emit_wasm {
namespace {

constexpr std::string_view kBuffers =
    "buffer x : f32[16] input\n"
    "buffer n : i32[16] input\n"
    "buffer y : f32[16] output\n"
    "buffer m : i32[16] output\n"
    "buffer b : i8[16] output\n"
    "buffer c : f32[2] constant {1.0, 2.0}\n"
    "buffer zero : f32[2] constant {0.0, 0.0}\n";

Result<wasm::Module> emitted(std::string_view kernel, Target target) {
  LATHE_ASSIGN_OR_RETURN(
      const loop::Module module,
      loop::parse(concat(kBuffers, "entry e {\nkernel k {\n", kernel, "\n}\n}\n")));
  LATHE_TRY(loop::verify(module));
  LATHE_ASSIGN_OR_RETURN(const lower::MemoryPlan plan, lower::plan_memory(module));
  return emit_module(module, {{plan.offsets}, plan.total_bytes}, {}, "{}", target);
}

wasm::Module must(std::string_view kernel, Target target) {
  auto module = emitted(kernel, target);
  EXPECT_TRUE(module) << module.error().message;
  return module ? *std::move(module) : wasm::Module();
}

constexpr std::string_view kLanes =
    "for v in 4 vector { y[v] = mul_add(x[v], x[v + 4], x[v + 8]) }";

TEST(Emit, UsesOnlyTheRequestedFeatures) {
  const auto has = [](Target target, wasm::Feature feature) {
    return wasm::features_of(must(kLanes, target)).has(feature);
  };
  using enum wasm::Feature;
  EXPECT_FALSE(has({.simd = false, .relaxed_simd = false}, simd));
  EXPECT_TRUE(has({.simd = true, .relaxed_simd = false}, simd));
  EXPECT_FALSE(has({.simd = true, .relaxed_simd = false}, relaxed_simd));
  EXPECT_TRUE(has({.simd = true, .relaxed_simd = true}, relaxed_simd));
}

TEST(Emit, RejectsVectorLoopsOfOtherWidths) {
  for (const int lanes : {2, 8}) {
    const auto module =
        emitted(concat("for i in 1 { for v in ", lanes, " vector { y[v] = x[v] } }"), {});
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().message, concat("entry 'e': kernel k: vector loop v has ", lanes,
                                             " lanes; WebAssembly has vectors of 4"));
  }
}

TEST(Emit, OutlinedLoopsBecomeFunctions) {
  const wasm::Module module = must(
      "for i in 4 outlined { for j in 4 { y[4*i + j] = x[4*i + j] } }\n"
      "for i1 in 4 outlined { y[i1] = 0.0 }",
      {});
  EXPECT_EQ(module.functions.size(), 4u);  // entry, kernel, two bodies
}

TEST(Emit, OutlinedLoopsInsideUnrolledOnesStayWhereTheyAre) {
  const wasm::Module module =
      must("for u in 2 unroll { for i in 4 outlined { y[i + 4*u] = x[i] } }", {});
  EXPECT_EQ(module.functions.size(), 2u);
}

TEST(Emit, ShiftsByLaneAndCastsToTheSameTypeAreValid) {
  for (const bool simd : {false, true}) {
    must("for v in 4 vector { m[v] = shift_left(n[v], n[v + 4]) }", {.simd = simd});
    must("for v in 4 vector { m[v] = shift_right(n[v], 3) }", {.simd = simd});
    must("for v in 4 vector { y[v] = cast<f32>(x[v]) }", {.simd = simd});
    must("for v in 4 vector { m[v] = cast<i32>(n[v]) }", {.simd = simd});
  }
}

// Engines materialize a vector constant wherever it occurs.
TEST(Emit, VectorConstantsAreHoistedOutOfLoops) {
  const auto in_loop = [](std::string_view body) {
    const auto kernel = concat("for i in 4 { for v in 4 vector { ", body, " } }");
    const std::string text = wasm::print(must(kernel, {}));
    EXPECT_NE(text.find("v128.const"), std::string::npos) << body;
    return text.substr(text.find("loop")).find("v128.const") != std::string::npos;
  };
  EXPECT_FALSE(in_loop("y[4*i + v] = mul(x[4*i + v], 3.0)"));
  EXPECT_FALSE(in_loop("m[4*i + v] = index(2*v)"));
  EXPECT_FALSE(in_loop("y[4*i + v] = cast<f32>(gt(x[4*i + v], x[v]))"));
  EXPECT_FALSE(in_loop("b[4*i + v] = cast<i8>(x[4*i + v])"));
}

TEST(Emit, ConstantsOfZerosNeedNoData) {
  EXPECT_EQ(must("y[0] = add(c[0], zero[0])", {}).data.size(), 1u);
}

TEST(Emit, ExportsMemoryEntriesAndOffsets) {
  const wasm::Module module = must("y[0] = 1.0", {});
  std::vector<std::string> names;
  for (const wasm::Export& each : module.exports) names.push_back(each.name);
  EXPECT_TRUE(std::ranges::find(names, "memory") != names.end());
  EXPECT_TRUE(std::ranges::find(names, "e") != names.end());
}

std::string refusal(std::string_view kernel) {
  const auto module = emitted(kernel, {});
  return module ? "" : module.error().message;
}

TEST(Emit, RejectsAddressesBeyond32Bits) {
  EXPECT_EQ(refusal("for i in 2147483648 { y[0] = 0.0 }"),
            "entry 'e': a loop runs 2147483648 times, more than 2^31 - 1");
  EXPECT_EQ(refusal("for i in 3 { m[0] = index(1073741824*i) }"),
            "entry 'e': an index leaves 32 bits; use smaller tensors or offsets");
  EXPECT_EQ(refusal("for i in 3 { y[0] = x[i if 0 <= 2147483648*i < 9] }"),
            "entry 'e': an index leaves 32 bits; use smaller tensors or offsets");
  EXPECT_EQ(refusal("for i in 2 { if 0 <= 2147483648*i < 9 { y[i] = 0.0 } }"),
            "entry 'e': an index leaves 32 bits; use smaller tensors or offsets");
  EXPECT_EQ(refusal("for i in 2 { m[0] = index(1073741824*i) }"), "");
}

}  // namespace
}  // namespace lathe::emit_wasm
