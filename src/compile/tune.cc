#include "lathe/compile/tune.h"

#include <algorithm>
#include <span>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"

namespace lathe::compile {
namespace {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Tensor;
using lower::cpu::ContractionShape;
using lower::cpu::Schedule;

struct Tile {
  int32_t rows, columns;
};

// What won somewhere in sweeps over all tiles of 1-8 rows and 1-8 vectors (`bench tune`).
constexpr Tile kTiles[] = {{4, 8}, {3, 12}, {6, 8}, {2, 16}, {5, 8}, {4, 12}, {8, 8}, {1, 32}};
// The same where two vectors run as one.
constexpr Tile kWideTiles[] = {{6, 16}, {4, 16}, {5, 16}, {3, 24}, {2, 32}, {8, 8}, {4, 24}};
// Tiles whose every element is a dot product in one vector.
constexpr Tile kDotTiles[] = {{3, 3}, {4, 2}, {2, 4}, {1, 8}, {4, 4}, {1, 4}};
constexpr int32_t kUnrolls[] = {1, 2, 4};

// A multiple of the rows of common tiles.
constexpr int64_t kMeasuredRows = 120, kLongest = 1 << 25;
// Blocks pay where operands outgrow the caches.
constexpr int64_t kLarge = 1 << 24;
struct Blocks {
  int32_t rows, columns, depth;
};
constexpr Blocks kBlocks[] = {{0, 0, 256}, {96, 0, 256}, {96, 192, 256}, {0, 192, 0}, {96, 0, 0}};

std::span<const Tile> tiles(const lower::cpu::VectorUnit& unit) {
  return unit.doubled ? std::span<const Tile>(kWideTiles) : kTiles;
}

// An operand as a flat array that is just long enough, read with the strides of the shape.
struct FlatOperand {
  AffineMap map;
  int64_t size = 1;

  FlatOperand(const ContractionShape& shape, int64_t ContractionShape::Dimension::*stride) {
    map.axes.push_back({});
    Affine& at = map.axes.back();
    for (const auto* dimensions : {&shape.spatial, &shape.reduced}) {
      for (const ContractionShape::Dimension& d : *dimensions) {
        const int64_t reach = d.*stride * (d.extent - 1);
        at.coefficients.push_back(d.*stride);
        at.offset -= std::min<int64_t>(reach, 0);
        size += std::abs(reach);
      }
    }
  }
};

// Small numbers, of which sums are exact. No half is one of these floats: the compiler would store
// them as float16.
Tensor constant_numbers(Builder& b, graph::DType dtype, int64_t count) {
  std::vector<std::byte> data(static_cast<size_t>(count) *
                              static_cast<size_t>(scalar::size_of(dtype)));
  const double fraction = dtype == graph::DType::F32 ? 0x1p-12 : 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<double>(i * 7 % 5 - 2) + fraction;
    graph::store(data, i, scalar::Number::from(dtype, number));
  }
  return b.constant(dtype, {count}, std::move(data));
}

// The shape with fewer rows where it would be slow: all tiles see the same panels then, too.
ContractionShape measured(ContractionShape shape) {
  if (shape.row < 0 || shape.multiply_adds() <= kLongest) return shape;
  int64_t& rows = shape.spatial[static_cast<size_t>(shape.row)].extent;
  rows = std::min(rows, kMeasuredRows);
  int64_t step = 1;
  for (size_t i = shape.spatial.size(); i-- > 0;) {
    shape.spatial[i].out = step;
    step *= shape.spatial[i].extent;
  }
  return shape;
}

Result<graph::Program> kernel_program(ContractionShape shape) {
  if (shape.paired) shape.reduced.back().extent *= 2;
  graph::Contraction contraction;
  graph::Shape out;
  for (const ContractionShape::Dimension& d : shape.spatial) out.push_back(d.extent);
  contraction.extents = out;
  for (const auto& d : shape.reduced) contraction.extents.push_back(d.extent);
  std::vector<int> dimensions;
  for (size_t d = 0; d < out.size(); ++d) dimensions.push_back(static_cast<int>(d));
  contraction.out = AffineMap::project(static_cast<int>(contraction.extents.size()), dimensions);
  FlatOperand lhs(shape, &ContractionShape::Dimension::lhs);
  FlatOperand rhs(shape, &ContractionShape::Dimension::rhs);
  contraction.lhs = std::move(lhs.map);
  contraction.rhs = std::move(rhs.map);

  Builder b("run");
  const auto operand = [&](const char* name, int which, int64_t size) {
    const bool is_constant = shape.wide_constant && shape.wide == which;
    graph::DType dtype = shape.read[which];
    const bool is_float16 = dtype == graph::DType::U16 && scalar::is_float(shape.dtype);
    if (is_float16) dtype = graph::DType::F16;  // of bf16 as well
    return is_constant ? constant_numbers(b, dtype, size) : b.input(name, dtype, {size});
  };
  Tensor x = operand("x", 0, lhs.size), y = operand("y", 1, rhs.size);
  if (shape.read[0] != shape.read[1]) {
    x = b.cast(x, shape.dtype);
    y = b.cast(y, shape.dtype);
  }
  const Tensor z = b.contract(x, y, std::move(contraction), out);
  if (shape.inplace) {
    const Tensor sum = b.state("z", shape.dtype, out);
    b.update(sum, sum + z);
  } else {
    b.output("z", z);
  }
  graph::Program program;
  LATHE_ASSIGN_OR_RETURN(graph::Graph run, std::move(b).finish());
  program.entries.push_back(std::move(run));
  return program;
}

}  // namespace

