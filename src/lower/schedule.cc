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
constexpr int32_t kMostRows = 16, kMostColumns = 64, kMostUnroll = 16;

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

Schedule default_schedule(const ContractionShape& shape) {
  Schedule schedule;
  schedule.rows = static_cast<int32_t>(std::clamp<int64_t>(shape.rows(), 1, kRows));
  // Narrow outputs trade rows for columns.
  const int32_t lanes = static_cast<int32_t>(loop::kLanes);
  schedule.columns = std::max(kColumns, kRows * kColumns / schedule.rows / lanes * lanes);
  schedule.unroll = 1;
  schedule.lanes = 1;
  schedule.pack_rows = schedule.pack_columns = 1;
  return schedule;
}

Schedule narrowed(Schedule wanted, const Schedule& otherwise, const ContractionShape& shape) {
  for (const ScheduleField& each : kScheduleFields) {
    if (wanted.*each.field <= 0) wanted.*each.field = otherwise.*each.field;
  }
  const auto lanes = static_cast<int32_t>(loop::kLanes);
  const auto at_most = [](int32_t& value, int64_t most) {
    value = static_cast<int32_t>(std::clamp<int64_t>(most, 1, value));
  };
  at_most(wanted.rows, shape.rows());
  at_most(wanted.rows, kMostRows);
  wanted.columns = std::clamp(wanted.columns / lanes * lanes, lanes, kMostColumns);
  at_most(wanted.unroll, kMostUnroll);
  return wanted;
}

}  // namespace lathe::lower
