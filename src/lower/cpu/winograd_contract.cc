// Convolutions by 3x3 windows as products of transformed tiles, in separate kernels: tiles of
// the image are transformed, as is the filter (once and for all where it is constant); for each
// point of a tile there is one product of all tiles with all channels; what comes out is
// transformed back and finished.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/lower/contraction.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/cpu/winograd.h"
#include "lathe/lower/segments.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Kernel;
using loop::Stmt;

namespace {

constexpr int64_t kCacheLine = 16;       // elements
constexpr int64_t kCacheSets = 1 << 10;  // elements after which lines map to the same set

constexpr int64_t kStrip = 32;
using Strip = std::array<float, kStrip>;
template <size_t rows, size_t columns>
using Strips = std::array<std::array<Strip, columns>, rows>;

void add(Strip& to, float factor, const Strip& from) {
  if (factor == 0) return;
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

using Elements = std::vector<ExprId>;  // -1 is zero
using Grid = std::vector<Elements>;

Grid transposed(const Grid& grid) {
  Grid result(grid[0].size(), Elements(grid.size()));
  for (size_t i = 0; i < grid.size(); ++i) {
    for (size_t j = 0; j < grid[i].size(); ++j) result[j][i] = grid[i][j];
  }
  return result;
}

// Straight-line code on one vector of channels: every value that is reused is stored in
// registers.
class VectorCode {
 public:
  explicit VectorCode(Nest& nest) : nest_(nest), lane_(nest.kernel().add_var("v", kLanes)) {
    registers_ = nest.kernel().add_register("held", loop::DType::F32, 0);
  }

  Affine lane() const { return Affine::variable(lane_); }

  ExprId materialize(ExprId value) {
    loop::ExprBuilder& exprs = nest_.exprs();
    if (value < 0 || exprs[value].buffer == registers_) return value;
    int64_t& size = nest_.kernel().registers[registers_.id].size;
    const Affine register_index = lane() + size;
    size += kLanes;
    body_.push_back(loop::store(registers_, register_index, value));
    return exprs.load(registers_, loop::DType::F32, register_index);
  }

  // sum of coefficients[i] * values[i] over every `step`-th i.
  template <class Coefficients>
  ExprId sum(const Coefficients& coefficients, const Elements& values, size_t from = 0,
             size_t step = 1) {
    loop::ExprBuilder& exprs = nest_.exprs();
    ExprId result = -1;
    for (size_t i = from; i < values.size(); i += step) {
      const float factor = coefficients[i];
      if (factor == 0 || values[i] < 0) continue;
      const bool one = factor == 1 || (factor == -1 && result >= 0);
      const ExprId scale = one ? -1 : exprs.constant(factor);
      if (result < 0) {
        result = one ? values[i] : exprs.apply(loop::Op::Mul, {values[i], scale});
      } else if (one) {
        result = exprs.apply(factor == 1 ? loop::Op::Add : loop::Op::Sub, {result, values[i]});
      } else {
        result = exprs.apply(loop::Op::MulAdd, {values[i], scale, result});
      }
    }
    return result;
  }

  // One value for each point, from rows of coefficients that go in pairs.
  template <class Rows>
  Elements to_points(const Rows& rows, int64_t points, Elements values) {
    for (ExprId& value : values) value = materialize(value);
    Elements result = {sum(rows[0], values)};
    const auto last = static_cast<size_t>(points - 1);
    for (size_t point = 1; point < last; point += 2) {
      const ExprId even = materialize(sum(rows[point], values, 0, 2));
      const ExprId odd = materialize(sum(rows[point], values, 1, 2));
      result.push_back(combined(loop::Op::Add, even, odd));
      result.push_back(combined(loop::Op::Sub, even, odd));
    }
    result.push_back(sum(rows[last], values));
    return result;
  }

  // The first `count` outputs from the values of all points, which go in pairs.
  Elements from_points(const WinogradTransforms& transforms, Elements values, int64_t count) {
    const auto points = static_cast<size_t>(transforms.points);
    for (ExprId& value : values) value = materialize(value);
    Elements sums = values, differences = values;
    for (size_t point = 1; point + 1 < points; point += 2) {
      sums[point] = materialize(combined(loop::Op::Add, values[point], values[point + 1]));
      differences[point] = materialize(combined(loop::Op::Sub, values[point], values[point + 1]));
      sums[point + 1] = differences[point + 1] = -1;
    }
    Elements result;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      std::array<float, kMaxPoints> column{};
      for (size_t point = 0; point < points; ++point) column[point] = transforms.output[point][i];
      result.push_back(sum(column, i % 2 == 0 ? sums : differences));
    }
    return result;
  }

  void store(BufferRef buffer, const Affine& address, ExprId value) {
    body_.push_back(loop::store(buffer, address, value));
  }
  void add(std::vector<Stmt> statements) { append(body_, std::move(statements)); }

  std::vector<Stmt> finish() {
    std::vector<Stmt> looped;
    looped.push_back(loop::for_loop(lane_, loop::LoopKind::Vector, std::move(body_)));
    return looped;
  }

 private:
  ExprId combined(loop::Op op, ExprId x, ExprId y) {
    if (y < 0) return x;
    if (x >= 0) return nest_.exprs().apply(op, {x, y});
    return op == loop::Op::Add ? y : nest_.exprs().apply(loop::Op::Neg, {y});
  }

  Nest& nest_;
  loop::VarId lane_;
  BufferRef registers_;
  std::vector<Stmt> body_;
};

// Calls `make` with the first channel of every vector; the last may overlap the previous one.
template <class Make>
std::vector<Stmt> over_channels(Kernel& kernel, int64_t channels, const Make& make) {
  std::vector<Stmt> body;
  for (const Segment& segment : split_vectors(channels, kLanes)) {
    const StepLoop steps = step_loop(kernel, "c", segment);
    append(body, steps.around(make(steps.position + (-segment.shift))));
  }
  return body;
}

class WinogradLowering {
 public:
  WinogradLowering(Contraction& contraction, const ContractionShape& shape, int64_t tile)
      : contraction_(contraction),
        shape_(shape),
        windows_(*shape.windows),
        transforms_(winograd_transforms(tile)),
        column_(spatial(shape.column)),
        positions_{spatial(windows_.axes[0].index), spatial(windows_.axes[1].index)},
        taps_{reduced(windows_.axes[0].tap), reduced(windows_.axes[1].tap)},
        channel_(reduced(windows_.channel)),
        image_(1 - shape.wide) {
    for (const int d : contraction.spatial()) {
      if (d == column_ || d == positions_[0] || d == positions_[1]) continue;
      outer_.push_back(d);
      tiles_ *= contraction.extent(d);
    }
    for (const int d : positions_) {
      along_.push_back((contraction.extent(d) + tile - 1) / tile);
      tiles_ *= along_.back();
    }
    const auto collides = [&](int64_t channels) { return tiles_ * channels % kCacheSets == 0; };
    rows_ = tiles_ + (collides(in()) || collides(out()) ? 1 : 0);
    filter_size_ = in() * out() + kCacheLine;
  }

