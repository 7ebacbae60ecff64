#include "lathe/lower/gpu/schedule.h"

#include <algorithm>
#include <bit>

#include "lathe/base/text.h"
#include "lathe/loop/bind_grid.h"

namespace lathe::lower::gpu {

namespace {

constexpr int64_t kShortest = 4;       // loop worth tiling
constexpr int64_t kFewestGroups = 64;  // that keep a card busy
constexpr int64_t kDeep = 512;         // steps worth splitting
constexpr int32_t kMostTile = 256, kMostThread = 16, kMostDepth = 64, kMostSplit = 64;
constexpr int32_t kMostVector = 4, kMostPad = 8;

// What worked on an H200, written by hand; narrower for outputs of fewer groups.
constexpr Schedule kTiles[] = {
    {.tile_rows = 128, .tile_columns = 128, .thread_rows = 16, .thread_columns = 8},
    {.tile_rows = 64, .tile_columns = 64, .thread_rows = 8, .thread_columns = 8},
    {.tile_rows = 32, .tile_columns = 32, .thread_rows = 4, .thread_columns = 4},
    {.tile_rows = 16, .tile_columns = 16, .thread_rows = 2, .thread_columns = 2},
    {.tile_rows = 8, .tile_columns = 8, .thread_rows = 1, .thread_columns = 1},
};

int64_t steps(int64_t extent, int64_t width) { return (extent + width - 1) / width; }

// The power of two that is not above `value`, and no more than what `extent` elements fill.
void at_most(int32_t& value, int64_t most, int64_t extent) {
  const auto filled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)));
  const int64_t fitting = std::clamp<int64_t>(value, 1, std::min(most, filled));
  value = static_cast<int32_t>(std::bit_floor(static_cast<uint64_t>(fitting)));
}

int64_t parts(const Schedule& s) {
  return int64_t{s.tile_rows} / s.thread_rows * (s.tile_columns / s.thread_columns);
}

int64_t shared_bytes(const Schedule& s, const ContractionShape& shape) {
  const int64_t rows = (s.tile_rows + s.pad) * shape.bytes[1 - shape.wide];
  return s.buffers * s.depth * (rows + (s.tile_columns + s.pad) * shape.bytes[shape.wide]);
}

// One element a thread.
Schedule untiled(int32_t threads, const Device& device) {
  Schedule schedule;
  for (const ScheduleField& each : kScheduleFields) schedule.*each.field = 1;
  schedule.pad = 0;
  at_most(threads, device.threads, device.threads);
  schedule.threads = threads;
  return schedule;
}

// A larger part for each thread, then smaller tiles.
void fit_threads(Schedule& s, int64_t most) {
  while (parts(s) > most) {
    const bool rows_held = s.thread_rows == std::min(s.tile_rows, kMostThread);
    const bool columns_held = s.thread_columns == std::min(s.tile_columns, kMostThread);
    if (!columns_held && (rows_held || s.thread_columns <= s.thread_rows)) {
      s.thread_columns *= 2;
    } else if (!rows_held) {
      s.thread_rows *= 2;
    } else {
      (s.tile_rows > s.tile_columns ? s.tile_rows : s.tile_columns) /= 2;
    }
  }
}

// Fewer steps at once, then smaller tiles.
void fit_memory(Schedule& s, const ContractionShape& shape, int64_t most) {
  while (shared_bytes(s, shape) > most) {
    if (s.buffers > 1) {
      s.buffers = 1;
    } else if (s.depth > 1) {
      s.depth /= 2;
    } else if (s.pad > 0) {
      s.pad = 0;
    } else if (std::max(s.tile_rows, s.tile_columns) > 1) {
      (s.tile_rows > s.tile_columns ? s.tile_rows : s.tile_columns) /= 2;
    } else {
      return;
    }
  }
}

Schedule legal(Schedule s, const ContractionShape& shape, const Device& device) {
  if (!shape.has_tiles() || (s.tile_rows <= 1 && s.tile_columns <= 1))
    return untiled(s.threads, device);
  const int64_t depth = shape.reduced.back().extent;
  at_most(s.tile_rows, kMostTile, shape.rows());
  at_most(s.tile_columns, kMostTile, shape.columns());
  at_most(s.depth, kMostDepth, depth);
  at_most(s.buffers, 2, steps(depth, s.depth));
  at_most(s.prefetch, 2, 2);
  s.pad = std::clamp(s.pad, 0, kMostPad);
  fit_memory(s, shape, device.shared_bytes);
  at_most(s.thread_rows, kMostThread, s.tile_rows);
  at_most(s.thread_columns, kMostThread, s.tile_columns);
  fit_threads(s, device.threads);
  // One thread alone makes no group.
  if (parts(s) == 1) (s.thread_columns > 1 ? s.thread_columns : s.thread_rows) /= 2;
  s.threads = static_cast<int32_t>(parts(s));
  at_most(s.vector, kMostVector, s.thread_columns);
  at_most(s.split, kMostSplit, std::max<int64_t>(depth / s.depth, 1));
  s.subgroup_rows = s.subgroup_columns = 1;
  return s;
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

Schedule default_schedule(const ContractionShape& shape, const Device& device) {
  const Schedule none = untiled(loop::kGroupThreads, device);
  if (!shape.has_tiles()) return none;
  const int64_t depth = shape.reduced.back().extent;
  if (std::min({shape.rows(), shape.columns(), depth}) < kShortest) return none;
  int64_t outer = 1;
  for (const auto& d : shape.kept) outer *= d.extent;
  outer /= shape.rows() * shape.columns();
  const auto groups = [&](const Schedule& s) {
    return outer * steps(shape.rows(), s.tile_rows) * steps(shape.columns(), s.tile_columns);
  };
  const auto found =
      std::ranges::find_if(kTiles, [&](const Schedule& s) { return groups(s) >= kFewestGroups; });
  Schedule schedule = found != std::end(kTiles) ? *found : std::end(kTiles)[-1];
  schedule.threads = none.threads;
  schedule.depth = 8;
  schedule.buffers = 2;
  schedule.vector = schedule.prefetch = schedule.split = 1;
  if (depth >= kDeep) {
    schedule.split = static_cast<int32_t>(std::max<int64_t>(kFewestGroups / groups(schedule), 1));
  }
  return legal(schedule, shape, device);
}

Schedule narrowed(Schedule wanted, const Schedule& otherwise, const ContractionShape& shape,
                  const Device& device) {
  for (const ScheduleField& each : kScheduleFields) {
    if (wanted.*each.field <= 0) wanted.*each.field = otherwise.*each.field;
  }
  return legal(wanted, shape, device);
}

}  // namespace lathe::lower::gpu
