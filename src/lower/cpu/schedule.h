// How a contraction becomes loops: what may be chosen by measurement. A schedule never changes what
// a kernel computes, up to rounding: in which order the terms of a sum are added, and how the tiles
// of a convolution are transformed. It knows no loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lathe/lower/contraction_shape.h"
#include "lathe/lower/cpu/winograd.h"

namespace lathe::lower::cpu {

// Zero leaves a choice to default_schedule. What does not fit a contraction is narrowed to what
// does, so every schedule is legal for every contraction.
struct Schedule {
  // The register tile: rows x columns of the output, in registers while the reduced dimensions run.
  // Columns are elements; where lanes are along columns they are a multiple of the vector.
  int32_t rows = 0;
  int32_t columns = 0;
  int32_t unroll = 0;  // unrolled steps of the innermost reduced loop
  // Outer blocks, in elements of their dimension; at least the extent: not blocked.
  int32_t block_rows = 0;
  int32_t block_columns = 0;
  int32_t block_depth = 0;
  // The operand that moves with the rows or the columns: 1 reads it from memory, 2 copies it into
  // panels first, in the order in which tiles read it.
  int32_t pack_rows = 0;
  int32_t pack_columns = 0;
  // 1 puts lanes along the columns; 2 along the innermost reduced dimension, and then columns are
  // single elements, there are no blocks, and operands are copied where they must be.
  int32_t lanes = 0;
  // Of convolutions by 3x3 windows: 1 multiplies directly; 2 and 4 transform tiles of that many
  // outputs first (lower/cpu/winograd.h), and then the other choices are not made here.
  int32_t winograd = 0;

  bool operator==(const Schedule&) const = default;
};

// The fields by name, for serialization.
struct ScheduleField {
  const char* name;
  int32_t Schedule::*field;
};
inline constexpr ScheduleField kScheduleFields[] = {
    {"rows", &Schedule::rows},
    {"columns", &Schedule::columns},
    {"unroll", &Schedule::unroll},
    {"blockRows", &Schedule::block_rows},
    {"blockColumns", &Schedule::block_columns},
    {"blockDepth", &Schedule::block_depth},
    {"packRows", &Schedule::pack_rows},
    {"packColumns", &Schedule::pack_columns},
    {"lanes", &Schedule::lanes},
    {"winograd", &Schedule::winograd},
};

// "rows 4 columns 8 unroll 1": the fields that are not zero.
std::string text(const Schedule& schedule);

// Schedules by contraction_key; a contraction without one gets default_schedule.
using Schedules = std::map<std::string, Schedule, std::less<>>;

// What vector instructions of the target do.
struct VectorUnit {
  bool fused = true;     // one multiplies and adds
  bool doubled = false;  // two on neighbouring vectors run as one
  bool paired = false;   // two products of short integers are faster than two of floats
};

struct ContractionShape : lower::ContractionShape {
  int row = -1, column = -1;  // indices into `spatial`, or -1: what the register tile covers
  int wide = 1;  // the operand (0 lhs, 1 rhs) that moves with the columns, not the rows
  bool wide_contiguous = true;  // with contiguous columns
  bool wide_constant = false;   // it is constant, so it is copied at compile time
  bool narrow_moves = false;    // the other operand moves with the columns, too
  VectorUnit unit;
  // What a tile of dot products covers, where such are possible.
  bool dots = false;
  int dot_row = -1, dot_column = -1;
  std::optional<Windows> windows;  // where it is such a convolution

  int64_t rows() const { return row < 0 ? 1 : spatial[row].extent; }
  int64_t columns() const { return column < 0 ? 1 : spatial[column].extent; }
  int64_t dot_rows() const { return dot_row < 0 ? 1 : spatial[dot_row].extent; }
  int64_t dot_columns() const { return dot_column < 0 ? 1 : spatial[dot_column].extent; }
};

inline constexpr int32_t kStreams = 4;  // of memory that a prefetcher follows

std::string contraction_key(const ContractionShape& shape);

Schedule default_schedule(const ContractionShape& shape);

// No tile, no block, no copy.
Schedule single_steps();
// `requested`, adjusted to the shape; `otherwise` supplies the fields that it leaves open.
Schedule narrowed(Schedule requested, const Schedule& otherwise, const ContractionShape& shape);

// What lowering did with one contraction.
struct ScheduledContraction {
  std::string entry;
  int32_t node = -1;  // of the entry's graph
  std::string key;
  ContractionShape shape;
  Schedule schedule;  // as it was used, nothing left open
};

}  // namespace lathe::lower::cpu
