// Convolutions and pools of odd sizes against plain loops over every element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "operate.h"

namespace lathe::onnx {
namespace {

// An image with two spatial axes; one of them has size 1 for one-dimensional cases.
struct Sizes {
  int64_t n, c, in[2], m, size[2], stride[2], dilation[2], pads[4], groups;
};

// Odd sizes, groups, depths of one, paddings on one side, dilations beyond the image's half.
const Sizes kAll[] = {
    {2, 3, {5, 7}, 4, {3, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1},
    {1, 4, {7, 5}, 6, {3, 3}, {2, 1}, {1, 2}, {1, 2, 0, 1}, 2},
    {1, 3, {6, 6}, 6, {2, 3}, {1, 3}, {3, 1}, {0, 1, 2, 0}, 3},
    {2, 6, {5, 4}, 6, {3, 1}, {1, 2}, {1, 1}, {2, 0, 1, 0}, 6},
    {1, 2, {1, 9}, 2, {1, 4}, {1, 3}, {1, 2}, {0, 5, 0, 0}, 1},
};

struct Image {
  Shape shape;
  Numbers values;

  double at(int64_t a, int64_t b, int64_t y, int64_t x) const {
    if (y < 0 || x < 0 || y >= shape[2] || x >= shape[3]) return 0;
    return values[static_cast<size_t>(((a * shape[1] + b) * shape[2] + y) * shape[3] + x)];
  }
  bool has(int64_t y, int64_t x) const { return y >= 0 && x >= 0 && y < shape[2] && x < shape[3]; }
  Value value() const { return floats(shape, values); }
};

Image drawn(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Image image{std::move(shape), {}};
  for (int64_t k = 0; k < graph::element_count(image.shape); ++k) {
    image.values.push_back(static_cast<double>(random() % 64) / 16 - 2);
  }
  return image;
}

Node window(std::string op, const Sizes& s) {
  Node node(std::move(op));
  node.with("strides", std::vector<int64_t>{s.stride[0], s.stride[1]});
  node.with("dilations", std::vector<int64_t>{s.dilation[0], s.dilation[1]});
  node.with("pads", std::vector<int64_t>{s.pads[0], s.pads[1], s.pads[2], s.pads[3]});
  return node;
}

int64_t span(const Sizes& s, int k) { return (s.size[k] - 1) * s.dilation[k] + 1; }
int64_t windows(const Sizes& s, int k) {
  return (s.in[k] + s.pads[k] + s.pads[k + 2] - span(s, k)) / s.stride[k] + 1;
}

TEST(Windows, Conv) {
  for (const Sizes& s : kAll) {
    const Image x = drawn({s.n, s.c, s.in[0], s.in[1]}, 1);
    const Image w = drawn({s.m, s.c / s.groups, s.size[0], s.size[1]}, 2);
    Numbers expected, bias;
    for (int64_t m = 0; m < s.m; ++m) bias.push_back(static_cast<double>(m) / 4);
    for (int64_t n = 0; n < s.n; ++n)
      for (int64_t m = 0; m < s.m; ++m)
        for (int64_t y = 0; y < windows(s, 0); ++y)
          for (int64_t o = 0; o < windows(s, 1); ++o) {
            double sum = bias[static_cast<size_t>(m)];
            const int64_t first = m / (s.m / s.groups) * (s.c / s.groups);
            for (int64_t c = 0; c < s.c / s.groups; ++c)
              for (int64_t i = 0; i < s.size[0]; ++i)
                for (int64_t j = 0; j < s.size[1]; ++j)
                  sum += x.at(n, first + c, y * s.stride[0] + i * s.dilation[0] - s.pads[0],
                              o * s.stride[1] + j * s.dilation[1] - s.pads[1]) *
                         w.at(m, c, i, j);
            expected.push_back(sum);
          }
    Node node = window("Conv", s);
    node.with("group", s.groups);
    expect_near(numbers_of(node, {x.value(), w.value(), floats({s.m}, bias)}), expected);
  }
}

TEST(Windows, ConvTranspose) {
  for (const Sizes& s : kAll) {
    const Image x = drawn({s.n, s.c, s.in[0], s.in[1]}, 3);
    const Image w = drawn({s.c, s.m / s.groups, s.size[0], s.size[1]}, 4);
    int64_t out[2];
    for (int k = 0; k < 2; ++k) {
      out[k] = (s.in[k] - 1) * s.stride[k] + span(s, k) - s.pads[k] - s.pads[k + 2];
    }
    if (out[0] < 1 || out[1] < 1) continue;
    Image y{{s.n, s.m, out[0], out[1]}, Numbers(static_cast<size_t>(s.n * s.m * out[0] * out[1]))};
    for (int64_t n = 0; n < s.n; ++n)
      for (int64_t c = 0; c < s.c; ++c)
        for (int64_t m = 0; m < s.m / s.groups; ++m)
          for (int64_t a = 0; a < s.in[0] * s.in[1]; ++a)
            for (int64_t t = 0; t < s.size[0] * s.size[1]; ++t) {
              const int64_t i = t / s.size[1], j = t % s.size[1];
              const int64_t row = a / s.in[1] * s.stride[0] + i * s.dilation[0] - s.pads[0];
              const int64_t column = a % s.in[1] * s.stride[1] + j * s.dilation[1] - s.pads[1];
              if (!y.has(row, column)) continue;
              const int64_t to = c / (s.c / s.groups) * (s.m / s.groups) + m;
              const int64_t at = ((n * s.m + to) * out[0] + row) * out[1] + column;
              y.values[static_cast<size_t>(at)] +=
                  x.at(n, c, a / s.in[1], a % s.in[1]) * w.at(c, m, i, j);
            }
    Node node = window("ConvTranspose", s);
    node.with("group", s.groups);
    expect_near(numbers_of(node, {x.value(), w.value()}), y.values);
  }
}

// The elements of each window that are inside x, and how many there are inside x and its padding.
template <class Fold>
Numbers pooled(const Sizes& s, const Image& x, bool ceil, Fold fold) {
  Numbers result;
  int64_t out[2];
  for (int k = 0; k < 2; ++k) {
    const int64_t free = s.in[k] + s.pads[k] + s.pads[k + 2] - span(s, k);
    out[k] = (free + (ceil ? s.stride[k] - 1 : 0)) / s.stride[k] + 1;
    if (ceil && (out[k] - 1) * s.stride[k] >= s.in[k] + s.pads[k]) --out[k];
  }
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t c = 0; c < s.c; ++c)
      for (int64_t y = 0; y < out[0]; ++y)
        for (int64_t o = 0; o < out[1]; ++o) {
          Numbers seen;
          std::vector<int64_t> offsets;
          int64_t padded = 0;
          for (int64_t i = 0; i < s.size[0]; ++i)
            for (int64_t j = 0; j < s.size[1]; ++j) {
              const int64_t row = y * s.stride[0] + i * s.dilation[0] - s.pads[0];
              const int64_t column = o * s.stride[1] + j * s.dilation[1] - s.pads[1];
              padded += row < s.in[0] + s.pads[2] && column < s.in[1] + s.pads[3];
              if (!x.has(row, column)) continue;
              seen.push_back(x.at(n, c, row, column));
              offsets.push_back(((n * s.c + c) * s.in[0] + row) * s.in[1] + column);
            }
          result.push_back(fold(seen, offsets, padded));
        }
  return result;
}

TEST(Windows, Pools) {
  using Offsets = std::vector<int64_t>;
  for (const Sizes& s : kAll) {
    const Image x = drawn({s.n, s.c, s.in[0], s.in[1]}, 5);
    for (const bool ceil : {false, true}) {
      const auto node = [&](std::string op) {
        Node made = window(std::move(op), s);
        made.with("kernel_shape", std::vector<int64_t>{s.size[0], s.size[1]});
        made.with("ceil_mode", int64_t{ceil});
        return made;
      };
      Node max = node("MaxPool");
      max.results = 2;
      const auto both = operate(max, {x.value()});
      ASSERT_TRUE(both) << both.error().message;
      const auto least = -std::numeric_limits<double>::infinity();
      expect_near(numbers_of((*both)[0]),
                  pooled(s, x, ceil, [&](const Numbers& seen, const Offsets&, int64_t) {
                    return seen.empty() ? least : *std::ranges::max_element(seen);
                  }));
      const bool all_seen = s.pads[1] < 5;  // a window outside of the image has no index
      if (all_seen) {
        expect_near(numbers_of((*both)[1]),
                    pooled(s, x, ceil, [](const Numbers& seen, const Offsets& offsets, int64_t) {
                      const auto best = std::ranges::max_element(seen) - seen.begin();
                      return static_cast<double>(offsets[static_cast<size_t>(best)]);
                    }));
      }
      const auto sum = [](const Numbers& seen) {
        double total = 0;
        for (const double each : seen) total += each;
        return total;
      };
      expect_near(numbers_of(node("AveragePool"), {x.value()}),
                  pooled(s, x, ceil, [&](const Numbers& seen, const Offsets&, int64_t) {
                    return seen.empty() ? 0 : sum(seen) / static_cast<double>(seen.size());
                  }));
      Node padded = node("AveragePool");
      padded.with("count_include_pad", int64_t{1});
      expect_near(numbers_of(padded, {x.value()}),
                  pooled(s, x, ceil, [&](const Numbers& seen, const Offsets&, int64_t count) {
                    return sum(seen) / static_cast<double>(std::max<int64_t>(count, 1));
                  }));
      expect_near(numbers_of(node("LpPool"), {x.value()}),
                  pooled(s, x, ceil, [&](const Numbers& seen, const Offsets&, int64_t) {
                    double total = 0;
                    for (const double each : seen) total += each * each;
                    return std::sqrt(total);
                  }));
    }
  }
}

// NaN is the maximum, at the first index that has one.
TEST(Windows, PoolsPropagateNaN) {
  const double nan = std::nan("");
  Node pool("MaxPool");
  pool.with("kernel_shape", std::vector<int64_t>{3});
  pool.results = 2;
  const auto both = operate(pool, {floats({1, 1, 6}, {1, nan, nan, 2, 4, 3})});
  ASSERT_TRUE(both) << both.error().message;
  const Numbers values = numbers_of((*both)[0]);
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]) && std::isnan(values[2]));
  EXPECT_EQ(values[3], 4);
  EXPECT_EQ(numbers_of((*both)[1]), (Numbers{1, 1, 2, 4}));
}

