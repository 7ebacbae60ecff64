// Products with weights of few bits in blocks, whose constants compilers pack as they like.
#include "cases.h"
#include "lathe/ops/linalg/quantized.h"

namespace lathe::ops_tests {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;

namespace {

Tensor noise(Builder& b, Shape shape, uint32_t seed, DType dtype = DType::U8) {
  std::vector<std::byte> data(static_cast<size_t>(graph::element_count(shape)));
  for (std::byte& each : data) {
    seed = seed * 1664525 + 1013904223;
    each = static_cast<std::byte>(seed >> 24);
  }
  return b.constant(dtype, std::move(shape), std::move(data));
}

// From 1/16 to 1, of the type, constant at compile time.
Tensor scales_like(Builder& b, DType dtype, Shape shape) {
  std::vector<std::byte> data;
  for (int64_t i = 0; i < graph::element_count(shape); ++i) {
    const auto bits = scalar::Number::from(dtype, static_cast<float>(i % 16 + 1) / 16).bits();
    for (int byte = 0; byte < scalar::size_of(dtype); ++byte) {
      data.push_back(static_cast<std::byte>(bits >> 8 * byte));
    }
  }
  return b.constant(dtype, std::move(shape), std::move(data));
}

enum class Zeros { None, Packed, Floats };

struct Sizes {
  int64_t rows, depth, columns;
  int bits;
  int64_t block;
  Zeros zeros = Zeros::None;
  DType scales = DType::F32;
  bool constant = true;  // weights and scales
};

template <Sizes kSizes>
void nbits(Builder& b) {
  const auto& [rows, depth, columns, bits, block, zeros, scales, constant] = kSizes;
  const int64_t blocks = (depth + block - 1) / block, bytes = block * bits / 8;
  const Tensor x = b.input("x", DType::F32, {rows, depth});
  Tensor zero;
  if (zeros == Zeros::Packed) zero = noise(b, {columns, (blocks * bits + 7) / 8}, 5);
  if (zeros == Zeros::Floats) zero = scales_like(b, DType::F32, {columns, blocks}) * 8.0f;
  const Tensor w =
      constant ? noise(b, {columns, blocks, bytes}, 3)
               : b.cast(b.input("w", DType::I32, {columns, blocks, bytes}) * 83.0f, DType::U8);
  const Tensor scale = constant ? scales_like(b, scales, {columns, blocks})
                                : b.input("s", scales, {columns, blocks});
  // So small that what rounds x to 16 bits counts like what rounds floats.
  const float size = 0.02f / static_cast<float>(1 << bits);
  b.output("y", size * ops::mat_mul_nbits(x, w, scale, zero, {columns, bits, block}));
}

// Weights that are dequantized by column, as bytes [depth, columns].
template <int kRows, DType kType, bool kTransposed>
void by_channel(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {kRows, 96});
  const Tensor q = noise(b, kTransposed ? Shape{72, 96} : Shape{96, 72}, 3, kType);
  const Tensor w = ops::dequantize(q, scales_like(b, DType::F32, {72}), {}, kTransposed ? 0 : 1);
  b.output("y", 0.00002f * b.matmul(x, w, false, kTransposed));
}

// Enough float16 weights, of both signs and below 2, that they stay float16.
template <int kRows, bool kTransposed, int kColumns = 272, DType kType = DType::F16>
void float16(Builder& b) {
  std::vector<std::byte> data;
  uint32_t seed = 7;
  for (int i = 0; i < 272 * kColumns; ++i) {
    seed = seed * 1664525 + 1013904223;
    data.push_back(static_cast<std::byte>(seed >> 16));
    data.push_back(static_cast<std::byte>(seed >> 24 & 0xbf));
  }
  const Shape shape = kTransposed ? Shape{kColumns, 272} : Shape{272, kColumns};
  const Tensor w = b.cast(b.constant(kType, shape, std::move(data)), DType::F32);
  b.output("y", 0.02f * b.matmul(b.input("x", DType::F32, {kRows, 272}), w, false, kTransposed));
}

void dynamically(Builder& b) {
  const auto [x, scale, zero] = ops::dynamic_quantize(b.input("x", DType::F32, {3, 40}));
  const Tensor w = noise(b, {40, 36}, 3);
  const Tensor product = ops::mat_mul_integer(x, w, zero, noise(b, {36}, 4));
  b.output("y", b.cast(product, DType::F32) * scale * 0.01f);
}

void gathered_blocks(Builder& b) {
  const Tensor rows = b.input("i", DType::I32, {5});
  b.output("y",
           ops::gather_block_quantized(noise(b, {4, 24}, 3), rows,
                                       scales_like(b, DType::F32, {4, 3}), {}, {4, 16, 0, -1}) *
               0.25f);
}

constexpr Case kQuantizedCases[] = {
    {"nbits_4_row", nbits<Sizes{1, 96, 72, 4, 32}>},
    {"nbits_4_row_zeros", nbits<Sizes{1, 128, 64, 4, 32, Zeros::Packed}>},
    {"nbits_4_row_odd_zeros", nbits<Sizes{1, 96, 37, 4, 32, Zeros::Packed}>},
    {"nbits_4_row_float_zeros", nbits<Sizes{1, 96, 40, 4, 32, Zeros::Floats}>},
    {"nbits_4_row_tail", nbits<Sizes{1, 75, 19, 4, 16}>},
    {"nbits_4_row_few_columns", nbits<Sizes{1, 64, 3, 4, 16}>},
    {"nbits_4_row_block_16", nbits<Sizes{1, 64, 44, 4, 16}>},
    {"nbits_4_row_block_64", nbits<Sizes{1, 192, 36, 4, 64, Zeros::Packed}>},
    {"nbits_4_row_block_128", nbits<Sizes{1, 256, 33, 4, 128}>},
    {"nbits_4_row_block_256", nbits<Sizes{1, 300, 41, 4, 256, Zeros::Packed}>},
    {"nbits_4_row_float16", nbits<Sizes{1, 96, 72, 4, 32, Zeros::None, DType::F16}>},
    {"nbits_4_rows_2", nbits<Sizes{2, 96, 40, 4, 32, Zeros::Packed}>},
    {"nbits_4_rows_3", nbits<Sizes{3, 64, 33, 4, 32}>},
    {"nbits_4_rows_7", nbits<Sizes{7, 64, 70, 4, 32, Zeros::Packed}>},
    {"nbits_4_rows_9_tail", nbits<Sizes{9, 75, 19, 4, 16}>},
    {"nbits_4_rows_40", nbits<Sizes{40, 96, 36, 4, 32}>},
    {"nbits_4_rows_17_float_zeros", nbits<Sizes{17, 96, 42, 4, 32, Zeros::Floats}>},
    {"nbits_4_input", nbits<Sizes{1, 64, 36, 4, 32, Zeros::None, DType::F32, false}>},
    {"nbits_4_rows_input", nbits<Sizes{5, 64, 36, 4, 32, Zeros::None, DType::F32, false}>},
    {"nbits_8_row", nbits<Sizes{1, 96, 72, 8, 32}>},
    {"nbits_8_row_zeros", nbits<Sizes{1, 70, 37, 8, 32, Zeros::Packed}>},
    {"nbits_8_row_block_256", nbits<Sizes{1, 512, 20, 8, 256}>},
    {"nbits_8_rows_5", nbits<Sizes{5, 64, 33, 8, 16, Zeros::Packed}>},
    {"nbits_8_rows_11_block_256", nbits<Sizes{11, 300, 41, 8, 256, Zeros::Packed}>},
    {"nbits_2_rows_6", nbits<Sizes{6, 96, 38, 2, 32}>},
    {"nbits_2_row", nbits<Sizes{1, 96, 40, 2, 32}>},
    {"nbits_2_rows_3", nbits<Sizes{3, 96, 37, 2, 32, Zeros::Packed}>},
    {"bytes_row", by_channel<1, DType::I8, false>},
    {"bytes_row_transposed", by_channel<1, DType::I8, true>},
    {"bytes_rows_4", by_channel<4, DType::U8, false>},
    {"bytes_rows_9", by_channel<9, DType::I8, true>},
    {"float16_row", float16<1, false>},
    {"float16_row_transposed", float16<1, true>},
    {"float16_row_odd", float16<1, false, 277>},
    {"float16_row_narrow", float16<1, true, 243>},
    {"float16_rows_3", float16<3, false>},
    {"float16_rows_2_odd", float16<2, false, 269>},
    {"bfloat16_row_odd", float16<1, false, 277, DType::BF16>},
    {"dynamically_quantized", dynamically, false},
    {"gather_block_quantized", gathered_blocks, false},
};

}  // namespace

std::span<const Case> quantized_cases() { return kQuantizedCases; }

}  // namespace lathe::ops_tests
