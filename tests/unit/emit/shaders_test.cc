// Shaders of loops whose elements are shorter than the words of WebGPU.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lathe/base/text.h"
#include "lathe/emit/wgsl/module.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/parse.h"
#include "lathe/lower/plan_memory.h"

namespace lathe::emit_wgsl {
namespace {

constexpr std::string_view kBuffers =
    "buffer h : f16[12] input\n"
    "buffer g : f16[12] output\n"
    "buffer b : u8[10] output\n"
    "buffer t : i8[10] temporary\n"
    "buffer f : f32[12] temporary\n"
    "buffer k : f16[12] temporary\n"
    "buffer c : i16[3] constant {1:i16, -2:i16, 3:i16}\n"
    "buffer z : bool[3] constant {true, false, true}\n";

Program emitted(std::string_view kernel, const Limits& limits = {.shader_f16 = true}) {
  const auto module = loop::parse(concat(kBuffers, "entry e {\nkernel k {\n", kernel, "\n}\n}\n"));
  EXPECT_TRUE(module) << module.error().message;
  const Status sound = loop::verify(*module, true);
  EXPECT_TRUE(sound) << sound.error().message;
  const auto plan = lower::plan_relocatable_memory(*module, storage_of({}));
  EXPECT_TRUE(plan) << plan.error().message;
  auto program = emit_program(*module, *plan, limits);
  EXPECT_TRUE(program) << program.error().message;
  return program ? *std::move(program) : Program();
}

std::string shader(std::string_view kernel, const Limits& limits = {.shader_f16 = true}) {
  const Program program = emitted(kernel, limits);
  return program.shaders.empty() ? "" : program.shaders[0];
}

TEST(Shaders, ElementsAreStoredAsInMemoryButBool) {
  const Program program = emitted("b[0] = cast<u8>(c[0])");
  ASSERT_EQ(program.constants.size(), 2u);
  EXPECT_EQ(program.constants[0].bytes.size(), 6u);
  EXPECT_EQ(program.constants[1].bytes.size(), 12u);
  const std::vector<Binding>& bindings = program.entries[0].kernels[0].bindings;
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].region.bytes, 8u) << "whole words";
  EXPECT_EQ(bindings[1].region.bytes, 12u);
}

TEST(Shaders, OnlyWordsThatAreStoredInPartsAreAtomic) {
  const std::string text = shader("f[0] = cast<f32>(t[1])\nb[2] = cast<u8>(t[1])");
  EXPECT_TRUE(text.contains("b0 : array<u32>"));
  EXPECT_TRUE(text.contains("b1 : array<f32>"));
  EXPECT_TRUE(text.contains("b2 : array<atomic<u32>>"));
  EXPECT_FALSE(text.contains("atomicLoad(&b0"));
  EXPECT_TRUE(text.contains("store_b2_u8(2, "));
}

// All temporaries in one binding of words.
TEST(Shaders, PartsShareABindingWithWords) {
  const std::string text = shader("f[0] = cast<f32>(t[1])\nt[2] = cast<i8>(f[1])\nk[3] = h[0]",
                                  {.storage_buffers = 2, .shader_f16 = true});
  EXPECT_TRUE(text.contains("b0 : array<atomic<u32>>")) << text;
  EXPECT_TRUE(text.contains("atomicStore(&b0[64], bitcast<u32>("));
  EXPECT_TRUE(text.contains("bitcast<f32>(atomicLoad(&b0[65]))"));
  EXPECT_TRUE(text.contains("load_b0_i8(1)"));
  EXPECT_TRUE(text.contains("fn store_b0_f16(i : i32, value : f16)"));
  EXPECT_TRUE(text.contains("store_b0_f16(259, load_b0_f16(0))"));
  EXPECT_TRUE(text.contains("bitcast<u32>(vec2<f16>(value, 0h))"));
}

TEST(Shaders, HalvesOfTheDeviceAreStoredAndComputed) {
  const std::string text = shader(
      "g[0] = add(h[0], h[1])\ng[1] = cast<f16>(cast<f32>(h[2]))\ng[2] = div(h[0], h[1])\n"
      "g[3] = cast<f16>(c[0])\nb[0] = cast<u8>(h[0])\nb[1] = cast<u8>(lt(h[0], h[1]))");
  EXPECT_TRUE(text.starts_with("enable f16;\n"));
  EXPECT_TRUE(text.contains("b1[0] = (b0[0] + b0[1]);")) << text;
  EXPECT_TRUE(text.contains("b1[1] = to_f16(f32(b0[2]));"));
  EXPECT_TRUE(text.contains("b1[2] = to_f16((f32(b0[0]) / f32(b0[1])));"));
  EXPECT_TRUE(text.contains("b1[3] = to_f16(f32(load_b2_i16(0)));"));
  EXPECT_TRUE(text.contains("clamp(to_i32(f32(b0[0])), 0, 255)"));
  EXPECT_TRUE(text.contains("lt_f32(f32(b0[0]), f32(b0[1]))"));
  EXPECT_FALSE(shader("b[0] = cast<u8>(c[0])").contains("enable"));
}

TEST(Shaders, HalvesAreRejectedWithoutThem) {
  const auto module = loop::parse(concat(kBuffers, "entry e {\nkernel k {\ng[0] = h[0]\n}\n}\n"));
  ASSERT_TRUE(module) << module.error().message;
  const auto plan = lower::plan_relocatable_memory(*module, storage_of({}));
  const auto program = emit_program(*module, *plan);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "shaders have no f16, the type of buffer h; cast it to f32 or i32");
}

}  // namespace
}  // namespace lathe::emit_wgsl
