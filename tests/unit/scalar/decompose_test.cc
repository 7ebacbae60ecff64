// The EXPAND column against the MEANS column in double precision: every expanded row stays
// within the accuracy that it states, and has the same NaN.
#include "lathe/scalar/decompose.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "lathe/scalar/expand_float16.h"

namespace lathe::scalar::decompose_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLeastNormal = std::numeric_limits<float>::min();
constexpr float kLeast = std::numeric_limits<float>::denorm_min();

// A number whose operations are the rows of the table; mul_add rounds once or twice.
template <bool fused>
struct Num {
  Number number;
  Num like(Number value) const { return {value}; }
  Num like(float value) const { return {Number::of(value)}; }
  Num like_i32(int32_t value) const { return {Number::of(value)}; }
  DType dtype() const { return number.dtype; }
};

template <bool fused, class... Rest>
Num<fused> apply(Op op, Num<fused> x, Rest... rest) {
  const Number operands[] = {x.number, rest.number...};
  if constexpr (fused && sizeof...(rest) == 2) {
    if (op == Op::MulAdd) {
      return {Number::of(std::fma(operands[0].f, operands[1].f, operands[2].f))};
    }
  }
  return {evaluate(op, operands)};
}
template <bool fused>
Num<fused> cast(Num<fused> x, DType dtype) {
  return {scalar::cast(x.number, dtype)};
}

template <bool fused>
Number run(Op op, Number x, Number y) {
  return decompose(op, Num<fused>{x}, Num<fused>{y})->number;
}
template <bool fused>
float run(Op op, float x, float y = 0) {
  return run<fused>(op, Number::of(x), Number::of(y)).f;
}

// The rows, with what they mean in double precision.
namespace exact {

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cos,
    std::cosh, std::erf, std::exp, std::expm1, std::isfinite, std::isinf, std::isnan, std::log,
    std::log1p, std::pow, std::sin, std::sinh, std::tan, std::tanh;

double angle(double x) { return x; }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double mod(double x, double y) {
  const double truncated = std::fmod(x, y);
  return truncated != 0 && (truncated < 0) != (y < 0) ? truncated + y : truncated;
}
// Below any number is -1, not -0.
double floor_div(double x, double y) {
  const double quotient = std::floor(x / y);
  const bool across = std::isinf(y) && std::isfinite(x) && x != 0 && (x < 0) != (y < 0);
  return across ? -1 : quotient;
}

template <bool expanded, class Means>
auto of([[maybe_unused]] Means means) -> double (*)(double, double) {
  if constexpr (expanded) {
    static constexpr Means kMeans;
    return [](double x, double y) { return static_cast<double>(kMeans(x, y, y)); };
  }
  return nullptr;
}

struct Row {
  Op op;
  double (*means)(double, double);
  double ulps, lowest, highest;
};

constexpr double infinity = std::numeric_limits<double>::infinity();
#define WITHIN(...) __VA_ARGS__
#define EXACT 0, -infinity, infinity
#define EXPAND(...) #__VA_ARGS__
#define MEANS(...) __VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, ...)                                                            \
  {Op::name_,                                                                                    \
   of < std::string_view(expand_) != "NONE" &&                                                   \
       accepts(Signature::signature_, DType::F32) >                                              \
           ([]([[maybe_unused]] auto x, [[maybe_unused]] auto y, [[maybe_unused]] auto z) {      \
             return means_;                                                                      \
           }),                                                                                   \
   accuracy_},
const Row kRows[] = {
#include "lathe/scalar/ops.def"
};
#undef WITHIN
#undef EXACT
#undef EXPAND
#undef MEANS

}  // namespace exact

