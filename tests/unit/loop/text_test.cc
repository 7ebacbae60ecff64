#include "lathe/base/text.h"

#include <gtest/gtest.h>

#include <random>

#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/parse.h"
#include "lathe/loop/text/print.h"
#include "random_module.h"

namespace lathe::loop::text_test {
namespace {

constexpr uint32_t kSeeds = 300;

TEST(Text, PrintAfterParseIsTheIdentity) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = random_module(seed, Types::All, int64_t{2} << seed % 4);
    const std::string text = print(module);
    const auto verified = verify(module);
    ASSERT_TRUE(verified) << verified.error().message << '\n' << text;
    const auto parsed = parse(text);
    ASSERT_TRUE(parsed) << parsed.error().message << '\n' << text;
    EXPECT_EQ(print(*parsed), text);
    EXPECT_TRUE(verify(*parsed));
    EXPECT_EQ(outcome(*parsed, seed), outcome(module, seed)) << text;
  }
}

TEST(Text, KernelsPreserveTheirPart) {
  Module module = random_module(1);
  for (Entry& entry : module.entries) {
    for (Kernel& kernel : entry.kernels) kernel.part = "forward dense_1";
  }
  const auto parsed = parse(print(module));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->entries[0].kernels[0].part, "forward dense_1");
}

TEST(Text, ConstantsPreserveTheirBits) {
  const std::string text =
      "buffer c : f32[8] constant {0.5, -0.0, inf, -inf, nan, nan:xffc00000, 1e-40, 3.0}\n"
      "buffer i : i32[2] constant {-2147483648, 7}\n"
      "buffer b : bool[2] constant {true, false}\n";
  const auto parsed = parse(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  const std::string reprinted = print(*parsed);
  const auto reparsed = parse(reprinted);
  ASSERT_TRUE(reparsed) << reparsed.error().message;
  for (size_t id = 0; id < 3; ++id) EXPECT_EQ(reparsed->buffers[id].data, parsed->buffers[id].data);
  EXPECT_EQ(print(*reparsed), reprinted);
}

TEST(Text, SharedExpressionsPrintOnce) {
  Module module;
  module.buffers.push_back({"x", DType::F32, 1, BufferRole::Output, {}});
  Kernel kernel;
  kernel.name = "doubled";
  ExprBuilder builder(kernel);
  ExprId value = builder.load({Space::Global, 0}, DType::F32, 0);
  for (int i = 0; i < 64; ++i) value = builder.apply(Op::Add, {value, value});
  for (int i = 0; i < 500; ++i) value = builder.apply(Op::Neg, {value});
  kernel.body.push_back(store({Space::Global, 0}, 0, value));
  module.entries.push_back({"e", {}, {}, {}});
  module.entries[0].kernels.push_back(std::move(kernel));
  const std::string text = print(module);
  EXPECT_LT(text.size(), 10000u);
  const auto parsed = parse(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(print(*parsed), text);
}

TEST(Text, BrokenProgramsPrint) {
  Module module;
  module.entries.push_back({"e", {{"in", {1}, 5}}, {}, {}});
  Kernel kernel;
  kernel.name = "k";
  kernel.body.push_back(
      for_loop(3, LoopKind::Serial, {store({Space::Register, 2}, Affine::variable(9), 7)}));
  EXPECT_EQ(print(kernel, module), "kernel k {\n  for ?3 in 0 {\n    ?2[?9] = ?7\n  }\n}\n");
  EXPECT_NE(print(module).find("?5"), std::string::npos);
}

std::string error_of(std::string_view text) {
  const auto parsed = parse(text);
  return parsed ? "" : parsed.error().message;
}

TEST(Text, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("buffer x : f32[4] input\nbuffer x : f32[4] input\n"),
            "line 2: a second buffer named x");
  EXPECT_EQ(error_of("buffer x : f23[4] input"), "line 1: expected an element type at 'f23'");
  EXPECT_EQ(error_of("buffer x : f32[4] inputs"),
            "line 1: expected input, output, state, constant or temporary at 'inputs'");
  EXPECT_EQ(error_of("\n\nentry e {\n  input \"x\" [4] x\n}"), "line 4: no buffer named x");
  EXPECT_EQ(error_of("buffer x : f32[99999999999999999999] input"),
            "line 1: number too large at '99999999999999999999'");
  EXPECT_EQ(error_of("buffer \"x"), "line 1: unfinished string");
  EXPECT_EQ(error_of("buffer c : f32[1] constant {1}"), "line 1: expected values of type f32");
  const auto in_kernel = [](std::string_view text) {
    return error_of(concat("buffer x : f32[4] output\nentry e {\nkernel k {\n", text, "\n}\n}\n"));
  };
  EXPECT_EQ(in_kernel("x[i] = 0.0"), "line 4: no loop variable named i");
  EXPECT_EQ(in_kernel("x[0] = frob(x[0])"), "line 4: no scalar operation frob");
  EXPECT_EQ(in_kernel("x[0] = add(1, 2.0)"), "line 4: add does not accept (i32, f32)");
  EXPECT_EQ(in_kernel("x[0] = %1"), "line 4: no let %1 before");
  EXPECT_EQ(in_kernel("x[0 if 0 <= 1 < 2] = 0.0"), "line 4: a store has no guards; use if at '='");
  EXPECT_EQ(in_kernel("x[0] = 4294967296"), "line 4: 4294967296 is no i32");
  EXPECT_NE(in_kernel(concat("x[0] = ", std::string(1000000, '('))), "");
  std::string deep = "x[0] = ";
  for (int i = 0; i < 100000; ++i) deep += "neg(";
  EXPECT_NE(in_kernel(deep).find("nested too deeply"), std::string::npos);
}

TEST(Text, GarbageIsRejectedOrParsed) {
  std::mt19937 random(7);
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::string text = print(random_module(seed % 40));
    std::string broken = text;
    for (int i = 0; i < 3; ++i) {
      const size_t at = random() % broken.size();
      switch (random() % 3) {
        case 0:
          broken[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          broken.erase(at, random() % 20);
          break;
        default:
          broken.insert(at, text.substr(random() % text.size(), random() % 20));
      }
      if (broken.empty()) break;
    }
    if (const auto parsed = parse(broken)) {
      print(*parsed);
      (void)verify(*parsed);
    }
  }
}

}  // namespace
}  // namespace lathe::loop::text_test
