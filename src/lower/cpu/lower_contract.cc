// Chooses how a contraction becomes loops: which dimensions a register tile covers, by which
// schedule, by which strategy.
#include <algorithm>
#include <utility>

#include "lathe/lower/contraction.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/quantized_weights.h"
#include "lathe/lower/cpu/strategies.h"

namespace lathe::lower::cpu {

namespace {

constexpr int64_t kFewRows = 4;

// The dimension of the lanes: contiguous in the output.
int find_column(Contraction& contraction) {
  if (contraction.spatial().empty() || contraction.dtype() == loop::DType::Bool) return -1;
  const int last = contraction.spatial().back();
  return contraction.extent(last) < kLanes || contraction.out_step(last) != 1 ? -1 : last;
}

// The longest, innermost spatial dimension that one operand does not depend on, so that its
// elements are reused.
int find_row(Contraction& contraction, int column) {
  int best = -1;
  for (int d : contraction.spatial()) {
    if (d == column) continue;
    const bool reuses =
        contraction.stride(0, d) == Stride::None || contraction.stride(1, d) == Stride::None;
    if (reuses && (best < 0 || contraction.extent(d) >= contraction.extent(best))) best = d;
  }
  return best;
}

// Dot products need lanes in the innermost reduced dimension; a tile of them reuses each
// operand.
void find_dots(Contraction& contraction, ContractionShape& shape) {
  const auto& reduced = contraction.reduced();
  if (reduced.empty() || contraction.dtype() == loop::DType::Bool) return;
  shape.dots = contraction.extent(reduced.back()) >= kLanes;
  const auto longest = [&](int still) {
    int best = -1;
    for (int i = 0; i < static_cast<int>(shape.spatial.size()); ++i) {
      const int d = contraction.spatial()[i];
      const bool moves = contraction.stride(1 - still, d) != Stride::None;
      if (contraction.stride(still, d) != Stride::None || !moves) continue;
      const auto longer = [&](int than) {
        return shape.spatial[i].extent >= shape.spatial[than].extent;
      };
      if (best < 0 || longer(best)) best = i;
    }
    return best;
  };
  shape.dot_row = longest(1);
  shape.dot_column = longest(0);
}

ContractionShape shape_of(Contraction& contraction, const SchedulingOptions& scheduling) {
  ContractionShape shape;
  static_cast<lower::ContractionShape&>(shape) = contraction.shape();
  shape.unit = scheduling.unit;
  int column = find_column(contraction);
  const int row = find_row(contraction, column);
  shape.wide = row >= 0 && contraction.stride(0, row) == Stride::None ? 0 : 1;
  if (column >= 0) {
    // Without rows either operand may be copied.
    if (row < 0 && contraction.stride(0, column) == Stride::Other) shape.wide = 0;
    shape.wide_contiguous = contraction.stride(shape.wide, column) != Stride::Other;
    shape.wide_constant = contraction.is_constant(shape.wide);
    const Stride narrow = contraction.stride(1 - shape.wide, column);
    shape.narrow_moves = narrow != Stride::None;
    if (narrow == Stride::Other) column = -1;
  }
  for (int i = 0; i < static_cast<int>(shape.spatial.size()); ++i) {
    const int d = contraction.spatial()[i];
    if (d == row) shape.row = i;
    if (d == column) shape.column = i;
  }
  find_dots(contraction, shape);
  // What is computed of constants is computed once, into a copy.
  if (shape.rows() > kFewRows && !shape.wide_constant && column >= 0 &&
      QuantizedWeights::is_computed_from_constants(contraction, shape.wide)) {
    shape.dots = false;
    shape.wide_constant = true;
  }
  if (scheduling.winograd) shape.windows = find_windows(shape);
  return shape;
}

Schedule choose_schedule(Contraction& contraction, const ContractionShape& shape,
                         const SchedulingOptions& scheduling) {
  std::string key = contraction_key(shape);
  Schedule schedule = default_schedule(shape);
  if (const auto found = scheduling.schedules.find(key); found != scheduling.schedules.end()) {
    schedule = narrowed(found->second, schedule, shape);
  }
  if (scheduling.used != nullptr) {
    scheduling.used->push_back({contraction.context().graph.name, contraction.kernel().origin,
                                std::move(key), shape, schedule});
  }
  return schedule;
}

auto strategy_of(const Schedule& schedule) {
  if (schedule.winograd > 1) return winograd_contract;
  return schedule.lanes == 2 ? dot_contract : tile_contract;
}

}  // namespace

void lower_contract(Contraction& contraction, const SchedulingOptions& scheduling) {
  if (quantized_contract(contraction, scheduling.unit)) return;
  contraction.pair_products();
  const ContractionShape shape = shape_of(contraction, scheduling);
  // Nothing to multiply: no guards are made, so nothing may be copied.
  const Schedule schedule =
      shape.multiply_adds() > 0 ? choose_schedule(contraction, shape, scheduling) : single_steps();
  strategy_of(schedule)(contraction, shape, schedule);
}

}  // namespace lathe::lower::cpu
