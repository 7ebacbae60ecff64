#include "lower/schedule.h"

#include <algorithm>

#include "base/text.h"

namespace lathe::lower {

namespace {

void append_dimensions(std::string& out,
                       const std::vector<ContractionShape::Dimension>& dimensions) {
  for (const auto& d : dimensions) append(out, ' ', d.extent, ':', d.out, ',', d.lhs, ',', d.rhs);
}

// Eight vector accumulators with their operands fit the sixteen registers of x86.
constexpr int32_t kRows = 4, kColumns = 8;
constexpr int32_t kWhole = 1 << 30;
constexpr int32_t kMostRows = 16, kMostColumns = 64, kMostUnroll = 16;

// Blocks hold whole tiles.
int32_t block(int32_t wanted, int32_t tile, int64_t extent) {
  if (wanted >= extent) return kWhole;
  return (wanted + tile - 1) / tile * tile;
}

Schedule legal(Schedule schedule, const ContractionShape& shape) {
  const auto lanes = static_cast<int32_t>(loop::kLanes);
  const auto at_most = [](int32_t& value, int64_t most) {
    value = static_cast<int32_t>(std::clamp<int64_t>(most, 1, value));
  };
  at_most(schedule.rows, std::min<int64_t>(shape.rows(), kMostRows));
  if (shape.column < 0) schedule.columns = 1;
  at_most(schedule.columns,
          std::min<int64_t>((shape.columns() + lanes - 1) / lanes * lanes, kMostColumns));
  if (shape.column >= 0) schedule.columns = std::max(schedule.columns / lanes * lanes, lanes);
  at_most(schedule.unroll, kMostUnroll);
  schedule.block_rows = block(schedule.block_rows, schedule.rows, shape.rows());
  schedule.block_columns = block(schedule.block_columns, schedule.columns, shape.columns());
  const int64_t depth = shape.reduced.size() == 1 ? shape.reduced[0].extent : 0;
  schedule.block_depth = block(schedule.block_depth, schedule.unroll, depth);
  if (shape.column < 0) schedule.pack_columns = 1;
  if (shape.column >= 0 && !shape.wide_lies) schedule.pack_columns = 2;
  if (shape.row < 0 || shape.narrow_moves) schedule.pack_rows = 1;
  return schedule;
}

}  // namespace

std::string text(const Schedule& schedule) {
  std::string out;
  for (const ScheduleField& each : kScheduleFields) {
    if (schedule.*each.field == 0) continue;
    append(out, out.empty() ? "" : " ", each.name, ' ', schedule.*each.field);
  }
  return out;
}

int64_t ContractionShape::depth() const {
  int64_t depth = 1;
  for (const Dimension& d : reduced) depth *= d.extent;
  return depth;
}

int64_t ContractionShape::multiply_adds() const {
  int64_t count = depth();
  for (const Dimension& d : kept) count *= d.extent;
  return count;
}

std::string contraction_key(const ContractionShape& shape) {
  std::string key(scalar::text(shape.dtype));
  if (shape.in_place) key += " in place";
  append_dimensions(key, shape.kept);
  key += " |";
  append_dimensions(key, shape.reduced);
  return key;
}

Schedule single_steps() {
  return {.rows = 1,
          .columns = 1,
          .unroll = 1,
          .block_rows = kWhole,
          .block_columns = kWhole,
          .block_depth = kWhole,
          .pack_rows = 1,
          .pack_columns = 1,
          .lanes = 1};
}

Schedule default_schedule(const ContractionShape& shape) {
  Schedule schedule = single_steps();
  schedule.rows = static_cast<int32_t>(std::clamp<int64_t>(shape.rows(), 1, kRows));
  // Narrow outputs trade rows for columns.
  const int32_t lanes = static_cast<int32_t>(loop::kLanes);
  schedule.columns = std::max(kColumns, kRows * kColumns / schedule.rows / lanes * lanes);
  return legal(schedule, shape);
}

Schedule narrowed(Schedule wanted, const Schedule& otherwise, const ContractionShape& shape) {
  for (const ScheduleField& each : kScheduleFields) {
    if (wanted.*each.field <= 0) wanted.*each.field = otherwise.*each.field;
  }
  return legal(wanted, shape);
}

}  // namespace lathe::lower