TEST(Windows, IndicesOfNaN) {
  const double nan = std::nan("");
  const auto index = [](const char* op, int64_t last, Numbers row) {
    Node node(op);
    node.with("axis", int64_t{0}).with("keepdims", int64_t{0}).with("select_last_index", last);
    const auto size = static_cast<int64_t>(row.size());
    const auto result = operate(node, {floats({size}, std::move(row))});
    EXPECT_TRUE(result) << result.error().message;
    return numbers_of((*result)[0])[0];
  };
  const Numbers row = {1, nan, std::numeric_limits<double>::infinity(), nan, 0};
  for (const char* op : {"ArgMax", "ArgMin"}) {
    EXPECT_EQ(index(op, 0, row), 1);
    EXPECT_EQ(index(op, 1, row), 3);
  }
  EXPECT_EQ(index("ArgMax", 0, {1, 5, 5}), 1);
  EXPECT_EQ(index("ArgMax", 1, {1, 5, 5}), 2);
}

TEST(WindowErrors, NameTheSizes) {
  Node node("Conv");
  node.with("kernel_shape", std::vector<int64_t>{3, 3});
  const Value x = floats({1, 1, 2, 2}, Numbers(4)), w = floats({1, 1, 3, 3}, Numbers(9));
  EXPECT_EQ(message_of(node, {x, w}),
            "Conv: a window of 3 does not fit spatial axis 0 of size 2 with its padding");
  EXPECT_EQ(message_of(Node("Conv"), {x, floats({2, 3, 1, 1}, Numbers(6))}),
            "Conv: x [1,1,2,2] and weights [2,3,1,1] do not fit 1 groups");
}

