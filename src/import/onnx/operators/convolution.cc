// The convolutions of ONNX over images [n, c, spatial…]: each is one contraction of channels-last
// tensors between transposes; opt/sink_transposes removes those between two convolutions.
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/operators/products.h"
#include "lathe/import/onnx/operators/windows.h"
#include "lathe/import/onnx/trace/operators.h"

namespace lathe::onnx::rows {

namespace {

using graph::Affine;
using graph::AffineMap;

constexpr int64_t kMaxSize = int64_t{1} << 31;

Affine dimension(int rank, int d) { return AffineMap::project(rank, {d}).axes[0]; }

// The window positions of a transposed convolution: o * stride + k * dilation - before.
struct Spread {
  Shape out, strides, dilations, before;
};

Result<Spread> spread_of(Call& call, const Shape& in, const Shape& size) {
  const size_t count = in.size();
  // With its paddings, which mean something else here.
  LATHE_ASSIGN_OR_RETURN(const Window window, window_of(call, Shape(count, 1 << 20), size));
  Spread spread{{}, window.options.strides, window.options.dilations, {}};
  const Shape more = call.ints_of("output_padding", Shape(count, 0));
  const Shape output_shape = call.ints_of("output_shape");
  const Shape pads = call.ints_of("pads", Shape(2 * count, 0));
  const std::string kind = call.string_of("auto_pad", "NOTSET");
  const bool is_same = kind == "SAME_UPPER" || kind == "SAME_LOWER";
  if (more.size() != count || (!output_shape.empty() && output_shape.size() != count)) {
    return call.reject(concat("output_padding ", bracketed(more), " and output_shape ",
                              bracketed(output_shape), " must have ", count, " numbers each"));
  }
  for (size_t k = 0; k < count; ++k) {
    const int64_t stride = spread.strides[k];
    const int64_t full = (in[k] - 1) * stride + (size[k] - 1) * spread.dilations[k] + 1 + more[k];
    int64_t before = kind == "NOTSET" ? pads[k] : 0;
    int64_t out = kind == "NOTSET" ? full - before - pads[count + k] : full;
    if (is_same || !output_shape.empty()) {
      out = output_shape.empty() ? in[k] * stride : output_shape[k];
      // On an axis that grows, elements beyond the windows are after them.
      const int64_t excess = full - out > 0 ? full - out : 0;
      before = kind == "SAME_UPPER" ? excess / 2 : excess - excess / 2;
    }
    if (out < 1 || out > kMaxSize || more[k] < 0 || more[k] > kMaxSize) {
      return call.reject(concat("spatial axis ", k, " of size ", in[k], " would have size ", out));
    }
    spread.out.push_back(out);
    spread.before.push_back(before);
  }
  return spread;
}

// x [n, in…, g, ci], filter [g, ci, co, size…] -> [n, out…, g, co].
Tensor spread_out(Tensor x, Tensor filter, const Spread& spread) {
  const Shape in = x.shape(), f = filter.shape();
  const int axes = static_cast<int>(spread.out.size()), rank = 2 * axes + 4;
  const int g = 2 * axes + 1, ci = g + 1, co = g + 2;
  graph::Contraction contraction;
  auto& [extents, to, lhs, rhs] = contraction;
  extents.assign(in.begin(), in.end() - 2);
  extents.insert(extents.end(), f.begin() + 3, f.end());
  extents.insert(extents.end(), {f[0], f[1], f[2]});
  Shape shape{in[0]};
  to = lhs = AffineMap::project(rank, {0});
  rhs = AffineMap::project(rank, {g, ci, co});
  for (int i = 0; i < axes; ++i) {
    const auto k = static_cast<size_t>(i);
    Affine index = dimension(rank, 1 + i);
    index.coefficients[k + 1] = spread.strides[k];
    index.coefficients[k + 1 + static_cast<size_t>(axes)] = spread.dilations[k];
    index.offset = -spread.before[k];
    to.axes.push_back(std::move(index));
    lhs.axes.push_back(dimension(rank, 1 + i));
    rhs.axes.push_back(dimension(rank, 1 + axes + i));
    shape.push_back(spread.out[k]);
  }
  to.axes.insert(to.axes.end(), {dimension(rank, g), dimension(rank, co)});
  lhs.axes.insert(lhs.axes.end(), {dimension(rank, g), dimension(rank, ci)});
  shape.insert(shape.end(), {f[0], f[2]});
  return x.builder->contract(x, filter, std::move(contraction), std::move(shape));
}

}  // namespace

// Conv, and FusedConv of com.microsoft: with a tensor added and an activation.
Result<Values> conv(Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  LATHE_ASSIGN_OR_RETURN(Tensor y, convolved(call, x, weights));
  if (call.has(2)) y = y + cast_like(call.tensor(2), y);
  y = channels_first(y);
  if (call.has(3)) y = y + cast_like(call.tensor(3), y);
  LATHE_ASSIGN_OR_RETURN(y, activated(call, y));
  return Values{cast_like(y, x)};
}

Result<Values> conv_transpose(Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  const Shape in = x.shape(), w = weights.shape();
  const int64_t groups = call.int_of("group", 1);
  if (in.size() < 3 || w.size() != in.size() || groups < 1 || w[0] != in[1] ||
      in[1] % groups != 0) {
    return call.reject(concat("x ", bracketed(in), " and weights ", bracketed(w), " must be ",
                              "[n, c, spatial…] and [c, m / group, window…] with ", groups,
                              " groups"));
  }
  Builder& builder = *x.builder;
  LATHE_ASSIGN_OR_RETURN(const Spread spread, spread_of(call, spatial_sizes(in), spatial_sizes(w)));
  Shape split_x{in[0]}, split_w{groups, in[1] / groups, w[1]}, merged{in[0]};
  split_x.insert(split_x.end(), in.begin() + 2, in.end());
  split_x.insert(split_x.end(), {groups, in[1] / groups});
  split_w.insert(split_w.end(), w.begin() + 2, w.end());
  merged.insert(merged.end(), spread.out.begin(), spread.out.end());
  merged.push_back(groups * w[1]);
  Tensor y = builder.reshape(spread_out(builder.reshape(channels_last(x), split_x),
                                        builder.reshape(weights, split_w), spread),
                             merged);
  if (call.has(2)) y = y + cast_like(call.tensor(2), y);
  return Values{cast_like(channels_first(y), x)};
}

}  // namespace lathe::onnx::rows
