// Values, gradients and errors of products with weights of few bits.
#include "lathe/ops/linalg/quantized.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;
using graph::Shape;

Tensor bytes(Builder& b, DType dtype, Shape shape, std::vector<int> values) {
  std::vector<std::byte> data;
  for (const int value : values) data.push_back(static_cast<std::byte>(value));
  return b.constant(dtype, std::move(shape), std::move(data));
}

Tensor floats(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::F32, std::move(shape));
}

// Two columns of four numbers in blocks of two.
Tensor two_columns(Builder& b) { return bytes(b, DType::U8, {2, 2, 1}, {0x92, 0x58, 0xf0, 0x37}); }

Tensor six_numbers(Builder& b) { return bytes(b, DType::I8, {2, 3}, {1, 2, 3, -1, -2, -3}); }

TEST(Quantized, ProductOfFourBits) {
  const Inputs inputs = {{"x", Array::of({1, 4}, Floats{1, 10, 100, 1000})},
                         {"s", Array::of({2, 2}, Floats{1, 2, 0.5f, 1})}};
  // 2 - 8, 9 - 8 | 8 - 8, 5 - 8 and 0 - 8, 15 - 8 | 7 - 8, 3 - 8.
  expect_near(run(
                  [](Builder& b) {
                    return mat_mul_nbits(floats(b, "x", {1, 4}), two_columns(b),
                                         floats(b, "s", {2, 2}), {}, {2, 4, 2});
                  },
                  inputs),
              {-6 + 10 + 2 * -3000, 0.5f * (-8 + 70) - 100 - 5000});
}

TEST(Quantized, ProductWithZeroPointsAndATail) {
  const Inputs inputs = {{"x", Array::of({3}, Floats{1, 10, 100})},
                         {"s", Array::of({4}, Floats{1, 2, 0.5f, 1})},
                         {"z", Array::of({2, 2}, Floats{1, 5, 0, 7})}};
  // Zero points 1, 5 | 0, 7; the last number of each column is beyond x.
  const Floats expected = {1 + 80 + 2 * 300, 0.5f * 150};
  expect_near(run(
                  [](Builder& b) {
                    return mat_mul_nbits(floats(b, "x", {3}), two_columns(b), floats(b, "s", {4}),
                                         bytes(b, DType::U8, {2, 1}, {0x51, 0x70}), {2, 4, 2});
                  },
                  inputs),
              expected);
  expect_near(run(
                  [](Builder& b) {
                    return mat_mul_nbits(floats(b, "x", {3}), two_columns(b), floats(b, "s", {4}),
                                         floats(b, "z", {2, 2}), {2, 4, 2});
                  },
                  inputs),
              expected);
}

