// Quantized operators of com.microsoft, which have no published test cases, compared with
// dequantized arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "operate.h"

namespace lathe::onnx {
namespace {

constexpr const char* kContrib = "com.microsoft";

Value byte(double value) { return typed(Type::UInt8, {}, {value}); }
Value bytes(Shape shape, const Numbers& values) {
  return typed(Type::UInt8, std::move(shape), values);
}
Value number(double value) { return floats({}, {value}); }

double stored(double value, double scale, double zero) {
  return std::clamp(std::nearbyint(value / scale) + zero, 0.0, 255.0);
}

// Of numbers (x - 3) / 4 and (y - 100) / 8 as stored: results are of scale 1 / 2 and zero point 10.
struct Pair {
  Numbers x{0, 3, 200, 255, 7, 90}, y{100, 0, 255, 116, 92, 101};
  Value first = bytes({2, 3}, x), second = bytes({2, 3}, y);

  double left(size_t k) const { return (x[k] - 3) / 4; }
  double right(size_t k) const { return (y[k] - 100) / 8; }
  template <class Of>
  Numbers results(Of of) const {
    Numbers all;
    for (size_t k = 0; k < x.size(); ++k) all.push_back(stored(of(k), 0.5, 10));
    return all;
  }
};

TEST(Quantized, SumsProductsAndFunctions) {
  const Pair p;
  const std::vector<Value> both{p.first,       number(0.25), byte(3),     p.second,
                                number(0.125), byte(100),    number(0.5), byte(10)};
  expect_near(numbers_of(Node("QLinearAdd", 1, kContrib), both),
              p.results([&](size_t k) { return p.left(k) + p.right(k); }));
  expect_near(numbers_of(Node("QLinearMul", 1, kContrib), both),
              p.results([&](size_t k) { return p.left(k) * p.right(k); }));
  const std::vector<Value> one{p.first, number(0.25), byte(3), number(0.5), byte(10)};
  expect_near(numbers_of(Node("QLinearSigmoid", 1, kContrib), one),
              p.results([&](size_t k) { return 1 / (1 + std::exp(-p.left(k))); }));
  Node leaky("QLinearLeakyRelu", 1, kContrib);
  leaky.with("alpha", 0.5f);
  expect_near(numbers_of(leaky, one),
              p.results([&](size_t k) { return p.left(k) < 0 ? p.left(k) / 2 : p.left(k); }));
}

TEST(Quantized, ConcatenatedAtOneScale) {
  const Pair p;
  Node join("QLinearConcat", 1, kContrib);
  join.with("axis", int64_t{0});
  Numbers expected = p.results([&](size_t k) { return p.left(k); });
  const Numbers rest = p.results([&](size_t k) { return p.right(k); });
  expected.insert(expected.end(), rest.begin(), rest.end());
  expect_near(numbers_of(join, {number(0.5), byte(10), p.first, number(0.25), byte(3), p.second,
                                number(0.125), byte(100)}),
              expected);
}

// Rows [2, 3] by columns [2, 3]^T.
TEST(Quantized, Products) {
  const Pair p;
  Numbers product;
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 2; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += p.left(3 * i + k) * p.right(3 * j + k);
      product.push_back(sum);
    }
  Node gemm("QGemm", 1, kContrib);
  gemm.with("transB", int64_t{1});
  expect_near(
      numbers_of(gemm, {p.first, number(0.25), byte(3), p.second, number(0.125), byte(100)}),
      product);
  const Value columns = bytes({3, 2}, {100, 116, 0, 92, 255, 101});
  expect_near(numbers_of(Node("MatMulIntegerToFloat", 1, kContrib),
                         {p.first, columns, number(0.25), floats({2}, {0.125, 0.125}), byte(3),
                          bytes({2}, {100, 100}), floats({2}, {1, -1})}),
              {product[0] + 1, product[1] - 1, product[2] + 1, product[3] - 1});
}

// The rounding of the rows has little effect.
TEST(Quantized, ProductsOfFloats) {
  const Numbers x{0.5, -1, 2, 0.25, 1, -0.75};
  const Value weights = bytes({3, 2}, {100, 116, 0, 92, 255, 101});
  Numbers expected;
  const Numbers w{100, 116, 0, 92, 255, 101};
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 2; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += x[3 * i + k] * (w[2 * k + j] - 100) / 8;
      expected.push_back(sum);
    }
  const Numbers got = numbers_of(Node("DynamicQuantizeMatMul", 1, kContrib),
                                 {floats({2, 3}, x), weights, number(0.125), byte(100)});
  ASSERT_EQ(got.size(), 4u);
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(got[k], expected[k], 0.3) << k;
}

TEST(Quantized, PoolsAndRows) {
  const Pair p;
  const Value image = bytes({1, 2, 1, 3}, p.x);
  const auto mean = [&](size_t row) {
    return (p.left(3 * row) + p.left(3 * row + 1) + p.left(3 * row + 2)) / 3;
  };
  const Numbers means{stored(mean(0), 0.5, 10), stored(mean(1), 0.5, 10)};
  const std::vector<Value> one{image, number(0.25), byte(3), number(0.5), byte(10)};
  expect_near(numbers_of(Node("QLinearGlobalAveragePool", 1, kContrib), one), means);
  Node pool("QLinearAveragePool", 1, kContrib);
  pool.with("kernel_shape", std::vector<int64_t>{1, 3});
  expect_near(numbers_of(pool, one), means);
  Numbers shares;
  for (size_t row = 0; row < 2; ++row) {
    double total = 0;
    for (size_t k = 0; k < 3; ++k) total += std::exp(p.left(3 * row + k));
    for (size_t k = 0; k < 3; ++k) {
      shares.push_back(stored(std::exp(p.left(3 * row + k)) / total, 1.0 / 256, 0));
    }
  }
  expect_near(numbers_of(Node("QLinearSoftmax", 1, kContrib),
                         {p.first, number(0.25), byte(3), number(1.0 / 256), byte(0)}),
              shares);
}

TEST(QuantisedErrors, NameTheScale) {
  EXPECT_EQ(message_of(Node("DequantizeLinear", 21),
                       {bytes({2, 3}, Numbers(6)), floats({2}, {1, 1}), bytes({2}, {0, 0})}),
            "DequantizeLinear: a scale or zero point [2] is not one number or 3, for axis 1 of x "
            "[2,3]");
}

}  // namespace
}  // namespace lathe::onnx