  void run() {
    const int64_t points = transforms_.points * transforms_.points;
    const BufferRef tiles = scratch("tiles", points * rows_ * in());
    const BufferRef products = scratch("products", points * rows_ * out());
    transform_image(tiles);
    multiply(tiles, transformed_filter(points * filter_size_), products);
    transform_products(products);
  }

 private:
  int spatial(int i) const { return contraction_.spatial()[i]; }
  int reduced(int i) const { return contraction_.reduced()[i]; }
  int64_t in() const { return windows_.channels; }
  int64_t out() const { return contraction_.extent(column_); }
  EntryContext& context() { return contraction_.context(); }

  std::string buffer_name(const char* what) {
    return concat(context().graph.name, '.', what, contraction_.group().anchor().id);
  }

  BufferRef scratch(const char* what, int64_t size) {
    return {loop::Space::Global, context().add_buffer(buffer_name(what), loop::DType::F32, size,
                                                      loop::BufferRole::Temporary)};
  }

  Kernel new_kernel() const {
    Kernel kernel;
    kernel.origin = contraction_.kernel().origin;
    kernel.vars = contraction_.kernel().vars;
    return kernel;
  }

  void add_before(Kernel kernel) { context().before.push_back(std::move(kernel)); }

  // The start of a tile, and its extent inside the result.
  struct Tile {
    std::array<Affine, 2> start;
    std::array<int64_t, 2> outputs;
    Affine number;
  };