TEST(Quantized, ProductOfEightAndTwoBits) {
  const Inputs inputs = {{"x", Array::of({1, 4}, Floats{1, 10, 100, 1000})},
                         {"s", Array::of({1}, Floats{0.5f})}};
  expect_near(run(
                  [](Builder& b) {
                    return mat_mul_nbits(floats(b, "x", {1, 4}),
                                         bytes(b, DType::U8, {1, 1, 4}, {130, 127, 0, 128}),
                                         floats(b, "s", {1}), {}, {1, 8, 4});
                  },
                  inputs),
              {0.5f * (2 - 10 - 12800)});
  expect_near(run(
                  [](Builder& b) {
                    return mat_mul_nbits(floats(b, "x", {1, 4}),
                                         bytes(b, DType::U8, {1, 1, 1}, {0b11'10'01'00}),
                                         floats(b, "s", {1}), {}, {1, 2, 4});
                  },
                  inputs),
              {0.5f * (-2 - 10 + 1000)});
}

TEST(Quantized, GradientOfTheRows) {
  grad::check_gradients("nbits", [](Builder& b) {
    return mat_mul_nbits(floats(b, "x", {3, 4}), two_columns(b), floats(b, "s", {2, 2}), {},
                         {2, 4, 2});
  });
}

TEST(Quantized, UnpacksSigns) {
  const auto unpacked = [](Builder& b) {
    return unpack_bits(bytes(b, DType::U8, {1, 2}, {0x8f, 0x71}), 4, true);
  };
  expect_near(run(unpacked, {}), {-1, -8, 1, 7});
}

TEST(Quantized, DequantizesByTensorAxisAndBlock) {
  const Inputs inputs = {{"one", Array::of({}, Floats{2})},
                         {"two", Array::of({2}, Floats{1, 3})},
                         {"blocks", Array::of({2, 2}, Floats{1, 2, 3, 4})}};
  expect_near(
      run([](Builder& b) { return dequantize(six_numbers(b), floats(b, "one", {}), {}, 1); },
          inputs),
      {2, 4, 6, -2, -4, -6});
  expect_near(run(
                  [](Builder& b) {
                    return dequantize(six_numbers(b), floats(b, "two", {2}),
                                      bytes(b, DType::I8, {2}, {1, -1}), 0);
                  },
                  inputs),
              {0, 1, 2, 0, -3, -6});
  // The last block is shorter.
  expect_near(run(
                  [](Builder& b) {
                    return dequantize(six_numbers(b), floats(b, "blocks", {2, 2}), {}, -1, 2);
                  },
                  inputs),
              {1, 2, 6, -3, -6, -12});
  expect_near(run(
                  [](Builder& b) {
                    return dequantize(bytes(b, DType::U8, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
                                      floats(b, "blocks", {2, 2}),
                                      bytes(b, DType::U8, {2, 2}, {0, 1, 2, 3}), 1, 2);
                  },
                  inputs),
              {1, 2, 4, 6, 9, 12, 16, 20});
}

TEST(Quantized, GathersBlocks) {
  const Inputs inputs = {{"i", Array::of({2}, Ints{1, 0})},
                         {"s", Array::of({2, 2}, Floats{1, 2, 0.5f, 1})}};
  expect_near(run(
                  [](Builder& b) {
                    const Tensor data = bytes(b, DType::U8, {2, 2}, {0x92, 0x58, 0xf0, 0x37});
                    return gather_block_quantized(data, b.input("i", DType::I32, {2}),
                                                  floats(b, "s", {2, 2}), {}, {4, 2, 0, -1});
                  },
                  inputs),
              {-4, 3.5f, -1, -5, -6, 1, 0, -6});
  expect_near(run(
                  [](Builder& b) {
                    const Tensor data = bytes(b, DType::U8, {2, 2}, {0x92, 0x58, 0xf0, 0x37});
                    return gather_block_quantized(
                        data, b.input("i", DType::I32, {2}), floats(b, "s", {2, 2}),
                        bytes(b, DType::U8, {2, 1}, {0x51, 0x70}), {4, 2, 0, -1});
                  },
                  inputs),
              {0, 7.5f, 0, -4, 1, 8, 6, 0});
}

TEST(Quantized, ProductOfIntegers) {
  expect_near(run(
                  [](Builder& b) {
                    return mat_mul_integer(bytes(b, DType::U8, {2, 2}, {200, 1, 3, 4}),
                                           bytes(b, DType::I8, {2, 2}, {1, -2, 3, 4}),
                                           bytes(b, DType::U8, {2}, {100, 2}),
                                           bytes(b, DType::I8, {2}, {1, -1}));
                  },
                  {}),
              {100 * 0 - 99 * 2, 100 * -1 - 99 * 5, 1 * 0 + 2 * 2, -1 + 2 * 5});
}

template <int kPart>
Tensor dynamic_part(Builder& b) {
  const auto [y, scale, zero] = dynamic_quantize(floats(b, "x", {3}));
  return kPart == 0 ? y : kPart == 1 ? scale : zero;
}

TEST(Quantized, QuantizesByTheRange) {
  const Inputs inputs = {{"x", Array::of({3}, Floats{-1, 0.5f, 1.55f})}};
  expect_near(run(dynamic_part<0>, inputs), {0, 150, 255});
  expect_near(run(dynamic_part<1>, inputs), {0.01f});
  expect_near(run(dynamic_part<2>, inputs), {100});
  expect_near(run(dynamic_part<0>, {{"x", Array::of({3}, Floats{0, 0, 0})}}), {0, 0, 0});
}

TEST(QuantizedErrors, NameShapes) {
  EXPECT_EQ(message_of([](Builder& b) {
              return mat_mul_nbits(floats(b, "x", {3, 4}), floats(b, "w", {3, 4}),
                                   floats(b, "s", {2, 2}), {}, {2, 4, 2});
            }),
            "mat_mul_nbits: packed f32[3,4] for x f32[3,4] should be u8[2,2,1]");
  EXPECT_EQ(message_of([](Builder& b) {
              return mat_mul_nbits(floats(b, "x", {3, 4}), two_columns(b), floats(b, "s", {2, 3}),
                                   {}, {2, 4, 2});
            }),
            "mat_mul_nbits: scales f32[2,3] for x f32[3,4] should be floats [2,2]");
  EXPECT_EQ(
      message_of([](Builder& b) {
        return mat_mul_nbits(floats(b, "x", {3, 4}), two_columns(b), floats(b, "s", {2, 2}), {},
                             {2, 3, 2});
      }),
      "mat_mul_nbits: 3 bits in blocks of 2 for 2 columns: expected 2, 4 or 8 bits, blocks of "
      "complete bytes, and columns");
  EXPECT_EQ(
      message_of([](Builder& b) { return dequantize(two_columns(b), floats(b, "s", {3}), {}, 0); }),
      "dequantize: q u8[2,2,1] by scale f32[3] along axis 0 in blocks of 0: expected integers "
      "and floats per tensor, per axis or per block");
  EXPECT_EQ(message_of([](Builder& b) {
              return mat_mul_integer(floats(b, "x", {2, 2}), floats(b, "y", {2, 2}), {}, {});
            }),
            "mat_mul_integer: f32[2,2] and f32[2,2]: expected i8 or u8 matrices and zero points of "
            "these types, one for all, for each row of the first or each column of the second");
}

}  // namespace
}  // namespace lathe::ops
