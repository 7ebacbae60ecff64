// Facts and meaning of the scalar operations.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lathe/scalar/op.h"

namespace lathe::scalar {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();

float run(Op op, float x, float y = 0, float z = 0) {
  const Number operands[] = {Number::of(x), Number::of(y), Number::of(z)};
  return evaluate(op, operands).f;
}

int32_t run_i32(Op op, int32_t x, int32_t y = 0) {
  const Number operands[] = {Number::of(x), Number::of(y)};
  return evaluate(op, operands).i;
}

TEST(Info, TextsReadBack) {
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_EQ(op_of(info(op).text), op);
    EXPECT_GE(info(op).arity, 1);
    EXPECT_LE(info(op).arity, kMaxArity);
  }
  EXPECT_FALSE(op_of("frobnicate"));
}

TEST(Info, ResultDTypeFollowsTheSignature) {
  const DType floats[] = {DType::F32, DType::F32, DType::F32};
  const DType ints[] = {DType::I32, DType::I32, DType::I32};
  const DType bools[] = {DType::Bool, DType::Bool, DType::Bool};
  const DType mixed[] = {DType::F32, DType::I32, DType::F32};
  const DType choice[] = {DType::Bool, DType::I32, DType::I32};
  EXPECT_EQ(result_dtype(Op::Add, floats), DType::F32);
  EXPECT_EQ(result_dtype(Op::Add, ints), DType::I32);
  EXPECT_EQ(result_dtype(Op::Add, bools), std::nullopt);
  EXPECT_EQ(result_dtype(Op::Add, mixed), std::nullopt);
  EXPECT_EQ(result_dtype(Op::Exp, ints), std::nullopt);
  EXPECT_EQ(result_dtype(Op::Lt, ints), DType::Bool);
  EXPECT_EQ(result_dtype(Op::And, bools), DType::Bool);
  EXPECT_EQ(result_dtype(Op::Select, choice), DType::I32);
  EXPECT_EQ(result_dtype(Op::Select, floats), std::nullopt);
  EXPECT_EQ(result_dtype(Op::ToBits, floats), DType::I32);
  EXPECT_EQ(result_dtype(Op::FromBits, ints), DType::F32);
  EXPECT_EQ(result_dtype(Op::IsNan, floats), DType::Bool);
  EXPECT_EQ(result_dtype(Op::IsNan, ints), std::nullopt);
  EXPECT_EQ(result_dtype(Op::Mod, ints), DType::I32);
}

