// Convolutions against naive loops over every option, their gradients and their errors.
#include "lathe/ops/windows/conv.h"

#include <gtest/gtest.h>

#include <random>

#include "check_gradients.h"
#include "lathe/base/text.h"
#include "lathe/grad/gradient.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

Floats random_floats(int64_t count, std::mt19937& random) {
  Floats values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random() % 17) / 8 - 1);
  return values;
}

// Two spatial axes: y[n, o, p, c] = sum over the window of x * w, zero outside.
struct Naive {
  Shape x, w;  // [n, h, w, c], [kh, kw, ci / groups, co]
  ConvOptions options;
  int64_t out[2];

  Floats run(const Floats& data, const Floats& filter) const {
    const int64_t groups = options.groups, ci = w[2], co = w[3];
    Floats y;
    for (int64_t n = 0; n < x[0]; ++n)
      for (int64_t oh = 0; oh < out[0]; ++oh)
        for (int64_t ow = 0; ow < out[1]; ++ow)
          for (int64_t o = 0; o < co; ++o) {
            double sum = 0;
            const int64_t first = o / (co / groups) * ci;
            for (int64_t kh = 0; kh < w[0]; ++kh)
              for (int64_t kw = 0; kw < w[1]; ++kw) {
                const auto& window = options.window;
                const int64_t i =
                    oh * window.strides[0] + kh * window.dilations[0] - window.before[0];
                const int64_t j =
                    ow * window.strides[1] + kw * window.dilations[1] - window.before[1];
                if (i < 0 || i >= x[1] || j < 0 || j >= x[2]) continue;
                for (int64_t c = 0; c < ci; ++c) {
                  const auto at =
                      static_cast<size_t>(((n * x[1] + i) * x[2] + j) * x[3] + first + c);
                  const auto tap = static_cast<size_t>(((kh * w[1] + kw) * ci + c) * co + o);
                  sum += static_cast<double>(data[at]) * filter[tap];
                }
              }
            y.push_back(static_cast<float>(sum));
          }
    return y;
  }
};

TEST(Conv, AgreesWithNaiveLoops) {
  std::mt19937 random(7);
  const auto draw = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1));
  };
  for (int round = 0; round < 100; ++round) {
    const int64_t groups = draw(1, 3);
    Naive naive;
    WindowOptions& window = naive.options.window;
    window.padding = Padding::Explicit;
    naive.options.groups = groups;
    naive.w = {draw(1, 3), draw(1, 3), draw(1, 3), groups * draw(1, 3)};
    naive.x = {draw(1, 2), 0, 0, groups * naive.w[2]};
    for (size_t axis = 0; axis < 2; ++axis) {
      window.strides.push_back(draw(1, 3));
      window.dilations.push_back(draw(1, 2));
      window.before.push_back(draw(0, 2));
      window.after.push_back(draw(0, 2));
      const int64_t span = (naive.w[axis] - 1) * window.dilations[axis] + 1;
      naive.out[axis] = draw(1, 4);
      const int64_t padded =
          (naive.out[axis] - 1) * window.strides[axis] + span + draw(0, window.strides[axis] - 1);
      const int64_t size = padded - window.before[axis] - window.after[axis];
      naive.x[axis + 1] = std::max<int64_t>(1, size);
      naive.out[axis] = (naive.x[axis + 1] + window.before[axis] + window.after[axis] - span) /
                            window.strides[axis] +
                        1;
    }
    Builder builder("test");
    const Tensor x = builder.input("x", DType::F32, naive.x);
    const Tensor w = builder.input("w", DType::F32, naive.w);
    builder.output("out", conv(x, w, naive.options));
    const auto graph = std::move(builder).finish();
    ASSERT_TRUE(graph) << graph.error().message;
    const Floats data = random_floats(graph::element_count(naive.x), random);
    const Floats filter = random_floats(graph::element_count(naive.w), random);
    std::map<std::string, Array> states;
    const Inputs inputs = {{"x", Array::of(naive.x, data)}, {"w", Array::of(naive.w, filter)}};
    const auto outputs = graph::evaluate(*graph, inputs, states);
    ASSERT_TRUE(outputs);
    const Array& got = outputs->at("out");
    const Floats expected = naive.run(data, filter);
    ASSERT_EQ(static_cast<size_t>(graph::element_count(got.shape)), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(got[static_cast<int64_t>(i)].f, expected[i], 1e-5) << round << ' ' << i;
    }
  }
}

const Shape kImageShape = {1, 3, 3, 1};
Inputs image() { return {{"x", Array::of(kImageShape, Floats{1, 2, 3, 4, 5, 6, 7, 8, 9})}}; }
Tensor x(Builder& b) { return b.input("x", DType::F32, kImageShape); }
Tensor filter(Builder& b, Shape shape, const Floats& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return b.constant(DType::F32, std::move(shape), {bytes.begin(), bytes.end()});
}

