// Scans in lanes: across the rows where that is contiguous, else along them, several rows at once.
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/scan.h"
#include "lathe/lower/strides.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kStripOfRow = 8 * kLanes;  // two cache lines of every row
// Folds of several rows at once hide the latency of one.
constexpr int64_t kRows = 8;
constexpr int64_t kRowsOfLanes = 4;

class LaneScan final : public ScanLowering {
 public:
  using ScanLowering::ScanLowering;

  void run() {
    const bool in_lanes = scan().dtype != loop::DType::Bool;
    const bool across = in_lanes && is_contiguous(rows_loop());
    const bool is_along = in_lanes && !across && is_contiguous(axis_loop());
    std::vector<Stmt> body;
    const std::vector<Segment> segments =
        across ? split_lanes(extent(rows_loop()), kStripOfRow, false)
               : split(extent(rows_loop()), is_along ? kRowsOfLanes : kRows);
    for (const Segment& segment : segments) {
      append(body, is_along ? lanes_along(segment) : strip(segment, across && is_vector(segment)));
    }
    finish(std::move(body));
  }

 private:
  // Whether elements of the operand are contiguous along this loop.
  bool is_contiguous(VarId var) {
    if (extent(var) < kLanes) return false;
    const ExprId element = nest().value_at(scan().operands[0], index());
    return stride_of(kernel(), element, var) == Stride::Contiguous;
  }

  ExprId load(BufferRef buffer, const Affine& at) {
    return nest().exprs().load(buffer, scan().dtype, at);
  }

  // Registers for a vector of each row and an adjacent one, on the side that the scan comes from.
  struct Vectors {
    BufferRef buffer;
    bool is_second;

    Affine current(const LaneLoops& lanes) const { return at(lanes, is_second); }
    Affine adjacent(const LaneLoops& lanes) const { return at(lanes, !is_second); }
    // The element `steps` before each of the current vector.
    Affine before(const LaneLoops& lanes, int64_t steps) const {
      return current(lanes) + (is_second ? -steps : steps);
    }
    // The last element of the current vector.
    Affine last(const LaneLoops& lanes) const {
      Affine address = before(lanes, is_second ? 1 - kLanes : 0);
      return address.substitute(lanes.vector, 0);
    }

   private:
    static Affine at(const LaneLoops& lanes, bool second) {
      Affine address = lanes.element + (second ? kLanes : 0);
      if (lanes.unroll >= 0) address += Affine::variable(lanes.unroll, kLanes);
      return address;
    }
  };

  Vectors add_vectors(const char* name, int64_t rows) {
    return {kernel().add_register(name, scan().dtype, 2 * kLanes * rows), !scan().reverse};
  }

  // Several rows at once, each vector of a row separately first: folds with neighbours one and two
  // positions before, which regroups sums; then with the fold of what came before the vector.
  std::vector<Stmt> lanes_along(const Segment& segment) {
    const int64_t rows = segment.width, vectors = extent(axis_loop()) / kLanes;
    const StepLoop step = step_loop(kernel(), "j", segment);
    const BufferRef folds = kernel().add_register("folds", scan().dtype, rows * kLanes);
    const Vectors elements = add_vectors("elements", rows), pairs = add_vectors("pairs", rows);
    const Vectors scanned = add_vectors("scanned", rows);
    const LaneLoops clear = lane_loops(kernel(), rows * kLanes);
    std::vector<Stmt> body = clear.around({
        loop::store(folds, clear.element, identity()),
        loop::store(elements.buffer, elements.adjacent(clear), identity()),
        loop::store(pairs.buffer, pairs.adjacent(clear), identity()),
    });

    const VarId block = kernel().add_var("block", vectors);
    const auto index = [&](const LaneLoops& lanes) {
      const Affine row = lanes.unroll >= 0 ? Affine::variable(lanes.unroll) : Affine(0);
      const Affine along = scan().reverse
                               ? Affine::variable(block, -kLanes) + (extent(axis_loop()) - kLanes)
                               : Affine::variable(block, kLanes);
      return index_at(step.position + row, along + Affine::variable(lanes.vector));
    };
    std::vector<Stmt> inner;
    const LaneLoops l = lane_loops(kernel(), rows * kLanes);
    const ExprId x = nest().value_at(scan().operands[0], index(l));
    append(inner, l.around({loop::store(elements.buffer, elements.current(l), x)}));
    const ExprId two = fold(load(elements.buffer, elements.before(l, 1)),
                            load(elements.buffer, elements.current(l)));
    append(inner, l.around({loop::store(pairs.buffer, pairs.current(l), two)}));
    const ExprId four =
        fold(load(pairs.buffer, pairs.before(l, 2)), load(pairs.buffer, pairs.current(l)));
    append(inner,
           l.around({
               loop::store(scanned.buffer, scanned.adjacent(l), load(folds, l.element)),
               loop::store(scanned.buffer, scanned.current(l), fold(load(folds, l.element), four)),
           }));
    nest().bind(group().anchor(),
                load(scanned.buffer, scanned.before(l, scan().exclusive ? 1 : 0)));
    append(inner,
           l.around(nest().store_members(group(), index(l), Affine::variable(l.vector), kLanes)));
    append(inner, l.around({loop::store(folds, l.element, load(scanned.buffer, scanned.last(l)))}));
    append(body, around(block, std::move(inner)));
    append(body, rest_of_rows(step, folds, rows, vectors * kLanes));
    return step.around(std::move(body), /*outlined=*/true);
  }

  // The rest of the rows after `done` elements, one after the other.
  std::vector<Stmt> rest_of_rows(const StepLoop& step, BufferRef folds, int64_t rows,
                                 int64_t done) {
    const int64_t rest = extent(axis_loop()) - done;
    if (rest == 0) return {};
    const VarId var = kernel().add_var("i", rest);
    const Affine along =
        scan().reverse ? Affine::variable(var, -1) + (rest - 1) : Affine::variable(var) + done;
    const LaneLoops loops = folds_loops(rows, /*vector=*/false);
    return around(var,
                  loops.around(fold_next(folds, loops.element * kLanes,
                                         index_at(step.position + loops.element, along), 0, 1)));
  }
};

}  // namespace

void lower_scan(Nest& nest, const Group& group) { LaneScan(nest, group).run(); }

}  // namespace lathe::lower::cpu
