#include "lathe/lower/cpu/schedule.h"

#include <algorithm>
#include <cstdlib>

#include "lathe/base/text.h"
#include "lathe/lower/cpu/lanes.h"

namespace lathe::lower::cpu {

namespace {

// x86 has sixteen vector registers. Twelve sums, two vectors of columns and one element of a row
// fit them; where a product needs a register until it is added, older engines (Node 20) allocate
// only eight sums there, best of two rows. By what multiplies, then by vectors of columns, up to
// four.
constexpr int32_t kRowsOfVectors[2][4] = {{6, 4, 2, 2}, {8, 6, 3, 6}};
constexpr int32_t kTileRegisters = 14, kRowVectors = 8;
constexpr int32_t kFullRowVectors = 16;
constexpr int32_t kScalars = 6;             // rows or columns of tiles without lanes along columns
constexpr int32_t kFewestRows = 4;          // that saturate the multipliers
constexpr int64_t kLittleWork = 1 << 19;    // multiply-adds
constexpr int32_t kSums = 8;                // vectors of running sums hide the latency of one
constexpr int64_t kSecondLevel = 1 << 18;   // elements that fill the second-level cache
constexpr int64_t kLineElements = 16;       // of a cache line
constexpr int64_t kFarStride = 256;         // elements between neighbours that share few cache sets
constexpr int64_t kWorthCopying = 1 << 15;  // uses of an element times that distance
constexpr int64_t kDeep = 600;              // neighbours whose cache lines exceed the first level
constexpr int64_t kFewestUses = 32;         // of an element of theirs that pay for a copy
constexpr int64_t kInFirstLevels = 1 << 15;  // elements
constexpr int64_t kLarge = 512;
constexpr int64_t kManyRows = 64;          // to see each panel
constexpr int32_t kStreamUnroll = 4;       // steps of a product of one row with panels
constexpr int64_t kFewSteps = 4;           // of a loop that is not worth having
constexpr int64_t kFewestSummed = 16;      // that pay for adding four lanes at the end
constexpr int64_t kWorthTransposing = 32;  // uses of an element
constexpr int32_t kUnblocked = 1 << 30;
constexpr int32_t kMaxRows = 16, kMaxColumns = 64, kMaxUnroll = 16;

// Blocks consist of full tiles.
int32_t block(int32_t requested, int32_t tile, int64_t extent) {
  if (requested >= extent) return kUnblocked;
  return (requested + tile - 1) / tile * tile;
}

void clamp_to(int32_t& value, int64_t limit) {
  value = static_cast<int32_t>(std::clamp<int64_t>(limit, 1, value));
}

Schedule legal_dots(Schedule schedule, const ContractionShape& shape) {
  Schedule dots = single_steps();
  dots.lanes = 2;
  dots.rows = schedule.rows;
  dots.columns = schedule.columns;
  dots.unroll = schedule.unroll;
  dots.winograd = schedule.winograd;
  clamp_to(dots.rows, std::min<int64_t>(shape.dot_rows(), kMaxRows));
  clamp_to(dots.columns, std::min<int64_t>(shape.dot_columns(), kMaxRows));
  clamp_to(dots.unroll, kMaxUnroll);
  return dots;
}

Schedule legal(Schedule schedule, const ContractionShape& shape) {
  const bool tiles = schedule.winograd >= 2 && shape.windows;
  schedule.winograd = !tiles ? 1 : schedule.winograd >= 4 ? 4 : 2;
  if (schedule.lanes >= 2 && shape.dots) return legal_dots(schedule, shape);
  schedule.lanes = 1;
  const auto lanes = static_cast<int32_t>(kLanes);
  clamp_to(schedule.rows, std::min<int64_t>(shape.rows(), kMaxRows));
  if (shape.column < 0) schedule.columns = 1;
  clamp_to(schedule.columns,
           std::min<int64_t>((shape.columns() + lanes - 1) / lanes * lanes, kMaxColumns));
  if (shape.column >= 0) schedule.columns = std::max(schedule.columns / lanes * lanes, lanes);
  clamp_to(schedule.unroll, kMaxUnroll);
  schedule.block_rows = block(schedule.block_rows, schedule.rows, shape.rows());
  schedule.block_columns = block(schedule.block_columns, schedule.columns, shape.columns());
  const int64_t depth = shape.reduced.size() == 1 ? shape.reduced[0].extent : 0;
  schedule.block_depth = block(schedule.block_depth, schedule.unroll, depth);
  if (shape.column < 0) schedule.pack_columns = 1;
  if (shape.column >= 0 && !shape.wide_contiguous) schedule.pack_columns = 2;
  if (shape.row < 0 || shape.narrow_moves) schedule.pack_rows = 1;
  return schedule;
}

struct Tile {
  int32_t rows, columns;
};

// The tallest tile; of a small product one that divides the rows, which reduces its code by half:
// training steps are long. They multiply by no constants.
int32_t max_rows(const ContractionShape& shape, int64_t vectors) {
  if (shape.column < 0) return kScalars;
  const int32_t tallest = kRowsOfVectors[shape.unit.fused][std::clamp<int64_t>(vectors, 1, 4) - 1];
  if (shape.wide_constant || shape.multiply_adds() >= kLittleWork) return tallest;
  for (int32_t rows = tallest; rows >= kFewestRows; --rows) {
    if (shape.rows() % rows == 0) return rows;
  }
  return tallest;
}

// Whether each of several rows has a separate matrix, such as cross-attention keys and values of
// decoders: these exceed the caches, where reading full cache lines is worth more sums than there
// are registers.
bool reads_matrices(const ContractionShape& shape) {
  const int64_t matrices = std::ranges::count_if(shape.spatial, [&](const auto& dimension) {
    return dimension.extent > 1 && shape.step(dimension, shape.wide) != 0;
  });
  return !shape.wide_constant && !shape.narrow_moves && matrices > 1;
}

Tile register_tile(const ContractionShape& shape) {
  const auto lanes = static_cast<int32_t>(shape.unit.doubled ? 2 * kLanes : kLanes);
  const int64_t vectors = (shape.columns() + lanes - 1) / lanes;
  const auto rows =
      static_cast<int32_t>(std::clamp<int64_t>(shape.rows(), 1, max_rows(shape, vectors)));
  if (shape.column < 0) return {rows, 1};
  if (rows == 1) return {1, (reads_matrices(shape) ? kFullRowVectors : kRowVectors) * lanes};
  if (shape.narrow_moves && vectors > 1) {
    // Where rows are not contiguous a tile reads full cache lines of each.
    return shape.columns() >= kFarStride ? Tile{2, 4 * lanes} : Tile{4, 2 * lanes};
  }
  return {rows, std::clamp(kTileRegisters / (rows + 1), 2, 4) * lanes};
}

// Worth it where lanes along the columns are impossible, or need a copy of an operand with little
// reuse.
bool prefers_dots(const ContractionShape& shape) {
  if (!shape.dots || shape.reduced.back().extent < kFewestSummed) return false;
  const bool free_copy = shape.wide_contiguous || shape.wide_constant;
  return shape.column < 0 || (!free_copy && shape.uses(shape.wide) < kWorthTransposing);
}

Tile dot_tile(const ContractionShape& shape) {
  const auto fitting = [](int64_t extent) {
    return static_cast<int32_t>(std::clamp<int64_t>(extent, 1, kScalars));
  };
  const int32_t rows = fitting(shape.dot_rows()), columns = fitting(shape.dot_columns());
  if (rows <= 2) return {rows, std::min(columns, rows == 1 ? kScalars : 4)};
  return {columns == 1 ? rows : columns == 2 ? std::min(rows, 4) : 3, std::min(columns, 3)};
}

}  // namespace

std::string text(const Schedule& schedule) {
  std::string out;
  for (const ScheduleField& each : kScheduleFields) {
    if (schedule.*each.field == 0) continue;
    lathe::append(out, out.empty() ? "" : " ", each.name, ' ', schedule.*each.field);
  }
  return out;
}

std::string contraction_key(const ContractionShape& shape) {
  return lower::contraction_key(shape, shape.wide_constant ? " constant" : "");
}

Schedule single_steps() {
  return {.rows = 1,
          .columns = 1,
          .unroll = 1,
          .block_rows = kUnblocked,
          .block_columns = kUnblocked,
          .block_depth = kUnblocked,
          .pack_rows = 1,
          .pack_columns = 1,
          .lanes = 1,
          .winograd = 1};
}

Schedule default_schedule(const ContractionShape& shape) {
  Schedule schedule = single_steps();
  schedule.winograd = winograd_tile(shape);
  const bool dots = prefers_dots(shape);
  schedule.lanes = dots ? 2 : 1;
  const Tile tile = dots ? dot_tile(shape) : register_tile(shape);
  schedule.rows = tile.rows;
  schedule.columns = tile.columns;
  if (dots) schedule.unroll = std::max(kSums / (tile.rows * tile.columns), 1);
  if (dots || shape.column < 0) return legal(schedule, shape);
  if (shape.narrow_moves && !shape.reduced.empty()) {
    const int64_t innermost = shape.reduced.back().extent;
    if (innermost <= kFewSteps) schedule.unroll = std::max(static_cast<int32_t>(innermost), 1);
    return legal(schedule, shape);
  }
  const int64_t rows = shape.rows(), columns = shape.columns(), depth = shape.depth();
  const bool plain = shape.reduced.size() == 1;
  if (rows == 1 && shape.wide_constant) {
    schedule.unroll = kStreamUnroll;
  } else if (rows == 1 && plain && columns * depth >= kSecondLevel) {
    // A few rows of the matrix at a time, each read to its end.
    schedule.unroll = schedule.block_depth = kStreams;
    return legal(schedule, shape);
  }
  const auto worth_copying = [&](int operand) {
    if (shape.reduced.empty() || (!plain && operand != shape.wide)) return false;
    if (operand == shape.wide && shape.wide_constant) return true;
    const int64_t step = shape.step(shape.reduced.back(), operand), uses = shape.uses(operand);
    const int64_t least = plain ? 1 : 2;  // a window's taps are deep: even fewer fit a cache
    const int64_t line = operand == shape.wide ? kFarStride / 2 : kLineElements;
    const bool deep = plain && depth >= kDeep && step >= line && uses >= kFewestUses;
    return deep || (step * least >= kFarStride && step * least * uses >= kWorthCopying);
  };
  const bool large = plain && rows >= kLarge && columns >= kLarge;
  if (worth_copying(shape.wide)) schedule.pack_columns = 2;
  // Where panels come from beyond the cache, rows side by side leave them its ways.
  const bool passes =
      plain && shape.wide_constant && rows >= kManyRows && columns * depth >= kSecondLevel;
  if (large || passes || worth_copying(1 - shape.wide)) schedule.pack_rows = 2;
  if (large && rows * depth >= 2 * kSecondLevel) {
    schedule.block_rows = static_cast<int32_t>(std::max<int64_t>(kSecondLevel / 2 / depth, 1));
  } else if (plain && columns * depth <= kInFirstLevels && rows * columns > kInFirstLevels) {
    schedule.block_rows = schedule.rows;  // walks what it writes, and what is read there, in order
  }
  return legal(schedule, shape);
}

Schedule narrowed(Schedule requested, const Schedule& otherwise, const ContractionShape& shape) {
  for (const ScheduleField& each : kScheduleFields) {
    if (requested.*each.field <= 0) requested.*each.field = otherwise.*each.field;
  }
  return legal(requested, shape);
}

}  // namespace lathe::lower::cpu
