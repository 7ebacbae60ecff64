// Pooling of image regions [n, c, height, width] to one size: RoiAlign and MaxRoiPool.
#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/images/sampling.h"

namespace lathe::onnx::rows {

namespace {

// Rows of x [n, …] by numbers [count].
Tensor rows_at(Tensor x, Tensor numbers) {
  Builder& builder = *x.builder;
  const Shape shape = x.shape();
  const int64_t count = graph::element_count(numbers.shape());
  Shape picked = shape, along(shape.size(), 1);
  picked[0] = along[0] = count;
  const Tensor index = builder.reshape(cast_to(numbers, DType::I32), along);
  return builder.gather(x, builder.broadcast_to(index, picked), 0);
}

// Column k of x [rows, columns], as [rows].
Tensor column(Tensor x, int64_t k) {
  graph::AffineMap map = graph::AffineMap::project(1, {0});
  map.axes.push_back({{0}, k});
  return x.builder->reindex(x, std::move(map), {x.shape()[0]});
}

// Regions along one axis of an image, in elements: their begins, the sizes of their bins,
// and the number of samples in each, up to `max_samples`.
struct Bins {
  Tensor begin, size, samples;
  int64_t max_samples, count, extent;

  // Samples [regions, bins, max_samples]: their positions, whether these are in the image, and
  // whether the region has as many.
  struct Samples {
    Tensor position, is_near, is_used;
  };
  Samples positions() const {
    Builder& builder = *begin.builder;
    const int64_t regions = begin.shape()[0];
    const Shape shape{regions, count, max_samples};
    const auto spread = [&](Tensor each) { return builder.reshape(each, {regions, 1, 1}); };
    const Tensor bin = cast_like(builder.iota(shape, 1), begin);
    const Tensor number = cast_like(builder.iota(shape, 2), begin);
    const Tensor inside = (number + 0.5f) / spread(samples);
    const Tensor position = spread(begin) + (bin + inside) * spread(size);
    const Tensor is_near = map(Op::And, position >= number_like(position, -1),
                               position <= number_like(position, static_cast<double>(extent)));
    const Tensor bounded = minimum(maximum(position, zero(position)),
                                   number_like(position, static_cast<double>(extent - 1)));
    return {bounded, is_near, number < spread(samples)};
  }

