// Recipes of operations over images: convolutions, pools, resizing.
#include <algorithm>

#include "graph_generator.h"
#include "lathe/ops/images/resize.h"
#include "lathe/ops/windows/conv.h"
#include "lathe/ops/windows/pool.h"

namespace lathe::random_tests {

namespace {

int64_t window_size(GraphGenerator& g) { return g.rng.chance(40) ? 3 : g.rng.from(1, 5); }

// [k…, in, out] for an image of this many spatial axes.
Tensor filter(GraphGenerator& g, int axes, int64_t in, int64_t out) {
  Shape shape;
  const int64_t all = g.rng.chance(50) ? window_size(g) : 0;
  for (int i = 0; i < axes; ++i) shape.push_back(all > 0 ? all : window_size(g));
  shape.insert(shape.end(), {in, out});
  return g.input(std::move(shape));
}

int64_t channels(GraphGenerator& g) { return g.rng.size(g.rng.chance(70) ? 9 : 33, false); }

template <int axes>
void conv(GraphGenerator& g) {
  const Tensor x = g.image(axes);
  const int64_t in = x.shape().back();
  ops::ConvOptions options{g.rng.window(axes)};
  int64_t out = channels(g);
  if (g.rng.chance(25)) {
    options.groups = in % 3 == 0 ? 3 : in % 2 == 0 ? 2 : in;
    out = options.groups * g.rng.from(1, 5);
  }
  g.add(g.tame(ops::conv(x, filter(g, axes, in / options.groups, out), options)));
}

void depthwise(GraphGenerator& g) {
  const auto axes = static_cast<int>(g.rng.from(1, 3));
  const Tensor x = g.image(axes);
  const Tensor f = filter(g, axes, x.shape().back(), g.rng.chance(60) ? 1 : g.rng.from(2, 5));
  g.add(ops::depthwise_conv(x, f, g.rng.window(axes)) * 0.25f);
}

void transposed(GraphGenerator& g) {
  const auto axes = static_cast<int>(g.rng.from(1, 3));
  const Tensor x = g.image(axes);
  const Tensor f = filter(g, axes, channels(g), x.shape().back());
  g.add(g.tame(ops::conv_transpose(x, f, g.rng.window(axes, true, false))));
}

template <Tensor (*pool)(Tensor, const Shape&, const ops::WindowOptions&)>
void pools(GraphGenerator& g) {
  const auto axes = static_cast<int>(g.rng.from(1, 3));
  const Tensor x = g.image(axes);
  Shape size;
  for (int i = 0; i < axes; ++i) size.push_back(g.rng.from(1, 3));
  ops::WindowOptions options = g.rng.window(axes, true, false);
  if (g.rng.chance(40)) options.strides.clear();
  g.add(pool(x, size, options));
}

template <Tensor (*resize)(Tensor, const Shape&, bool, bool)>
void resizes(GraphGenerator& g) {
  const Tensor x = g.image(2);
  const int64_t rule = g.rng.below(3);
  g.add(resize(x, {g.rng.from(1, 12), g.rng.from(1, 12)}, rule == 1, rule == 2));
}

constexpr Recipe kWindowRecipes[] = {
    {"conv1d", conv<1>},
    {"conv2d", conv<2>},
    {"conv3d", conv<3>},
    {"depthwiseConv2d", depthwise},
    {"conv2dTranspose", transposed},
    {"maxPool", pools<ops::max_pool>},
    {"avgPool", pools<ops::average_pool>},
    {"global pools",
     [](GraphGenerator& g) {
       const Tensor x = g.image(static_cast<int>(g.rng.from(1, 3)));
       g.add(g.rng.chance(50) ? ops::global_max_pool(x) : ops::global_average_pool(x));
     }},
    {"resizeBilinear", resizes<ops::resize_bilinear>},
    {"resizeNearestNeighbor", resizes<ops::resize_nearest>},
};

}  // namespace

std::span<const Recipe> window_recipes() { return kWindowRecipes; }

}  // namespace lathe::random_tests
