#include "lathe/emit/wasm/addresses.h"

#include <gtest/gtest.h>

#include "lathe/loop/text/parse.h"

namespace lathe::emit_wasm {
namespace {

using loop::Affine;
using loop::VarId;

constexpr VarId kOuter = 0, kInner = 1, kUnrolled = 2, kLane = 3;

Affine address() {
  return Affine::variable(kOuter, 12) + Affine::variable(kInner, -3) +
         Affine::variable(kUnrolled, 5) + Affine::variable(kLane) + Affine(7);
}

TEST(Addresses, SplitsAnAddress) {
  const VarId nest[] = {kInner, kOuter};
  const SplitAddress result =
      split_address(address(), 4, nest, {.values = {{kUnrolled, 2}}, .lane = kLane});
  EXPECT_EQ(result.constant, 4 * (7 + 5 * 2));
  EXPECT_EQ(result.lane_coefficient, 1);
  ASSERT_EQ(result.induction.terms.size(), 2u);
  EXPECT_EQ(result.induction.terms[0], (loop::Term{kInner, -12}));  // outermost first
  EXPECT_EQ(result.induction.terms[1], (loop::Term{kOuter, 48}));
}

TEST(Addresses, PrefixesEndAtALoop) {
  const VarId nest[] = {kOuter, kInner};
  const InductionVariable induction = split_address(address(), 1, nest, {}).induction;
  EXPECT_EQ(induction.prefix(nest, 0).terms.size(), 1u);
  EXPECT_EQ(induction.prefix(nest, 1).terms.size(), 2u);
  const VarId other[] = {kUnrolled};
  EXPECT_TRUE(induction.prefix(other, 0).empty());
}

TEST(Addresses, EqualMovementsShareOneForm) {
  const auto module = loop::parse(
      "buffer x : f32[24] input\n"
      "buffer n : i32[24] input\n"
      "buffer b : bool[24] output\n"
      "entry e {\n"
      "  kernel k {\n"
      "    for i in 4 {\n"
      "      for j in 3 {\n"
      "        b[3*i + j] = lt(cast<i32>(x[3*i + j + 12]), n[3*i + j])\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(module) << module.error().message;
  const loop::Kernel& kernel = module->entries[0].kernels[0];
  // Four bytes a step for x and n, one for b.
  EXPECT_EQ(induction_variables_of(*module, {}, kernel, kernel.body, {}).size(), 2u);
  // Buffers with different bases share no induction variable.
  const int32_t bases[] = {2, 3, 4};
  EXPECT_EQ(induction_variables_of(*module, {{}, bases}, kernel, kernel.body, {}).size(), 3u);
}

TEST(Addresses, GuardsAndIndicesCountElements) {
  const auto module = loop::parse(
      "buffer x : f32[6] input\n"
      "buffer y : f32[6] output\n"
      "entry e {\n"
      "  kernel k {\n"
      "    for i in 6 {\n"
      "      y[i] = add(x[i if 0 <= 2*i - 3 < 6], cast<f32>(index(-1*i)))\n"
      "    }\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(module) << module.error().message;
  const loop::Kernel& kernel = module->entries[0].kernels[0];
  std::vector<int64_t> coefficients;
  for (const InductionVariable& induction :
       induction_variables_of(*module, {}, kernel, kernel.body, {})) {
    coefficients.push_back(induction.terms[0].coefficient);
  }
  EXPECT_EQ(coefficients, (std::vector<int64_t>{-1, 2, 4}));
}

}  // namespace
}  // namespace lathe::emit_wasm