  template <class Make>
  void over_tiles(Kernel& kernel, const Make& make) {
    Affine outer;
    for (const int d : outer_) {
      outer = outer * contraction_.extent(d) + contraction_.index()[d];
    }
    const auto segments = [&](size_t axis) {
      return split(contraction_.extent(positions_[axis]), transforms_.tile);
    };
    for (const Segment& y : segments(0)) {
      const StepLoop down = step_loop(kernel, "y", y);
      std::vector<Stmt> row;
      for (const Segment& x : segments(1)) {
        const StepLoop along = step_loop(kernel, "x", x);
        const Affine number = (outer * along_[0] + nth(down, y)) * along_[1] + nth(along, x);
        const Tile tile{{down.position, along.position}, {y.width, x.width}, number};
        append(row, along.around(make(tile), true));
      }
      append(kernel.body, down.around(std::move(row)));
    }
    for (size_t i = outer_.size(); i-- > 0;) {
      kernel.body = contraction_.serial(outer_[i], std::move(kernel.body));
    }
  }

  Affine nth(const StepLoop& step, const Segment& segment) const {
    const Affine first(segment.begin / transforms_.tile);
    return step.var < 0 ? first : first + Affine::variable(step.var);
  }

  // Sets the indices of a tap, which is numbered along the image.
  void set_tap(Index& index, size_t axis, int64_t tap) const {
    if (windows_.axes[axis].flip) tap = kTaps - 1 - tap;
    if (taps_[axis] == channel_) {
      index[channel_] += Affine(tap * in());
    } else {
      index[taps_[axis]] = tap;
    }
  }

  Index with_channel(const Affine& channel) const {
    Index index = contraction_.index();
    index[channel_] = channel;
    return index;
  }

  void transform_image(BufferRef tiles) {
    Kernel kernel = new_kernel();
    Nest nest(context(), kernel);
    over_tiles(kernel, [&](const Tile& tile) {
      return over_channels(kernel, in(), [&](const Affine& channel) {
        return transform_tile(nest, tile, channel, tiles);
      });
    });
    add_before(std::move(kernel));
  }

  std::vector<Stmt> transform_tile(Nest& nest, const Tile& tile, const Affine& channel,
                                   BufferRef tiles) {
    VectorCode code(nest);
    const Affine at = channel + code.lane();
    const auto points = static_cast<size_t>(transforms_.points);
    Grid columns;
    for (int64_t x = 0; x < transforms_.points; ++x) {
      Elements column;
      for (int64_t y = 0; y < transforms_.points; ++y) {
        const bool inside = y < tile.outputs[0] + kTaps - 1 && x < tile.outputs[1] + kTaps - 1;
        column.push_back(inside ? pixel(nest, tile, {y, x}, at) : -1);
      }
      columns.push_back(code.to_points(transforms_.input, transforms_.points, std::move(column)));
    }
    const Grid rows = transposed(columns);
    for (size_t y = 0; y < points; ++y) {
      const Elements row = code.to_points(transforms_.input, transforms_.points, rows[y]);
      for (size_t x = 0; x < points; ++x) {
        const auto point = static_cast<int64_t>(y * points + x);
        const Affine address = (tile.number + point * rows_) * in() + at;
        code.store(tiles, address, or_zero(nest, row[x]));
      }
    }
    return code.finish();
  }

  static ExprId or_zero(Nest& nest, ExprId value) {
    return value >= 0 ? value : nest.exprs().constant(0.0F);
  }

  ExprId pixel(Nest& nest, const Tile& tile, std::array<int64_t, 2> at, const Affine& channel) {
    Index index = with_channel(channel);
    for (size_t axis = 0; axis < 2; ++axis) {
      set_tap(index, axis, 0);
      index[positions_[axis]] = tile.start[axis] + at[axis];
    }
    return contraction_.element(nest, image_, index);
  }

  ExprId tap(Nest& nest, std::array<int64_t, 2> at, const Affine& channel, const Affine& column) {
    Index index = with_channel(channel);
    index[column_] = column;
    for (size_t axis = 0; axis < 2; ++axis) set_tap(index, axis, at[axis]);
    return contraction_.element(nest, shape_.wide, index);
  }