// |result - expected| in ulps of the f32 nearest to `expected`.
double ulps(float result, double expected) {
  const float nearest = static_cast<float>(expected);
  if (result == nearest || (std::isnan(result) && std::isnan(nearest))) return 0;
  if (std::isnan(result) || std::isnan(nearest)) return kInfinity;
  // One ulp beyond the maximum is infinity.
  const double size = std::fmin(std::fabs(nearest), std::numeric_limits<float>::max());
  const double step = size - std::nextafter(static_cast<float>(size), 0.0f);
  const double bounded = std::fmax(-0x1p128, std::fmin(0x1p128, result));
  return std::fabs(bounded - expected) / std::fmax(step, kLeast);
}

// Zeros, infinities, NaN, bounds, and samples of every exponent with both signs.
std::vector<float> samples(int per_exponent) {
  std::vector<float> values = {
      0,         1,      0.5f,          2,         3,           2.5f,
      kInfinity, NAN,    kLeast,        88.72283f, 88.8f,       89.41598f,
      89.5f,     103.9f, kLargestAngle, 1048577,   1.57079637f, 0.5000001f,
      16777215,  3e38f,  kLeastNormal,  7,         0.70710677f, 1.41421354f};
  std::mt19937 random(7);
  for (uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (int i = 0; i < per_exponent; ++i) {
      values.push_back(
          std::bit_cast<float>((exponent << 23) | static_cast<uint32_t>(random() >> 9)));
    }
  }
  for (size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
  return values;
}

template <bool fused>
void check(const exact::Row& row, float x, float y, double& worst) {
  const Number operands[] = {Number::of(x), Number::of(y)};
  const Number number = run<fused>(row.op, operands[0], operands[1]);
  const float result = static_cast<float>(number.as_double());
  const double expected = row.means(x, y);
  const float meant = static_cast<float>(evaluate(row.op, operands).as_double());
  EXPECT_EQ(std::isnan(meant), std::isnan(expected)) << info(row.op).text << ' ' << x << ' ' << y;
  EXPECT_EQ(std::isnan(result), std::isnan(expected)) << info(row.op).text << ' ' << x << ' ' << y;
  if (std::fabs(expected) < kLeastNormal && result == 0) return;
  const double error = ulps(result, expected);
  if (!(x >= row.lowest && x <= row.highest)) return;
  EXPECT_LE(error, row.ulps) << info(row.op).text << '(' << x << ", " << y << ") is " << expected
                             << ", got " << result;
  worst = std::fmax(worst, error);
}

template <bool fused>
void check_row(const exact::Row& row) {
  double worst = 0;
  if (info(row.op).arity == 1) {
    for (const float x : samples(200)) check<fused>(row, x, x, worst);
  } else {
    const std::vector<float> few = samples(0);
    for (const float x : few) {
      for (const float y : few) check<fused>(row, x, y, worst);
    }
    std::mt19937 random(5);
    const auto any = [&] { return std::bit_cast<float>(static_cast<uint32_t>(random())); };
    const auto within = [&](double low, double high) {
      return static_cast<float>(low + (high - low) * (random() / 4294967296.0));
    };
    for (int i = 0; i < 20000; ++i) {
      check<fused>(row, any(), any(), worst);
      check<fused>(row, within(-1000, 1000), within(-9, 9), worst);
      check<fused>(row, within(-30, 30), std::floor(within(-20, 20)), worst);
      // Powers up to the largest and smallest number.
      const float x = within(0.5, 2);
      check<fused>(row, x, static_cast<float>(within(-126, 128) / std::log2(double{x})), worst);
    }
  }
  testing::Test::RecordProperty(std::string(info(row.op).text), std::to_string(worst));
}

TEST(Decompose, EveryExpansionIsAsAccurateAsItsRowStates) {
  int rows = 0, expanded = 0;
  for (int i = 0; i < kOpCount; ++i) expanded += info(static_cast<Op>(i)).expanded ? 1 : 0;
  for (const exact::Row& row : exact::kRows) {
    if (row.means == nullptr) continue;
    check_row<false>(row);
    check_row<true>(row);
    ++rows;
  }
  EXPECT_EQ(rows, expanded);
}

TEST(Decompose, ExpandsOnlyRowsWithAnExpansion) {
  const Num<false> x{Number::of(1.0f)};
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (!accepts(info(op).signature, DType::F32)) continue;
    EXPECT_EQ(decompose(op, x, x).has_value(), info(op).expanded) << info(op).text;
  }
}