  // How much each element of the axis counts in each bin: [regions, bins, extent].
  Tensor shares() const {
    Builder& builder = *begin.builder;
    const auto [position, is_near, is_used] = positions();
    const int64_t regions = begin.shape()[0];
    const Tensor element = cast_like(builder.iota({regions, count, max_samples, extent}, 3), begin);
    const Tensor spread = builder.reshape(position, {regions, count, max_samples, 1});
    const Tensor share = maximum(zero(element), 1.0f - absolute(spread - element));
    const Tensor is_valid =
        builder.reshape(map(Op::And, is_near, is_used), {regions, count, max_samples, 1});
    const Tensor total = sum(select(is_valid, share, zero(share)), {2});
    return total / builder.reshape(samples, {regions, 1, 1});
  }
};

// The maximum of the four weighted elements around each sample, over all samples of a bin;
// 0 for samples outside of the image.
Tensor max_pooled(Tensor images, const Bins& rows, const Bins& columns) {
  Builder& builder = *images.builder;
  const int64_t regions = images.shape()[0], channels = images.shape()[1];
  const Shape grid{regions, rows.count, columns.count, rows.max_samples, columns.max_samples};
  struct Side {
    Tensor low, high, share, is_near, is_used;
  };
  const auto side = [&](const Bins& bins, Shape shape) {
    const auto [position, is_near, is_used] = bins.positions();
    const auto spread = [&](Tensor each) {
      return builder.reshape(builder.broadcast_to(builder.reshape(each, shape), grid),
                             {regions, -1});
    };
    const Tensor low = detach(floor(position));
    const Tensor high = minimum(low + 1.0f, number_like(low, static_cast<double>(bins.extent - 1)));
    return Side{spread(low), spread(high), spread(position - low), spread(is_near),
                spread(is_used)};
  };
  const Side y = side(rows, {regions, rows.count, 1, rows.max_samples, 1});
  const Side x = side(columns, {regions, 1, columns.count, 1, columns.max_samples});
  Tensor best;
  for (const bool down : {false, true}) {
    for (const bool right : {false, true}) {
      const Tensor value = ops::sample(images, {down ? y.high : y.low, right ? x.high : x.low},
                                       {.interpolation = ops::Interpolation::Nearest});
      const Tensor share = (down ? y.share : 1.0f - y.share) * (right ? x.share : 1.0f - x.share);
      const Tensor term = value * builder.reshape(share, {regions, 1, -1});
      best = best.valid() ? builder.exclusive(maximum(best, term)) : term;
    }
  }
  const auto both = [&](Tensor a, Tensor b) {
    return builder.reshape(map(Op::And, a, b), {regions, 1, -1});
  };
  const Tensor is_used = map(Op::And, both(y.is_near, x.is_near), map(Op::Eq, best, best));
  const Tensor lowest = builder.full({}, scalar::fold_identity(Op::Max, best.dtype()));
  const Tensor seen = select(both(y.is_used, x.is_used), select(is_used, best, zero(best)), lowest);
  const Shape split{regions, channels, rows.count, columns.count,
                    rows.max_samples * columns.max_samples};
  return builder.exclusive(max(builder.reshape(seen, split), {4}));
}

// Of no regions.
Values none(Call& call, Shape shape) {
  const auto zero = scalar::Number::from(call.tensor(0).dtype(), 0);
  return {call.builder().full(std::move(shape), zero)};
}

}  // namespace

// Without sampling_ratio the number of samples depends on the size of a region, so the regions must
// be constant.
Result<Values> roi_align(Call& call) {
  const Shape in = call.shape(0), at = call.shape(1);
  if (in.size() != 4 || at.size() != 2 || at[1] != 4 || call.shape(2) != Shape{at[0]}) {
    return call.reject(concat("x ", bracketed(in), ", rois ", bracketed(at), " and batch indices ",
                              bracketed(call.shape(2)),
                              " must be [n, c, height, width], [regions, 4] and [regions]"));
  }
  LATHE_ASSIGN_OR_RETURN(const auto mode, call.choice_of("mode", {"avg", "max"}));
  const int64_t height = call.int_of("output_height", 1), width = call.int_of("output_width", 1);
  const int64_t ratio = call.int_of("sampling_ratio", 0);
  if (height < 1 || width < 1 || ratio < 0 || ratio > 1 << 12) {
    return call.reject(
        concat("cannot make regions ", height, " by ", width, " with ", ratio, " samples"));
  }
  LATHE_ASSIGN_OR_RETURN(
      const auto coordinates,
      call.choice_of("coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}));
  const bool is_half = call.version() >= 16 && coordinates == "half_pixel";
  if (at[0] == 0) return none(call, {0, in[1], height, width});
  const double scale = call.float_of("spatial_scale", 1);
  int64_t max_samples[2] = {ratio, ratio};
  if (ratio == 0) {
    LATHE_ASSIGN_OR_RETURN(const Content content, call.content(1));
    max_samples[0] = max_samples[1] = 1;
    for (int64_t r = 0; r < at[0]; ++r) {
      for (int64_t k = 0; k < 2; ++k) {  // rows first
        const double low = content.number(4 * r + 1 - k), high = content.number(4 * r + 3 - k);
        const double size = (high - low) * scale / static_cast<double>(k == 0 ? height : width);
        if (!(size < 1 << 12)) return call.reject("a region is too large");
        max_samples[k] =
            std::max(max_samples[k], static_cast<int64_t>(std::ceil(std::max(size, 1.0))));
      }
    }
  }
  const Tensor x = call.tensor(0), wide = in_floats(x), rois = cast_like(call.tensor(1), wide);
  if (!rois.valid()) return Values{};
  Builder& builder = *x.builder;
  const auto bins = [&](int64_t k, int64_t count, int64_t extent) {
    const Tensor by = number_like(rois, scale), half = number_like(rois, is_half ? 0.5 : 0);
    const Tensor begin = column(rois, 1 - k) * by - half;
    const Tensor end = column(rois, 3 - k) * by - half;
    const Tensor length = is_half ? end - begin : maximum(end - begin, number_like(rois, 1));
    const Tensor size = length / static_cast<float>(count);
    const Tensor sample_count = ratio > 0
                                    ? number_like(size, static_cast<double>(ratio)) + zero(size)
                                    : maximum(map(Op::Ceil, size), number_like(size, 1));
    return Bins{begin, size, sample_count, max_samples[k], count, extent};
  };
  const Bins rows = bins(0, height, in[2]), columns = bins(1, width, in[3]);
  const Tensor images = rows_at(wide, call.tensor(2));
  if (!images.valid()) return Values{};
  if (mode == "max") return Values{cast_like(max_pooled(images, rows, columns), x)};
  const auto spread = [&](Tensor shares, int64_t a, int64_t b) {
    return builder.reshape(shares, {at[0], 1, a, b});
  };
  const Tensor down = builder.matmul(spread(rows.shares(), height, in[2]), images);
  const Tensor y =
      builder.matmul(down, spread(columns.shares(), width, in[3]), false, /*transpose_y=*/true);
  return Values{cast_like(y, x)};
}

// The maximum of each bin; bins share elements at their edges, and empty ones are 0.
Result<Values> max_roi_pool(Call& call) {
  const Shape in = call.shape(0), at = call.shape(1), size = call.ints_of("pooled_shape");
  if (in.size() != 4 || at.size() != 2 || at[1] != 5 || size.size() != 2 || size[0] < 1 ||
      size[1] < 1) {
    return call.reject(concat("x ", bracketed(in), ", rois ", bracketed(at), " and pooled_shape ",
                              bracketed(size),
                              " must be [n, c, height, width], [regions, 5] and two sizes"));
  }
  if (at[0] == 0) return none(call, {0, in[1], size[0], size[1]});
  const Tensor x = call.tensor(0), rois = in_floats(call.tensor(1));
  Builder& builder = *x.builder;
  const Tensor scale = number_like(rois, call.float_of("spatial_scale", 1));
  const int64_t regions = at[0];
  // [regions, bins, extent]: whether an element is in a bin.
  const auto inside = [&](int64_t k, int64_t count, int64_t extent) {
    const auto rounded = [&](int64_t of) { return floor(column(rois, of) * scale + 0.5f); };
    const Tensor begin = rounded(2 - k), end = rounded(4 - k);
    const Tensor length = maximum(end - begin + 1.0f, number_like(rois, 1));
    const auto spread = [&](Tensor each) { return builder.reshape(each, {regions, 1, 1}); };
    const Shape shape{regions, count, extent};
    const Tensor bin = cast_like(builder.iota(shape, 1), rois);
    const Tensor element = cast_like(builder.iota(shape, 2), rois);
    const Tensor step = spread(length / static_cast<float>(count));
    const Tensor low = floor(bin * step) + spread(begin);
    const Tensor high = map(Op::Ceil, (bin + 1.0f) * step) + spread(begin);
    return map(Op::And, element >= low, element < high);
  };
  const Tensor down = inside(0, size[0], in[2]), right = inside(1, size[1], in[3]);
  const Tensor images = rows_at(x, column(rois, 0));
  const Tensor lowest = builder.full({}, scalar::fold_identity(Op::Max, x.dtype()));
  const auto folded = [&](Tensor all, Tensor is_in, Shape from, Shape mask, int axis) {
    const Tensor seen = select(builder.reshape(is_in, mask), builder.reshape(all, from), lowest);
    return builder.exclusive(max(seen, {axis}));
  };
  const Tensor rows =
      folded(images, right, {regions, in[1], in[2], 1, in[3]}, {regions, 1, 1, size[1], in[3]}, 4);
  const Tensor best =
      folded(rows, down, {regions, in[1], 1, in[2], size[1]}, {regions, 1, size[0], in[2], 1}, 3);
  return Values{select(map(Op::Eq, best, lowest), zero(best), best)};
}

}  // namespace lathe::onnx::rows