  BufferRef transformed_filter(int64_t size) {
    Kernel kernel = new_kernel();
    Nest nest(context(), kernel);
    const loop::VarId c = kernel.add_var("in", in()), o = kernel.add_var("out", out());
    Grid taps(kTaps);
    for (int64_t y = 0; y < kTaps; ++y) {
      for (int64_t x = 0; x < kTaps; ++x) {
        taps[y].push_back(tap(nest, {y, x}, Affine::variable(c), Affine::variable(o)));
      }
    }
    const BufferRef filter = scratch("filter", size);
    if (shape_.wide_constant && kernel.exprs[taps[0][0]].guards.empty()) {
      fold_filter(kernel, taps, c, o, filter);
    } else {
      transform_filter(filter);
    }
    return filter;
  }

  loop::Buffer& buffer(BufferRef ref) { return context().module.buffers[ref.id]; }

  // At compile time, a few columns at a time.
  void fold_filter(const Kernel& kernel, const Grid& taps, loop::VarId c, loop::VarId o,
                   BufferRef filter) {
    const auto address = [&](size_t y, size_t x) { return kernel.exprs[taps[y][x]].address; };
    const loop::Expr& first = kernel.exprs[taps[0][0]];
    const int64_t c_step = first.address.coefficient(c), o_step = first.address.coefficient(o);
    const auto* from = reinterpret_cast<const float*>(buffer(first.buffer).data.data());
    const auto bytes = static_cast<size_t>(buffer(filter).size) * sizeof(float);
    // Zeros of the system: a vector writes them byte by byte in code made small.
    const std::shared_ptr<std::byte> data(static_cast<std::byte*>(std::calloc(bytes, 1)),
                                          std::free);
    LATHE_CHECK(data != nullptr || bytes == 0);
    auto* to = reinterpret_cast<float*>(data.get());
    const auto points = static_cast<size_t>(transforms_.points);
    for (int64_t channel = 0; channel < in(); ++channel) {
      for (int64_t column = 0; column < out(); column += kStrip) {
        const int64_t width = std::min(kStrip, out() - column);
        Strips<kMaxPoints, kTaps> rows = {};
        for (size_t x = 0; x < kTaps; ++x) {
          for (size_t y = 0; y < kTaps; ++y) {
            const int64_t at = address(y, x).offset + channel * c_step + column * o_step;
            Strip strip = {};
            for (int64_t i = 0; i < width; ++i) {
              strip[i] = from[at + i * o_step];
            }
            for (size_t point = 0; point < points; ++point) {
              add(rows[point][x], transforms_.filter[point][y], strip);
            }
          }
        }
        for (size_t point = 0; point < points * points; ++point) {
          Strip strip = {};
          for (size_t x = 0; x < kTaps; ++x) {
            add(strip, transforms_.filter[point % points][x], rows[point / points][x]);
          }
          const int64_t at = static_cast<int64_t>(point) * filter_size_ + channel * out() + column;
          std::copy_n(strip.begin(), width, to + at);
        }
      }
    }
    buffer(filter).role = loop::BufferRole::Constant;
    buffer(filter).data = {data, bytes};
  }

  void transform_filter(BufferRef filter) {
    Kernel kernel = new_kernel();
    Nest nest(context(), kernel);
    const StepLoop channels = step_loop(kernel, "in", {0, in(), 1});
    kernel.body = channels.around(over_channels(kernel, out(),
                                                [&](const Affine& column) {
                                                  return transform_taps(nest, channels.position,
                                                                        column, filter);
                                                }),
                                  true);
    add_before(std::move(kernel));
  }

  std::vector<Stmt> transform_taps(Nest& nest, const Affine& channel, const Affine& column,
                                   BufferRef filter) {
    VectorCode code(nest);
    const Affine at = column + code.lane();
    const auto points = static_cast<size_t>(transforms_.points);
    Grid columns;
    for (int64_t x = 0; x < kTaps; ++x) {
      Elements taps;
      for (int64_t y = 0; y < kTaps; ++y) taps.push_back(tap(nest, {y, x}, channel, at));
      columns.push_back(code.to_points(transforms_.filter, transforms_.points, std::move(taps)));
    }
    const Grid rows = transposed(columns);
    for (size_t y = 0; y < points; ++y) {
      const Elements row = code.to_points(transforms_.filter, transforms_.points, rows[y]);
      for (size_t x = 0; x < points; ++x) {
        const auto point = static_cast<int64_t>(y * points + x);
        code.store(filter, channel * out() + at + point * filter_size_, row[x]);
      }
    }
    return code.finish();
  }