TEST(Decompose, IntegersAreExact) {
  std::vector<int32_t> values = {0, 1, -1, 2, -2, 3, -7, 46341, -65537, 16777217};
  for (const int32_t edge : {INT32_MAX, INT32_MIN}) {
    for (int32_t i = 0; i < 3; ++i) values.push_back(edge > 0 ? edge - i : edge + i);
  }
  std::mt19937 random(3);
  for (int i = 0; i < 120; ++i) {
    values.push_back(static_cast<int32_t>(random()) >> (random() % 32));
  }
  for (const Op op : {Op::Sign, Op::Mod, Op::FloorDiv}) {
    for (const int32_t x : values) {
      for (const int32_t y : values) {
        const Number operands[] = {Number::of(x), Number::of(y)};
        const Number expected = evaluate(op, operands);
        ASSERT_TRUE(run<false>(op, operands[0], operands[1]).same_bits(expected))
            << info(op).text << '(' << x << ", " << y << ") is " << expected.i;
      }
    }
  }
}

TEST(Decompose, LongerIntegersAreExact) {
  std::mt19937_64 random(5);
  for (const DType dtype : {DType::U32, DType::I64, DType::U64}) {
    std::vector<Number> values = {Number::lowest(dtype), Number::highest(dtype)};
    for (int64_t i = -3; i < 4; ++i) values.push_back(Number::integer(dtype, i));
    for (int i = 0; i < 60; ++i) {
      const auto bits = static_cast<int64_t>(random());
      values.push_back(Number::integer(dtype, bits >> (random() % 64)));
    }
    for (const Op op : {Op::Sign, Op::Mod, Op::FloorDiv}) {
      for (const Number& x : values) {
        for (const Number& y : values) {
          const Number operands[] = {x, y};
          const Number expected = evaluate(op, operands);
          ASSERT_TRUE(run<false>(op, x, y).same_bits(expected))
              << info(op).text << ' ' << text(dtype) << " (" << x.i << ", " << y.i << ") is "
              << expected.i;
        }
      }
    }
  }
}

// Equal to scalar::cast, for all float16 and bfloat16 values and around the midpoints between them.
TEST(Decompose, Float16MatchesCastBitForBit) {
  using expand::bhalf_of_f32, expand::f32_of_bhalf, expand::f32_of_half, expand::half_of_f32;
  for (int32_t bits = 0; bits < 65536; ++bits) {
    const Num<false> bits16{Number::of(bits)};
    for (const DType dtype : {DType::F16, DType::BF16}) {
      const Number half = Number::from_bits(dtype, static_cast<uint64_t>(bits));
      const Number value =
          (dtype == DType::F16 ? f32_of_half(bits16) : f32_of_bhalf(bits16)).number;
      const bool is_nan = std::isnan(half.f);
      ASSERT_TRUE(is_nan ? std::isnan(value.f) : value.same_bits(Number::of(half.f))) << bits;
      const float next = std::nextafter(half.f, kInfinity), far = half.f * 1.0007f;
      for (const float x : {half.f, next, far, (half.f + next) / 2, half.f * 1.00048828125f}) {
        const Num<false> number{Number::of(x)};
        const Number got =
            (dtype == DType::F16 ? half_of_f32(number) : bhalf_of_f32(number)).number;
        const auto expected = static_cast<int64_t>(cast(Number::of(x), dtype).bits());
        ASSERT_EQ(got.i, expected) << x << ' ' << text(dtype);
      }
    }
  }
}

TEST(Decompose, LongFloatsAreRoundedToOdd) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::bit_cast<double>(random());
    const float got = expand::odd_f32(Num<false>{Number::of(x)}).number.f;
    const float expected = odd_f32(x);
    ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected))) << x;
  }
  EXPECT_EQ(expand::odd_f32(Num<false>{Number::of(1e300)}).number.f,
            std::numeric_limits<float>::max());
}

