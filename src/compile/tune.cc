#include "compile/tune.h"

#include <algorithm>

#include "base/text.h"
#include "graph/builder.h"

namespace lathe::compile {
namespace {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Tensor;
using lower::ContractionShape;
using lower::Schedule;

struct Tile {
  int32_t rows, columns;
};

// What won somewhere in sweeps over all tiles of 1-8 rows and 1-8 vectors (`bench tune`).
constexpr Tile kTiles[] = {{4, 8}, {3, 12}, {6, 8}, {2, 16}, {5, 8}, {4, 12}, {8, 8}, {1, 32}};
constexpr int32_t kUnrolls[] = {1, 2, 4};

// An operand as a flat array that is just long enough, read with the strides of the shape.
struct FlatOperand {
  AffineMap map;
  int64_t size = 1;

  FlatOperand(const ContractionShape& shape, int64_t ContractionShape::Dimension::*stride) {
    Affine& at = map.axes.emplace_back();
    for (const auto* dimensions : {&shape.kept, &shape.reduced}) {
      for (const ContractionShape::Dimension& d : *dimensions) {
        const int64_t reach = d.*stride * (d.extent - 1);
        at.coefficients.push_back(d.*stride);
        at.offset -= std::min<int64_t>(reach, 0);
        size += std::abs(reach);
      }
    }
  }
};

Result<graph::Program> kernel_program(const ContractionShape& shape) {
  graph::Contraction contraction;
  graph::Shape out;
  for (const ContractionShape::Dimension& d : shape.kept) out.push_back(d.extent);
  contraction.extents = out;
  for (const auto& d : shape.reduced) contraction.extents.push_back(d.extent);
  std::vector<int> kept;
  for (size_t d = 0; d < out.size(); ++d) kept.push_back(static_cast<int>(d));
  contraction.out = AffineMap::project(static_cast<int>(contraction.extents.size()), kept);
  FlatOperand lhs(shape, &ContractionShape::Dimension::lhs);
  FlatOperand rhs(shape, &ContractionShape::Dimension::rhs);
  contraction.lhs = std::move(lhs.map);
  contraction.rhs = std::move(rhs.map);

  Builder b("run");
  const Tensor x = b.input("x", shape.dtype, {lhs.size}), y = b.input("y", shape.dtype, {rhs.size});
  const Tensor z = b.contract(x, y, std::move(contraction), out);
  if (shape.in_place) {
    const Tensor sum = b.state("z", shape.dtype, out);
    b.update(sum, sum + z);
  } else {
    b.output("z", z);
  }
  graph::Program program;
  ASSIGN_OR_RETURN(graph::Graph run, std::move(b).finish());
  program.entries.push_back(std::move(run));
  return program;
}

}  // namespace

std::vector<Schedule> candidates(const ContractionShape& shape, const Features&) {
  const Schedule standard = lower::default_schedule(shape);
  std::vector<Schedule> found = {standard};
  const auto add = [&](const Schedule& wanted) {
    const Schedule fitting = lower::narrowed(wanted, standard, shape);
    if (std::ranges::find(found, fitting) == found.end()) found.push_back(fitting);
  };
  for (const int32_t unroll : kUnrolls) {
    for (const Tile& tile : kTiles) {
      add({.rows = tile.rows, .columns = tile.columns, .unroll = unroll});
    }
  }
  found.erase(found.begin());
  return found;
}

Result<Executable> compile_kernel(const lower::ScheduledContraction& contraction,
                                  const Schedule& schedule, const Features& features) {
  ASSIGN_OR_RETURN(const graph::Program program, kernel_program(contraction.shape));
  Options options;
  options.features = features;
  options.features.threads = false;
  options.schedules[contraction.key] = schedule;
  ASSIGN_OR_RETURN(Executable kernel, compile(program, options));
  if (kernel.contractions.size() != 1 || kernel.contractions[0].key != contraction.key) {
    return fail(concat("the contraction '", contraction.key, "' cannot be measured alone"));
  }
  return kernel;
}

}  // namespace lathe::compile