// Values of tf.conv2d, tf.depthwiseConv2d and tf.conv2dTranspose of TensorFlow.js 4.22.
TEST(Conv, SameWithEvenWindowPadsAtTheEnd) {
  expect_near(run(
                  [](Builder& b) {
                    const WindowOptions same{.padding = Padding::Same};
                    return conv(x(b), filter(b, {2, 2, 1, 1}, {1, 10, 100, 1000}), {same});
                  },
                  image()),
              {5421, 6532, 603, 8754, 9865, 906, 87, 98, 9});
}

TEST(DepthwiseConv, ChannelsAreIndependent) {
  const Inputs inputs = {{"x", Array::of({1, 2, 1, 2}, Floats{1, 2, 3, 4})}};
  expect_near(
      run(
          [](Builder& b) {
            const Tensor pixels = b.input("x", DType::F32, {1, 2, 1, 2});
            return depthwise_conv(pixels, filter(b, {2, 1, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40}));
          },
          inputs),
      {10, 100, 20, 200});
}

TEST(ConvTranspose, StampsFiltersAtStrides) {
  const Inputs inputs = {{"x", Array::of({1, 2, 1, 1}, Floats{1, 2})}};
  expect_near(run(
                  [](Builder& b) {
                    const Tensor pixels = b.input("x", DType::F32, {1, 2, 1, 1});
                    return conv_transpose(pixels, filter(b, {3, 1, 1, 1}, {1, 10, 100}),
                                          {.strides = {2, 1}});
                  },
                  inputs),
              {1, 10, 102, 20, 200});
}

TEST(Conv, Gradients) {
  const auto in = [](Builder& b, const char* name, Shape shape) {
    return b.input(name, DType::F32, std::move(shape));
  };
  static const auto input = in;
  grad::check_gradients("strided same", [](Builder& b) {
    const WindowOptions options{.strides = {2, 2}, .padding = Padding::Same};
    return conv(input(b, "x", {1, 5, 4, 2}), input(b, "w", {3, 3, 2, 2}), {options});
  });
  grad::check_gradients("groups", [](Builder& b) {
    return conv(input(b, "x", {1, 3, 4, 4}), input(b, "w", {2, 2, 2, 4}), {{}, 2});
  });
  grad::check_gradients("depthwise", [](Builder& b) {
    return depthwise_conv(input(b, "x", {1, 4, 4, 2}), input(b, "w", {3, 3, 2, 2}));
  });
  grad::check_gradients("transposed", [](Builder& b) {
    return conv_transpose(input(b, "x", {1, 2, 3, 2}), input(b, "w", {3, 2, 2, 2}),
                          {.strides = {2, 2}});
  });
}

TEST(ConvErrors, NameShapesAndTheFix) {
  static const auto input = [](Builder& b, const char* name, Shape shape) {
    return b.input(name, DType::F32, std::move(shape));
  };
  EXPECT_EQ(message_of([](Builder& b) {
              return conv(input(b, "x", {1, 4, 4, 3}), input(b, "w", {3, 3, 2, 8}));
            }),
            "conv: x [1,4,4,3] and filter [3,3,2,8] with 1 groups: x must have 2 channels for each "
            "group, and the 8 channels of the result must divide into the groups");
  EXPECT_EQ(
      message_of([](Builder& b) {
        return conv(input(b, "x", {4, 4}), input(b, "w", {3, 3, 2, 8}));
      }),
      "conv: x [4,4] and filter [3,3,2,8] must both have 3 (1D), 4 (2D) or 5 (3D) axes: x [n, "
      "spatial…, channels], filter [window…, in, out]");
  EXPECT_EQ(message_of([](Builder& b) {
              return conv(input(b, "x", {1, 2, 9, 3}), input(b, "w", {3, 3, 3, 8}));
            }),
            "conv: a window of 3 does not fit spatial axis 0 of size 2; use padding \"same\" or a "
            "smaller window");
  EXPECT_EQ(message_of([](Builder& b) {
              return conv(input(b, "x", {1, 4, 4, 3}), input(b, "w", {3, 3, 3, 8}),
                          {{.strides = {0, 1}}});
            }),
            "conv: strides [0,1] must be 2 integers of at least 1, one for each spatial axis");
  EXPECT_EQ(message_of([](Builder& b) {
              return depthwise_conv(input(b, "x", {1, 4, 4, 3}), input(b, "w", {3, 3, 2, 8}));
            }),
            "depthwise_conv: x [1,4,4,3] and filter [3,3,2,8]: the filter must be [window…, 3, "
            "multiplier]");
  EXPECT_EQ(
      message_of([](Builder& b) {
        return conv_transpose(input(b, "x", {1, 4, 4, 3}), input(b, "w", {3, 3, 2, 3}),
                              {.strides = {2, 2}}, {20, 9});
      }),
      "conv_transpose: a convolution of [20,9] by [3,3] yields [9,4], but x is [1,4,4,3]; pass "
      "another output size");
}

}  // namespace
}  // namespace lathe::ops