std::vector<Schedule> candidates(const ContractionShape& shape) {
  const Schedule standard = lower::cpu::default_schedule(shape);
  std::vector<Schedule> found = {standard};
  const auto add = [&](Schedule requested) {
    if (requested.winograd == 0) requested.winograd = 1;
    const Schedule fitting = lower::cpu::narrowed(requested, standard, shape);
    if (std::ranges::find(found, fitting) == found.end()) found.push_back(fitting);
  };
  for (const int32_t tile : {2, 4}) add({.winograd = tile});
  for (const int32_t unroll : kUnrolls) {
    for (const Tile& tile : tiles(shape.unit)) {
      add({.rows = tile.rows, .columns = tile.columns, .unroll = unroll, .lanes = 1});
    }
    if (shape.dots) {
      for (const Tile& tile : kDotTiles) {
        add({.rows = tile.rows, .columns = tile.columns, .unroll = unroll, .lanes = 2});
      }
    }
    for (const int32_t pack_rows : {1, 2}) {
      for (const int32_t pack_columns : {1, 2}) {
        add({.unroll = unroll, .pack_rows = pack_rows, .pack_columns = pack_columns});
      }
    }
  }
  if (shape.multiply_adds() >= kLarge) {
    for (const Blocks& blocks : kBlocks) {
      add({.block_rows = blocks.rows,
           .block_columns = blocks.columns,
           .block_depth = blocks.depth,
           .pack_rows = 2,
           .pack_columns = 2});
    }
  }
  found.erase(found.begin());
  return found;
}

Result<Executable> compile_kernel(const lower::cpu::ScheduledContraction& contraction,
                                  const Schedule& schedule, const Features& features) {
  const ContractionShape shape = measured(contraction.shape);
  const std::string key = shape.multiply_adds() == contraction.shape.multiply_adds()
                              ? contraction.key
                              : lower::cpu::contraction_key(shape);
  LATHE_ASSIGN_OR_RETURN(const graph::Program program, kernel_program(shape));
  Options options;
  options.features = features;
  options.features.threads = false;
  options.schedules[key] = schedule;
  LATHE_ASSIGN_OR_RETURN(Executable kernel, compile(program, options));
  const auto& contractions = kernel.wasm().contractions;
  if (contractions.empty() || contractions[0].key != key) {
    return fail(concat("the contraction '", contraction.key, "' cannot be measured standalone"));
  }
  return kernel;
}

}  // namespace lathe::compile
