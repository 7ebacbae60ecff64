#include "lathe/lower/gpu/schedule.h"

#include <algorithm>
#include <bit>

#include "lathe/base/text.h"
#include "lathe/loop/passes/bind_grid.h"

namespace lathe::lower::gpu {

namespace {

constexpr int64_t kShortest = 4;       // loop worth tiling
constexpr int64_t kFewestGroups = 64;  // that occupy a GPU
constexpr int64_t kDeep = 512;         // steps worth splitting
constexpr int32_t kMaxTile = 256, kMaxPerThread = 16, kMaxDepth = 64, kMaxSplit = 64;
constexpr int32_t kMaxVector = 4, kMaxPad = 8;

// Hand-tuned on an H200; narrower for outputs of fewer groups.
constexpr Schedule kTiles[] = {
    {.tile_rows = 128, .tile_columns = 128, .thread_rows = 16, .thread_columns = 8},
    {.tile_rows = 64, .tile_columns = 64, .thread_rows = 8, .thread_columns = 8},
    {.tile_rows = 32, .tile_columns = 32, .thread_rows = 4, .thread_columns = 4},
    {.tile_rows = 16, .tile_columns = 16, .thread_rows = 2, .thread_columns = 2},
    {.tile_rows = 8, .tile_columns = 8, .thread_rows = 1, .thread_columns = 1},
};

int64_t steps(int64_t extent, int64_t width) { return (extent + width - 1) / width; }

// The power of two that is not above `value`, and no more than what `extent` elements fill.
void clamp_to(int32_t& value, int64_t limit, int64_t extent) {
  const auto filled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)));
  const int64_t fitting = std::clamp<int64_t>(value, 1, std::min(limit, filled));
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
  clamp_to(threads, device.threads, device.threads);
  schedule.threads = threads;
  return schedule;
}

// A larger part for each thread, then smaller tiles.
void fit_threads(Schedule& s, int64_t limit) {
  while (parts(s) > limit) {
    const bool rows_at_limit = s.thread_rows == std::min(s.tile_rows, kMaxPerThread);
    const bool columns_at_limit = s.thread_columns == std::min(s.tile_columns, kMaxPerThread);
    if (!columns_at_limit && (rows_at_limit || s.thread_columns <= s.thread_rows)) {
      s.thread_columns *= 2;
    } else if (!rows_at_limit) {
      s.thread_rows *= 2;
    } else {
      (s.tile_rows > s.tile_columns ? s.tile_rows : s.tile_columns) /= 2;
    }
  }
}

// Fewer steps at once, then smaller tiles.
void fit_memory(Schedule& s, const ContractionShape& shape, int64_t limit) {
  while (shared_bytes(s, shape) > limit) {
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
  clamp_to(s.tile_rows, kMaxTile, shape.rows());
  clamp_to(s.tile_columns, kMaxTile, shape.columns());
  clamp_to(s.depth, kMaxDepth, depth);
  clamp_to(s.buffers, 2, steps(depth, s.depth));
  clamp_to(s.prefetch, 2, 2);
  s.pad = std::clamp(s.pad, 0, kMaxPad);
  fit_memory(s, shape, device.shared_bytes);
  clamp_to(s.thread_rows, kMaxPerThread, s.tile_rows);
  clamp_to(s.thread_columns, kMaxPerThread, s.tile_columns);
  fit_threads(s, device.threads);
  // A group has at least two threads.
  if (parts(s) == 1) (s.thread_columns > 1 ? s.thread_columns : s.thread_rows) /= 2;
  s.threads = static_cast<int32_t>(parts(s));
  clamp_to(s.vector, kMaxVector, s.thread_columns);
  clamp_to(s.split, kMaxSplit, std::max<int64_t>(depth / s.depth, 1));
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
  for (const auto& d : shape.spatial) outer *= d.extent;
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

Schedule narrowed(Schedule requested, const Schedule& otherwise, const ContractionShape& shape,
                  const Device& device) {
  for (const ScheduleField& each : kScheduleFields) {
    if (requested.*each.field <= 0) requested.*each.field = otherwise.*each.field;
  }
  return legal(requested, shape, device);
}

}  // namespace lathe::lower::gpu
