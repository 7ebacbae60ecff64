// Every gradient of the table against finite differences of the meaning in its row.
#include "lathe/scalar/vjp.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lathe::scalar {
namespace {

// Operands away from kinks, poles and ties; every row differentiates there.
constexpr float kPoints[][3] = {
    {0.7f, 1.3f, -0.4f}, {1.9f, 0.6f, 2.2f}, {2.4f, -1.1f, 0.3f}, {0.35f, 2.75f, -1.6f}};

Number operand(Op op, int index, float value) {
  if (info(op).signature == Signature::Choose && index == 0) return Number::of(value > 1);
  return Number::of(value);
}

double value_at(Op op, const float* point) {
  Number operands[kMaxArity];
  for (int i = 0; i < kMaxArity; ++i) operands[i] = operand(op, i, point[i]);
  return evaluate(op, operands).as_double();
}

void check_row(Op op, const float* point) {
  constexpr float kStep = 1.0f / 128, kIncoming = 1.5f;
  const float x = operand(op, 0, point[0]).dtype == DType::F32 ? point[0] : point[0] > 1;
  const float out = static_cast<float>(value_at(op, point));
  const Gradients<float> gradients = vjp<float>(op, x, point[1], point[2], out, kIncoming);
  for (int i = 0; i < kMaxArity; ++i) {
    if (!gradients[i]) continue;
    ASSERT_LT(i, info(op).arity) << info(op).text << ": more gradients than operands";
    float above[] = {point[0], point[1], point[2]}, below[] = {point[0], point[1], point[2]};
    above[i] += kStep;
    below[i] -= kStep;
    const double slope = (value_at(op, above) - value_at(op, below)) / (2 * kStep);
    const double expected = kIncoming * slope;
    EXPECT_NEAR(*gradients[i], expected, 2e-3 * (1 + std::fabs(expected)))
        << info(op).text << " operand " << i << " at " << x << ' ' << point[1] << ' ' << point[2];
  }
}

TEST(Vjp, EveryRowAgreesWithFiniteDifferences) {
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (!accepts(info(op).signature, DType::F32)) continue;
    int inside = 0;
    for (const auto& point : kPoints) {
      if (std::isnan(value_at(op, point))) continue;  // acosh of 0.7
      check_row(op, point);
      ++inside;
    }
    EXPECT_GE(inside, 2) << info(op).text;
  }
}

TEST(Vjp, StepFunctionsAndConditionsHaveNoGradient) {
  for (Op op : {Op::Floor, Op::Ceil, Op::Trunc, Op::Sign, Op::FloorDiv, Op::IsNan, Op::Nearest,
                Op::Detach, Op::Lt, Op::And, Op::BitOr, Op::ToBits}) {
    for (const auto& gradient : vjp<float>(op, 1, 2, 3, 4, 5)) EXPECT_FALSE(gradient);
  }
  EXPECT_FALSE(vjp<float>(Op::Select, 1, 2, 3, 4, 5)[0]);
}

TEST(Vjp, EqualOperandsShareTheGradient) {
  for (const Op op : {Op::Max, Op::Min}) {
    for (const float zero : {0.0f, -0.0f}) {
      const Gradients<float> gradients = vjp<float>(op, zero, 0, 0, 0, 1);
      EXPECT_EQ(gradients[0], 0.5f);
      EXPECT_EQ(gradients[1], 0.5f);
    }
  }
  EXPECT_EQ(vjp<float>(Op::Abs, 0, 0, 0, 0, 1)[0], 1);
  EXPECT_EQ(vjp<float>(Op::Abs, -0.0f, 0, 0, 0, 1)[0], 1);
}

TEST(Vjp, PowersOfZeroAndOfNegativeNumbersHaveFiniteGradients) {
  EXPECT_EQ(vjp<float>(Op::Pow, 0, 2, 0, 0, 1)[0], 0);
  EXPECT_EQ(vjp<float>(Op::Pow, 0, 0, 0, 1, 1)[0], 0);
  EXPECT_EQ(vjp<float>(Op::Pow, 0, 2, 0, 0, 1)[1], 0);
  EXPECT_EQ(vjp<float>(Op::Pow, -2, 3, 0, -8, 1)[0], 12);
  EXPECT_EQ(vjp<float>(Op::Pow, -2, 3, 0, -8, 1)[1], 0);
}

}  // namespace
}  // namespace lathe::scalar