// Huge sizes neither allocate memory nor loop over elements.
TEST(WindowErrors, SizesBeyondAllMeasure) {
  const Value x = floats({1, 1, 2, 2}, Numbers(4));
  const int64_t huge = int64_t{1} << 40;
  Node pool("AveragePool"), padded("MaxPool"), block("DepthToSpace"), spread("ConvTranspose");
  pool.with("kernel_shape", std::vector<int64_t>{huge, 1});
  EXPECT_EQ(message_of(pool, {x}),
            "AveragePool: a window [1099511627776,1] must have sizes from 1 to 2^31");
  padded.with("kernel_shape", std::vector<int64_t>{1, 1});
  padded.with("pads", std::vector<int64_t>{1 << 30, 0, 0, 0});
  EXPECT_EQ(message_of(padded, {x}), "MaxPool: spatial axis 0 would have 1073741826 windows");
  block.with("blocksize", int64_t{1} << 32);
  EXPECT_NE(message_of(block, {x}), "");
  spread.with("output_shape", std::vector<int64_t>{huge, 2});
  EXPECT_NE(message_of(spread, {x, floats({1, 1, 1, 1}, {1})}), "");
  const Value sizes = typed(Type::Int64, {4}, {1, 1, static_cast<double>(huge), 1});
  EXPECT_NE(message_of(Node("Resize"), {x, Value(), Value(), sizes}), "");
}

}  // namespace
}  // namespace lathe::onnx