template <bool fused>
void check_special_values() {
  EXPECT_EQ(run<fused>(Op::Exp, 88.8f), kInfinity);
  EXPECT_LT(run<fused>(Op::Exp, 88.72283f), kInfinity);
  EXPECT_EQ(run<fused>(Op::Exp, -kInfinity), 0);
  EXPECT_EQ(run<fused>(Op::Exp, -0.0f), 1);
  EXPECT_EQ(run<fused>(Op::Log, -0.0f), -kInfinity);
  EXPECT_EQ(run<fused>(Op::Log, 1), 0);
  EXPECT_EQ(run<fused>(Op::Tanh, 1e-30f), 1e-30f);
  EXPECT_EQ(run<fused>(Op::Sigmoid, -kInfinity), 0);
  EXPECT_LT(run<fused>(Op::Sinh, 89.41598f), kInfinity);
  EXPECT_EQ(run<fused>(Op::Pow, 0, 0), 1);
  EXPECT_EQ(run<fused>(Op::Pow, NAN, 0), 1);
  EXPECT_EQ(run<fused>(Op::Pow, 1, NAN), 1);
  EXPECT_EQ(run<fused>(Op::Pow, -1, kInfinity), 1);
  EXPECT_EQ(run<fused>(Op::Pow, -2, 3), -8);
  EXPECT_EQ(run<fused>(Op::Pow, -0.0f, -3), -kInfinity);
  EXPECT_EQ(run<fused>(Op::Mod, -1, 3), 2);
  EXPECT_EQ(run<fused>(Op::Mod, 1, -3), -2);
  EXPECT_EQ(run<fused>(Op::Mod, -1, kInfinity), kInfinity);
  EXPECT_EQ(run<fused>(Op::FloorDiv, -1, 3), -1);
  EXPECT_EQ(run<fused>(Op::FloorDiv, -1, kInfinity), -1);
  EXPECT_EQ(run<fused>(Op::FloorDiv, 1, 0), kInfinity);
  EXPECT_TRUE(std::isnan(run<fused>(Op::Mod, 1, 0)));
  EXPECT_TRUE(std::isnan(run<fused>(Op::Mod, kInfinity, 3)));
  EXPECT_EQ(run<fused>(Op::Mod, 1e15f, 3), 2);
  EXPECT_EQ(run<fused>(Op::Mod, 3e38f, kLeast * 3), std::fmod(3e38f, kLeast * 3));
  EXPECT_EQ(run<fused>(Op::Mod, -5, 3e38f), 3e38f);
  EXPECT_TRUE(std::isnan(run<fused>(Op::Sin, kInfinity)));
  EXPECT_TRUE(std::isnan(run<fused>(Op::Sign, NAN)));
}

TEST(Decompose, SpecialValues) {
  check_special_values<false>();
  check_special_values<true>();
}

// Odd functions preserve the sign of zero; atan2 of two zeros depends on both signs.
TEST(Decompose, ZerosPreserveTheirSign) {
  for (const Op op : {Op::Sin, Op::Tan, Op::Asin, Op::Atan, Op::Sinh, Op::Asinh, Op::Atanh, Op::Erf,
                      Op::Log1p, Op::Sign}) {
    EXPECT_TRUE(std::signbit(run<false>(op, -0.0f))) << info(op).text;
    EXPECT_FALSE(std::signbit(run<false>(op, 0.0f))) << info(op).text;
  }
  for (const float y : {0.0f, -0.0f}) {
    for (const float x : {0.0f, -0.0f, 1.0f, -1.0f}) {
      const float got = run<false>(Op::Atan2, y, x);
      EXPECT_NEAR(got, std::atan2(y, x), 1e-6);
      EXPECT_EQ(std::signbit(got), std::signbit(y));
    }
  }
}

}  // namespace
}  // namespace lathe::scalar::decompose_test
