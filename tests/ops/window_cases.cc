// Convolutions, pools and normalizations: strides, dilations, groups, paddings and channel counts
// around the edges of tiles.
#include "cases.h"
#include "lathe/base/text.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/images/resize.h"
#include "lathe/ops/nn/norm.h"
#include "lathe/ops/windows/conv.h"
#include "lathe/ops/windows/pool.h"

namespace lathe::ops_tests {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;
using ops::ConvOptions;
using ops::Padding;
using ops::WindowOptions;

namespace {

const WindowOptions kSame = {.padding = Padding::Same};
const WindowOptions kSameBy2 = {.strides = {2, 2}, .padding = Padding::Same};

void conv(Builder& b, Shape x, Shape filter, const ConvOptions& options) {
  b.output("y",
           ops::conv(floats(b, "x", std::move(x)), floats(b, "w", std::move(filter)), options));
}

void conv_1d(Builder& b) { conv(b, {2, 9, 3}, {4, 3, 5}, {{.strides = {2}}}); }
void conv_valid(Builder& b) { conv(b, {2, 6, 7, 3}, {3, 2, 3, 9}, {}); }
void conv_same(Builder& b) { conv(b, {1, 7, 6, 5}, {3, 3, 5, 8}, {kSame}); }
void conv_strided(Builder& b) { conv(b, {2, 7, 6, 3}, {3, 3, 3, 5}, {kSameBy2}); }
void conv_strided_even(Builder& b) { conv(b, {1, 8, 8, 4}, {3, 3, 4, 12}, {kSameBy2}); }
void conv_stride_3(Builder& b) {
  conv(b, {1, 11, 10, 2}, {2, 4, 2, 4}, {{.strides = {3, 3}, .padding = Padding::Same}});
}
void conv_dilated(Builder& b) {
  conv(b, {1, 8, 9, 2}, {3, 3, 2, 4}, {{.dilations = {2, 3}, .padding = Padding::Same}});
}
void conv_strided_and_dilated(Builder& b) {
  conv(b, {1, 12, 11, 2}, {3, 2, 2, 4}, {{.strides = {2, 3}, .dilations = {3, 2}}});
}
void conv_explicit(Builder& b) {
  const WindowOptions padded{
      .strides = {1, 2}, .padding = Padding::Explicit, .before = {0, 3}, .after = {2, 1}};
  conv(b, {2, 5, 6, 2}, {3, 3, 2, 4}, {padded});
}
void conv_1x1(Builder& b) { conv(b, {2, 5, 7, 6}, {1, 1, 6, 20}, {}); }
void conv_1x1_strided(Builder& b) { conv(b, {2, 5, 7, 6}, {1, 1, 6, 8}, {{.strides = {2, 2}}}); }
void conv_grouped(Builder& b) { conv(b, {2, 5, 6, 6}, {3, 3, 2, 12}, {kSame, 3}); }
void conv_3d(Builder& b) {
  conv(b, {1, 4, 5, 6, 2}, {2, 3, 2, 2, 4}, {{.strides = {1, 2, 2}, .padding = Padding::Same}});
}
void conv_with_epilogue(Builder& b) {
  const Tensor y = ops::conv(floats(b, "x", {2, 6, 6, 3}), floats(b, "w", {3, 3, 3, 16}), {kSame});
  const Tensor center = floats(b, "mean", {16}), spread = floats(b, "variance", {16});
  const Tensor normal = ops::batch_norm(y, {center, spread * spread}, floats(b, "scale", {16}),
                                        floats(b, "offset", {16}), 0.5f);
  b.output("y", ops::relu(normal) + floats(b, "residual", {2, 6, 6, 16}));
}

// Wide enough for panels of the filter, which are made while compiling.
void conv_of_constant(Builder& b) {
  std::vector<float> taps(9 * 4 * 128);
  for (size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<float>(i * 7 % 31) / 16 - 1;
  const auto bytes = std::as_bytes(std::span(taps));
  const Tensor filter = b.constant(DType::F32, {3, 3, 4, 128}, {bytes.begin(), bytes.end()});
  b.output("y", ops::conv(floats(b, "x", {1, 12, 12, 4}), filter, {kSame}));
}

void depthwise(Builder& b, Shape x, Shape filter, const WindowOptions& options) {
  b.output("y", ops::depthwise_conv(floats(b, "x", std::move(x)), floats(b, "w", std::move(filter)),
                                    options));
}
void depthwise_same(Builder& b) { depthwise(b, {2, 7, 6, 12}, {3, 3, 12, 1}, kSame); }
void depthwise_strided(Builder& b) { depthwise(b, {1, 8, 7, 9}, {3, 3, 9, 1}, kSameBy2); }
void depthwise_narrow(Builder& b) { depthwise(b, {1, 5, 6, 3}, {2, 3, 3, 1}, {}); }
void depthwise_multiplied(Builder& b) { depthwise(b, {1, 6, 5, 3}, {3, 3, 3, 4}, kSame); }
void depthwise_1d(Builder& b) { depthwise(b, {2, 10, 8}, {3, 8, 1}, {.dilations = {2}}); }

void transposed(Builder& b, Shape x, Shape filter, const WindowOptions& options, Shape out) {
  b.output("y", ops::conv_transpose(floats(b, "x", std::move(x)), floats(b, "w", std::move(filter)),
                                    options, std::move(out)));
}
void conv_transpose_same(Builder& b) { transposed(b, {1, 4, 3, 5}, {3, 3, 8, 5}, kSameBy2, {}); }
void conv_transpose_valid(Builder& b) {
  transposed(b, {2, 3, 4, 2}, {2, 3, 4, 2}, {.strides = {2, 3}}, {});
}
void conv_transpose_sized(Builder& b) {
  transposed(b, {1, 4, 3, 2}, {3, 3, 4, 2}, kSameBy2, {7, 5});
}
void conv_transpose_1d(Builder& b) { transposed(b, {2, 6, 3}, {4, 5, 3}, {.strides = {2}}, {}); }

void max_pool(Builder& b, Shape x, const Shape& size, const WindowOptions& options) {
  b.output("y", ops::max_pool(floats(b, "x", std::move(x)), size, options));
}
void max_pool_2x2(Builder& b) { max_pool(b, {2, 6, 8, 5}, {2, 2}, {}); }
void max_pool_with_rest(Builder& b) { max_pool(b, {1, 7, 5, 8}, {2, 2}, {}); }
void max_pool_overlapping(Builder& b) { max_pool(b, {1, 9, 7, 8}, {3, 3}, {.strides = {2, 2}}); }
void max_pool_same(Builder& b) { max_pool(b, {2, 7, 6, 4}, {3, 3}, kSameBy2); }
void max_pool_1d(Builder& b) { max_pool(b, {2, 9, 6}, {3}, {.strides = {1}}); }
void max_pool_3d(Builder& b) { max_pool(b, {1, 4, 4, 6, 3}, {2, 2, 3}, {}); }
// Rectified values tie at 0; the first of them has the gradient.
void max_pool_of_ties(Builder& b) {
  b.output("y",
           ops::max_pool(ops::relu(floats(b, "x", {2, 6, 6, 8})), {3, 3}, {.strides = {2, 2}}));
}
// Square roots of negative numbers.
void max_pool_among_nans(Builder& b) {
  const Tensor x = sqrt(floats(b, "x", {2, 6, 7, 5}));
  b.output("y", ops::max_pool(x, {2, 2}, kSameBy2));
  b.output("z", ops::max_pool(b.reshape(x, {2, 6, 35, 1}), {3, 5}, {.strides = {1, 2}}));
}

void average_pool(Builder& b, Shape x, const Shape& size, const WindowOptions& options) {
  b.output("y", ops::average_pool(floats(b, "x", std::move(x)), size, options));
}
void average_pool_2x2(Builder& b) { average_pool(b, {2, 6, 8, 5}, {2, 2}, {}); }
void average_pool_same(Builder& b) { average_pool(b, {2, 7, 5, 8}, {3, 3}, kSameBy2); }
void average_pool_same_by_1(Builder& b) {
  average_pool(b, {1, 5, 5, 4}, {3, 3}, {.strides = {1, 1}, .padding = Padding::Same});
}
void global_pools(Builder& b) {
  const Tensor x = floats(b, "x", {3, 5, 4, 9});
  b.output("mean", ops::global_average_pool(x));
  b.output("max", ops::global_max_pool(x));
}

// No ratio is an integer; rows of full vectors and a remainder.
template <bool kAlignCorners, bool kHalfPixel>
void resizes_unevenly(Builder& b) {
  const Tensor x = floats(b, "x", {1, 5, 7, 9});
  for (const auto& [name, size] : {std::pair{"larger", Shape{8, 11}}, {"smaller", Shape{3, 4}}}) {
    b.output(concat("bilinear ", name), ops::resize_bilinear(x, size, kAlignCorners, kHalfPixel));
    b.output(concat("nearest ", name), ops::resize_nearest(x, size, kAlignCorners, kHalfPixel));
  }
  b.output("one", ops::resize_bilinear(x, {1, 1}, kAlignCorners, kHalfPixel));
}

void resizes(Builder& b) {
  const Tensor x = floats(b, "x", {1, 5, 6, 4});
  b.output("twice", ops::resize_bilinear(x, {10, 12}, false, true));
  b.output("corners", ops::resize_bilinear(x, {15, 7}, true, false));
  b.output("smaller", ops::resize_bilinear(x, {4, 3}, false, false));
  b.output("nearest", ops::resize_nearest(x, {7, 18}, false, true));
}

void batch_norm_of_batch(Builder& b) {
  const Tensor x = floats(b, "x", {3, 4, 5, 7});
  b.output("y", ops::batch_norm(x, ops::moments(x, {0, 1, 2}), floats(b, "scale", {7}),
                                floats(b, "offset", {7}), 0.1f));
}
void layer_norm(Builder& b) {
  b.output("y", ops::layer_norm(floats(b, "x", {5, 18}), floats(b, "scale", {18}),
                                floats(b, "offset", {18}), 0.1f));
}

const Case kWindowCases[] = {
    {"conv_1d", conv_1d},
    {"conv_valid", conv_valid},
    {"conv_same", conv_same},
    {"conv_strided", conv_strided},
    {"conv_strided_even", conv_strided_even},
    {"conv_stride_3", conv_stride_3},
    {"conv_dilated", conv_dilated},
    {"conv_strided_and_dilated", conv_strided_and_dilated},
    {"conv_explicit", conv_explicit},
    {"conv_1x1", conv_1x1},
    {"conv_1x1_strided", conv_1x1_strided},
    {"conv_grouped", conv_grouped},
    {"conv_3d", conv_3d},
    {"conv_with_epilogue", conv_with_epilogue},
    {"conv_of_constant", conv_of_constant},
    {"depthwise_same", depthwise_same},
    {"depthwise_strided", depthwise_strided},
    {"depthwise_narrow", depthwise_narrow},
    {"depthwise_multiplied", depthwise_multiplied},
    {"depthwise_1d", depthwise_1d},
    {"conv_transpose_same", conv_transpose_same},
    {"conv_transpose_valid", conv_transpose_valid},
    {"conv_transpose_sized", conv_transpose_sized},
    {"conv_transpose_1d", conv_transpose_1d},
    {"max_pool_2x2", max_pool_2x2},
    {"max_pool_with_rest", max_pool_with_rest},
    {"max_pool_overlapping", max_pool_overlapping},
    {"max_pool_same", max_pool_same},
    {"max_pool_1d", max_pool_1d},
    {"max_pool_3d", max_pool_3d},
    {"max_pool_of_ties", max_pool_of_ties},
    {"max_pool_among_nans", max_pool_among_nans, false},
    {"average_pool_2x2", average_pool_2x2},
    {"average_pool_same", average_pool_same},
    {"average_pool_same_by_1", average_pool_same_by_1},
    {"global_pools", global_pools},
    {"resizes", resizes},
    {"resizes_unevenly", resizes_unevenly<false, false>},
    {"resizes_unevenly_corners", resizes_unevenly<true, false>},
    {"resizes_unevenly_half_pixel", resizes_unevenly<false, true>},
    {"batch_norm_of_batch", batch_norm_of_batch},
    {"layer_norm", layer_norm},
};

}  // namespace

std::span<const Case> window_cases() { return kWindowCases; }

}  // namespace lathe::ops_tests