TEST(Evaluate, Floats) {
  EXPECT_EQ(run(Op::Add, 1.5f, 2), 3.5f);
  EXPECT_EQ(run(Op::MulAdd, 2, 3, 4), 10);
  EXPECT_EQ(run(Op::Nearest, 2.5f), 2);
  EXPECT_EQ(run(Op::Nearest, 3.5f), 4);
  EXPECT_EQ(run(Op::Nearest, -0.5f), 0);
  EXPECT_TRUE(std::signbit(run(Op::Nearest, -0.5f)));
  EXPECT_TRUE(std::isnan(run(Op::Max, 1, NAN)));
  EXPECT_TRUE(std::isnan(run(Op::Min, NAN, 1)));
  EXPECT_FALSE(std::signbit(run(Op::Max, -0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(run(Op::Min, 0.0f, -0.0f)));
  EXPECT_EQ(run(Op::Sigmoid, 0), 0.5f);
}

TEST(Evaluate, IntegersWrap) {
  EXPECT_EQ(run_i32(Op::Add, kMax, 1), kLeast);
  EXPECT_EQ(run_i32(Op::Mul, kLeast, -1), kLeast);
  EXPECT_EQ(run_i32(Op::ShiftLeft, 3, 31), kLeast);
  EXPECT_EQ(run_i32(Op::ShiftLeft, 3, 33), 6);
  EXPECT_EQ(run_i32(Op::ShiftRight, -8, 1), -4);
  EXPECT_EQ(run_i32(Op::BitXor, -8, 5), -3);
  EXPECT_EQ(run_i32(Op::Max, -3, 2), 2);
}

TEST(Evaluate, IntegersPreserveEveryDigit) {
  EXPECT_EQ(Number::of(0x7fffffff).as_double(), 2147483647.0);
  EXPECT_EQ(Number::of(-16777217).as_double(), -16777217.0);
}

TEST(Evaluate, IntegerDivisionRoundsDownAndNeverTraps) {
  EXPECT_EQ(run_i32(Op::FloorDiv, -7, 2), -4);
  EXPECT_EQ(run_i32(Op::Mod, -7, 2), 1);
  EXPECT_EQ(run_i32(Op::Mod, 7, -2), -1);
  EXPECT_EQ(run_i32(Op::FloorDiv, 7, 0), 0);
  EXPECT_EQ(run_i32(Op::Mod, 7, 0), 0);
  EXPECT_EQ(run_i32(Op::FloorDiv, kLeast, -1), kLeast);
  EXPECT_EQ(run_i32(Op::Mod, kLeast, -1), 0);
  EXPECT_EQ(run_i32(Op::Sign, kLeast), -1);
}

// Each type wraps at its width, is divided toward zero and never traps.
TEST(Evaluate, EveryIntegerWraps) {
  for (const DType dtype : kDTypes) {
    if (!is_integer(dtype)) continue;
    const auto run_on = [](Op op, Number x, Number y) {
      const Number operands[] = {x, y};
      return evaluate(op, operands);
    };
    const Number least = Number::lowest(dtype), max = Number::highest(dtype);
    const auto of = [dtype](int64_t value) { return Number::integer(dtype, value); };
    const auto expect = [&](const Number& got, const Number& expected) {
      EXPECT_TRUE(got.same_bits(expected)) << text(dtype) << ' ' << got.i << ' ' << expected.i;
    };
    expect(run_on(Op::Add, max, of(1)), least);
    expect(run_on(Op::Sub, least, of(1)), max);
    expect(run_on(Op::Mul, max, of(2)), of(-2));
    expect(run_on(Op::Div, max, of(0)), of(0));
    expect(run_on(Op::Div, of(100), of(7)), of(14));
    expect(run_on(Op::Mod, of(100), of(7)), of(2));
    expect(run_on(Op::Mod, max, of(0)), of(0));
    expect(run_on(Op::FloorDiv, max, of(0)), of(0));
    expect(run_on(Op::Max, least, max), max);
    EXPECT_EQ(run_on(Op::Lt, least, max).i, 1) << text(dtype);
    if (!is_signed(dtype)) continue;
    expect(run_on(Op::Div, of(-7), of(2)), of(-3));
    expect(run_on(Op::Div, least, of(-1)), least);
    expect(run_on(Op::FloorDiv, of(-7), of(2)), of(-4));
    expect(run_on(Op::Mod, of(-7), of(2)), of(1));
    expect(evaluate(Op::Abs, &least), least);
    expect(run_on(Op::ShiftRight, of(-8), of(1)), of(-4));
  }
}

TEST(Evaluate, Float16IsRoundedAfterEachOperation) {
  const Number operands[] = {Number::from(DType::F16, 2048), Number::from(DType::F16, 1)};
  EXPECT_EQ(evaluate(Op::Add, operands).f, 2048);
  EXPECT_EQ(evaluate(Op::Add, operands).dtype, DType::F16);
}

TEST(Evaluate, BitsTravelBothWays) {
  const Number one = Number::of(1.0f);
  const Number bits = evaluate(Op::ToBits, &one);
  EXPECT_EQ(bits.i, 0x3f800000);
  EXPECT_TRUE(evaluate(Op::FromBits, &bits).same_bits(one));
}

TEST(Evaluate, SelectAcceptsEveryDType) {
  const Number ints[] = {Number::of(true), Number::of(int32_t{7}), Number::of(int32_t{8})};
  const Number bools[] = {Number::of(false), Number::of(false), Number::of(true)};
  EXPECT_EQ(evaluate(Op::Select, ints).i, 7);
  EXPECT_TRUE(evaluate(Op::Select, bools).same_bits(Number::of(true)));
}

TEST(Cast, SaturatesAndTruncates) {
  const auto to_i32 = [](float x) { return cast(Number::of(x), DType::I32).i; };
  EXPECT_EQ(to_i32(-1.9f), -1);
  EXPECT_EQ(to_i32(kInfinity), kMax);
  EXPECT_EQ(to_i32(-kInfinity), kLeast);
  EXPECT_EQ(to_i32(2147483648.0f), kMax);
  EXPECT_EQ(to_i32(NAN), 0);
  EXPECT_EQ(cast(Number::of(NAN), DType::Bool).i, 1);
  EXPECT_EQ(cast(Number::of(true), DType::F32).f, 1);
}

TEST(Fold, IdentitiesDoNotChangeValues) {
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (info(op).fold == Fold::None) continue;
    for (const DType dtype : kDTypes) {
      const Number value = Number::from(dtype, is_float(dtype) ? -2.5 : 7);
      const DType dtypes[] = {value.dtype, value.dtype, value.dtype};
      if (!result_dtype(op, dtypes)) continue;
      const Number operands[] = {fold_identity(op, value.dtype), value};
      EXPECT_TRUE(evaluate(op, operands).same_bits(value)) << info(op).text;
    }
  }
}

}  // namespace
}  // namespace lathe::scalar
