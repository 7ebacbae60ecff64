// How a contraction is divided among the threads of a GPU: what may be chosen by measurement. A
// schedule never changes what a kernel computes, up to the order in which the terms of a sum are
// added. It knows no loop.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lathe/lower/contraction_shape.h"

namespace lathe::lower::gpu {

// Zero leaves a choice to default_schedule. What does not fit a contraction or the device is
// narrowed to what does, so every schedule is legal for every contraction. All are powers of two.
struct Schedule {
  // The output tile of a group of threads, whose operands are in workgroup memory; 1 and 1: each
  // thread computes one element directly from global memory.
  int32_t tile_rows = 0;
  int32_t tile_columns = 0;
  int32_t threads = 0;  // of a group without a tile; a tile has as many as it has parts
  // The part of the tile that each thread has in registers.
  int32_t thread_rows = 0;
  int32_t thread_columns = 0;
  int32_t depth = 0;   // steps of the innermost reduced dimension in workgroup memory
  int32_t vector = 0;  // columns of a thread that are neighbours: 1, 2 or 4
  // 2: double buffering, one buffer is filled while products are computed from the other.
  int32_t buffers = 0;
  // 2: elements for workgroup memory are loaded into registers before the products, and stored
  // there after them.
  int32_t prefetch = 0;
  int32_t pad = 0;  // elements between the lines of a tile in workgroup memory
  // Split-K: this many parts of the innermost reduced dimension are summed by separate groups; a
  // second kernel adds them up.
  int32_t split = 0;
  // The tile of subgroup matrix instructions; 1 and 1, the only legal values until
  // shaders have them: threads multiply separately.
  int32_t subgroup_rows = 0;
  int32_t subgroup_columns = 0;

  bool operator==(const Schedule&) const = default;
};

// The fields by name, for serialization.
struct ScheduleField {
  const char* name;
  int32_t Schedule::*field;
};
inline constexpr ScheduleField kScheduleFields[] = {
    {"tileRows", &Schedule::tile_rows},
    {"tileColumns", &Schedule::tile_columns},
    {"threads", &Schedule::threads},
    {"threadRows", &Schedule::thread_rows},
    {"threadColumns", &Schedule::thread_columns},
    {"depth", &Schedule::depth},
    {"vector", &Schedule::vector},
    {"buffers", &Schedule::buffers},
    {"prefetch", &Schedule::prefetch},
    {"pad", &Schedule::pad},
    {"split", &Schedule::split},
    {"subgroupRows", &Schedule::subgroup_rows},
    {"subgroupColumns", &Schedule::subgroup_columns},
};

// "tileRows 8 tileColumns 8 depth 8": the fields that are not zero.
std::string text(const Schedule& schedule);

// Schedules by contraction_key; a contraction without one gets default_schedule.
using Schedules = std::map<std::string, Schedule, std::less<>>;

// Limits of a workgroup.
struct Device {
  int64_t threads;
  int64_t shared_bytes;
  int64_t subgroup_threads = 0;  // of the smallest subgroup; 0: there are none
};

struct ContractionShape : lower::ContractionShape {
  // Indices into `spatial`, both -1 where no tile reuses elements of the operands: each moves one
  // operand and not the other.
  int row = -1, column = -1;
  int wide = 1;      // the operand (0 lhs, 1 rhs) that moves with the columns
  int64_t bytes[2];  // of an element of each operand in workgroup memory

  bool has_tiles() const { return row >= 0; }
  int64_t rows() const { return spatial[row].extent; }
  int64_t columns() const { return spatial[column].extent; }
};

Schedule default_schedule(const ContractionShape& shape, const Device& device);

// `requested`, adjusted to the shape; `otherwise` supplies the fields that it leaves open.
Schedule narrowed(Schedule requested, const Schedule& otherwise, const ContractionShape& shape,
                  const Device& device);

// What lowering did with one contraction.
struct ScheduledContraction {
  std::string entry;
  int32_t node = -1;  // of the entry's graph
  std::string key;
  ContractionShape shape;
  Schedule schedule;  // as it was used, nothing left open
};

}  // namespace lathe::lower::gpu
