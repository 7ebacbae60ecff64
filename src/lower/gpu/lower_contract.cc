// Chooses how a contraction becomes loops: which dimensions a tile covers, by which schedule.
#include <utility>

#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/lower/contraction.h"
#include "lathe/lower/gpu/strategies.h"
#include "lathe/lower/segments.h"

namespace lathe::lower::gpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Stmt;

namespace {

// The operand that moves with the dimension while the other stays, or -1.
int only_mover(Contraction& contraction, int d) {
  const bool lhs = contraction.stride(0, d) != Stride::None;
  const bool rhs = contraction.stride(1, d) != Stride::None;
  return lhs == rhs ? -1 : rhs ? 1 : 0;
}

// The columns are the innermost dimension that only one operand moves with, the rows the longest
// that only the other does.
void find_tile(Contraction& contraction, ContractionShape& shape) {
  if (shape.reduced.empty() || contraction.dtype() == loop::DType::Bool) return;
  int column = -1, row = -1;
  for (int i = static_cast<int>(shape.spatial.size()); i-- > 0;) {
    const auto at = static_cast<size_t>(i);
    const int mover = only_mover(contraction, contraction.spatial()[at]);
    if (mover < 0) continue;
    if (column < 0) {
      column = i;
      shape.wide = mover;
    } else if (mover != shape.wide &&
               (row < 0 || shape.spatial[at].extent > shape.spatial[row].extent)) {
      row = i;
    }
  }
  if (row < 0) return;
  shape.row = row;
  shape.column = column;
}

ContractionShape shape_of(Contraction& contraction) {
  ContractionShape shape;
  static_cast<lower::ContractionShape&>(shape) = contraction.shape();
  for (int operand : {0, 1}) shape.bytes[operand] = scalar::size_of(contraction.part_type(operand));
  find_tile(contraction, shape);
  return shape;
}

Schedule choose_schedule(Contraction& contraction, const ContractionShape& shape,
                         const SchedulingOptions& scheduling) {
  std::string key = contraction_key(shape);
  Schedule schedule = default_schedule(shape, scheduling.device);
  if (const auto found = scheduling.schedules.find(key); found != scheduling.schedules.end()) {
    schedule = narrowed(found->second, schedule, shape, scheduling.device);
  }
  if (scheduling.used != nullptr) {
    scheduling.used->push_back({contraction.context().graph.name, contraction.kernel().origin,
                                std::move(key), shape, schedule});
  }
  return schedule;
}

// One element after the other.
void sum_elements(Contraction& contraction) {
  loop::Kernel& kernel = contraction.kernel();
  const BufferRef sum = kernel.add_register("sum", contraction.dtype(), 1);
  const ExprId before = contraction.exprs().load(sum, contraction.dtype(), 0);
  const ExprId lhs = contraction.operand_at(0, contraction.index());
  const ExprId rhs = contraction.operand_at(1, contraction.index());
  std::vector<Stmt> products = {loop::store(sum, 0, contraction.mul_add(lhs, rhs, before))};
  for (size_t i = contraction.reduced().size(); i-- > 0;) {
    products = contraction.serial(contraction.reduced()[i], std::move(products));
  }
  std::vector<Stmt> body = {loop::store(sum, 0, contraction.zero())};
  append(body, std::move(products));
  append(body, contraction.finish(contraction.index(), before, 0, 1));
  for (size_t i = contraction.spatial().size(); i-- > 0;) {
    body = contraction.serial(contraction.spatial()[i], std::move(body));
  }
  kernel.body = std::move(body);
}

}  // namespace

void lower_contract(Contraction& contraction, const SchedulingOptions& scheduling) {
  const ContractionShape shape = shape_of(contraction);
  if (shape.multiply_adds() == 0) return sum_elements(contraction);
  const Schedule schedule = choose_schedule(contraction, shape, scheduling);
  const bool tiled = schedule.tile_rows > 1 || schedule.tile_columns > 1;
  if (tiled) return tile_contract(contraction, shape, schedule);
  sum_elements(contraction);
  loop::collapse_loops(contraction.kernel());
  loop::bind_grid(contraction.kernel(), schedule.threads);
}

}  // namespace lathe::lower::gpu