  // products[point, tile, out] = sum over in of tiles[point, tile, in] * filter[point, in, out]: a
  // contraction like any other, with a separate schedule.
  void multiply(BufferRef tiles, BufferRef filter, BufferRef products) {
    const int64_t points = transforms_.points * transforms_.points;
    graph::Graph graph;
    graph.name = context().graph.name;
    const graph::Shape tiles_shape = {points, rows_, in()}, shape = {points, rows_, out()};
    graph.nodes.push_back({.kind = graph::Kind::Input, .shape = tiles_shape});
    graph.nodes.push_back({.kind = graph::Kind::Input, .shape = {points, filter_size_}});
    graph::Contraction product;
    product.extents = {points, rows_, out(), in()};
    product.out = graph::AffineMap::project(4, {0, 1, 2});
    product.lhs = graph::AffineMap::project(4, {0, 1, 3});
    product.rhs.axes = {{{1, 0, 0, 0}}, {{0, 0, 1, out()}}};
    graph.nodes.push_back({.kind = graph::Kind::Contract,
                           .shape = shape,
                           .operands = {{0}, {1}},
                           .contraction = std::move(product)});
    graph.outputs.push_back({"products", {2}});
    const Fusion fusion = fuse_groups(graph);
    LATHE_CHECK(fusion.groups.size() == 1);
    EntryContext& outer = context();
    EntryContext inner{
        graph, fusion, {tiles.id, filter.id, products.id}, outer.module, outer.strategies};
    Kernel kernel;
    kernel.origin = contraction_.kernel().origin;
    Nest nest(inner, kernel);
    lower_contract(nest, fusion.groups[0]);
    inner.before.push_back(std::move(kernel));
    for (Kernel& each : inner.before) add_before(std::move(each));
  }

  void transform_products(BufferRef products) {
    Kernel& kernel = contraction_.kernel();
    over_tiles(kernel, [&](const Tile& tile) {
      return over_channels(
          kernel, out(), [&](const Affine& column) { return finish_tile(tile, column, products); });
    });
  }

  std::vector<Stmt> finish_tile(const Tile& tile, const Affine& column, BufferRef products) {
    VectorCode code(contraction_.nest());
    const Affine at = column + code.lane();
    Grid columns;
    for (int64_t x = 0; x < transforms_.points; ++x) {
      Elements values;
      for (int64_t y = 0; y < transforms_.points; ++y) {
        const int64_t point = y * transforms_.points + x;
        values.push_back(contraction_.exprs().load(products, loop::DType::F32,
                                                   (tile.number + point * rows_) * out() + at));
      }
      columns.push_back(code.from_points(transforms_, std::move(values), tile.outputs[0]));
    }
    const Grid rows = transposed(columns);
    for (int64_t y = 0; y < tile.outputs[0]; ++y) {
      const Elements row = code.from_points(transforms_, rows[y], tile.outputs[1]);
      for (int64_t x = 0; x < tile.outputs[1]; ++x) {
        Index index = contraction_.index();
        index[positions_[0]] = tile.start[0] + y;
        index[positions_[1]] = tile.start[1] + x;
        index[column_] = at;
        const ExprId sum = code.materialize(row[x]);
        code.add(contraction_.finish(index, sum, code.lane(), kLanes));
      }
    }
    return code.finish();
  }

  Contraction& contraction_;
  const ContractionShape& shape_;
  const Windows& windows_;
  const WinogradTransforms& transforms_;
  int column_;
  std::array<int, 2> positions_, taps_;
  int channel_, image_;
  std::vector<int> outer_;
  std::vector<int64_t> along_;  // tiles along each axis
  int64_t tiles_ = 1;
  int64_t rows_ = 0;         // of the products: the tiles, and one where lines would collide
  int64_t filter_size_ = 0;  // elements from one point to the next
};

}  // namespace

void winograd_contract(Contraction& contraction, const ContractionShape& shape,
                       const Schedule& schedule) {
  WinogradLowering(contraction, shape, schedule.winograd).run();
}

}  // namespace lathe::lower::cpu
