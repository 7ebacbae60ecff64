// decompose.h against double precision, with the rows' own meaning as arithmetic.
#include "scalar/decompose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lathe::scalar {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLeastNormal = std::numeric_limits<float>::min();

// A number whose operations are the rows of the table; mul_add rounds once or twice.
template <bool fused>
struct Num {
  Number number;
  Num like(float value) const { return {Number::of(value)}; }
  Num like_i32(int32_t value) const { return {Number::of(value)}; }
};

template <bool fused, class... Rest>
Num<fused> apply(Op op, Num<fused> x, Rest... rest) {
  const Number operands[] = {x.number, rest.number...};
  return {evaluate(op, operands)};
}

#define NUM             \
  template <bool fused> \
  Num<fused>
NUM operator+(Num<fused> x, Num<fused> y) { return apply(Op::Add, x, y); }
NUM operator-(Num<fused> x, Num<fused> y) { return apply(Op::Sub, x, y); }
NUM operator*(Num<fused> x, Num<fused> y) { return apply(Op::Mul, x, y); }
NUM operator/(Num<fused> x, Num<fused> y) { return apply(Op::Div, x, y); }
NUM operator<(Num<fused> x, Num<fused> y) { return apply(Op::Lt, x, y); }
NUM operator>(Num<fused> x, Num<fused> y) { return apply(Op::Gt, x, y); }
NUM select(Num<fused> c, Num<fused> x, Num<fused> y) { return apply(Op::Select, c, x, y); }
NUM to_bits(Num<fused> x) { return apply(Op::ToBits, x); }
NUM from_bits(Num<fused> x) { return apply(Op::FromBits, x); }
NUM shift_left(Num<fused> x, Num<fused> y) { return apply(Op::ShiftLeft, x, y); }
NUM shift_right(Num<fused> x, Num<fused> y) { return apply(Op::ShiftRight, x, y); }
NUM to_f32(Num<fused> x) { return {cast(x.number, DType::F32)}; }
NUM mul_add(Num<fused> x, Num<fused> y, Num<fused> z) {
  if (!fused) return apply(Op::MulAdd, x, y, z);
  return {Number::of(std::fma(x.number.f, y.number.f, z.number.f))};
}
#undef NUM

template <bool fused>
float run(Op op, float x) {
  return decompose(op, Num<fused>{Number::of(x)}).number.f;
}

// |result - exact| in units of the last place of the f32 nearest to exact.
double ulps(float result, double exact) {
  const float nearest = static_cast<float>(exact);
  if (result == nearest || (std::isnan(result) && std::isnan(nearest))) return 0;
  const double step = std::fabs(std::nextafter(std::fabs(nearest), kInfinity) - std::fabs(nearest));
  return std::fabs(result - exact) / step;
}

template <bool fused>
double worst(Op op, double (*exact)(double), float from, float to, double flush_below) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(from, to);
  double most = 0;
  for (int i = 0; i < 40000; ++i) {
    float x = uniform(random);
    if (i % 4 == 0) x *= std::exp2(-static_cast<float>(i / 4 % 60));
    const double wanted = exact(x);
    const float result = run<fused>(op, x);
    if (std::fabs(wanted) < flush_below && result == 0) continue;
    most = std::fmax(most, ulps(result, wanted));
  }
  return most;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Case {
  Op op;
  double (*exact)(double);
  float from, to;
  double flush_below;
};

TEST(Decompose, StaysWithinFourUlp) {
  // Exp gives 0 below 2^-125.5, Sigmoid where e^-x overflows.
  const Case cases[] = {
      {Op::Exp, std::exp, -100, 100, 1.7e-38},
      {Op::Exp, std::exp, -2, 2, 0},
      {Op::Log, std::log, 0, 4, 0},
      {Op::Log, std::log, 0, 3e38f, 0},
      {Op::Log, std::log, 0, 1e-37f, 0},
      {Op::Tanh, std::tanh, -12, 12, 0},
      {Op::Tanh, std::tanh, -1, 1, 0},
      {Op::Sigmoid, sigmoid, -87, 87, 0},
      {Op::Sigmoid, sigmoid, -8, 8, 0},
  };
  for (const Case& c : cases) {
    const double plain = worst<false>(c.op, c.exact, c.from, c.to, c.flush_below);
    const double fused = worst<true>(c.op, c.exact, c.from, c.to, c.flush_below);
    EXPECT_LE(plain, 4) << info(c.op).text << " over " << c.from << " … " << c.to;
    EXPECT_LE(fused, 4) << info(c.op).text << " over " << c.from << " … " << c.to;
    RecordProperty(std::string(info(c.op).text), std::to_string(plain));
  }
}

template <bool fused>
void check_special_values() {
  EXPECT_EQ(run<fused>(Op::Exp, kInfinity), kInfinity);
  EXPECT_EQ(run<fused>(Op::Exp, 88.8f), kInfinity);
  EXPECT_EQ(run<fused>(Op::Exp, 3e38f), kInfinity);
  EXPECT_LT(run<fused>(Op::Exp, 88.72283f), kInfinity);
  EXPECT_EQ(run<fused>(Op::Exp, -kInfinity), 0);
  EXPECT_EQ(run<fused>(Op::Exp, -3e38f), 0);
  EXPECT_EQ(run<fused>(Op::Exp, 0), 1);
  EXPECT_EQ(run<fused>(Op::Exp, -0.0f), 1);
  EXPECT_EQ(run<fused>(Op::Log, 0), -kInfinity);
  EXPECT_EQ(run<fused>(Op::Log, -0.0f), -kInfinity);
  EXPECT_EQ(run<fused>(Op::Log, kInfinity), kInfinity);
  EXPECT_EQ(run<fused>(Op::Log, 1), 0);
  EXPECT_LE(ulps(run<fused>(Op::Log, 1e-45f), std::log(double{1e-45f})), 4);
  EXPECT_LE(ulps(run<fused>(Op::Log, kLeastNormal), std::log(double{kLeastNormal})), 4);
  EXPECT_TRUE(std::isnan(run<fused>(Op::Log, -1)));
  EXPECT_TRUE(std::isnan(run<fused>(Op::Log, -kInfinity)));
  EXPECT_EQ(run<fused>(Op::Tanh, kInfinity), 1);
  EXPECT_EQ(run<fused>(Op::Tanh, -kInfinity), -1);
  EXPECT_EQ(run<fused>(Op::Tanh, 0), 0);
  EXPECT_EQ(run<fused>(Op::Tanh, 1e-30f), 1e-30f);
  EXPECT_EQ(run<fused>(Op::Sigmoid, kInfinity), 1);
  EXPECT_EQ(run<fused>(Op::Sigmoid, -kInfinity), 0);
  EXPECT_EQ(run<fused>(Op::Sigmoid, 0), 0.5f);
  for (Op op : {Op::Exp, Op::Log, Op::Tanh, Op::Sigmoid}) {
    EXPECT_TRUE(std::isnan(run<fused>(op, NAN))) << info(op).text;
  }
}

TEST(Decompose, SpecialValues) {
  check_special_values<false>();
  check_special_values<true>();
}

}  // namespace
}  // namespace lathe::scalar
