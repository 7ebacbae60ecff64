// Folding runs before the algebra, which looks for constants, and after it, as rules make new ones.
#include "lathe/opt/passes.h"

#include "lathe/opt/eliminate_common_subexpressions.h"
#include "lathe/opt/eliminate_dead_code.h"
#include "lathe/opt/fold_conditions.h"
#include "lathe/opt/fold_constants.h"
#include "lathe/opt/fold_scales.h"
#include "lathe/opt/gather_outputs.h"
#include "lathe/opt/lower_float16.h"
#include "lathe/opt/prune_loops.h"
#include "lathe/opt/simplify_algebra.h"
#include "lathe/opt/sink_transposes.h"
#include "lathe/opt/widen_float16.h"
#include "lathe/opt/widen_types.h"

namespace lathe::opt {

namespace {

constexpr Pass kWidenTypes{"widen_types", graph::with_bodies<widen_types>};
constexpr Pass kLowerFloat16{"lower_float16", graph::with_bodies<lower_float16>};

}  // namespace

std::span<const Pass> passes() {
  using graph::with_bodies;
  static constexpr Pass kPasses[] = {
      {"eliminate_dead_code", with_bodies<eliminate_dead_code>},
      {"sink_transposes", with_bodies<sink_transposes>},
      {"prune_loops", with_bodies<prune_loops>},
      {"widen_float16", widen_float16},
      {"fold_scales", with_bodies<fold_scales>},
      {"gather_outputs", with_bodies<gather_outputs>},
      {"fold_constants", with_bodies<fold_constants>},
      {"fold_conditions", with_bodies<fold_conditions>},
      {"simplify_algebra", with_bodies<simplify_algebra>},
      {"fold_constants", with_bodies<fold_constants>},
      {"eliminate_common_subexpressions", with_bodies<eliminate_common_subexpressions>},
      {"simplify_algebra", with_bodies<simplify_algebra>},
      {"eliminate_dead_code", with_bodies<eliminate_dead_code>},
      kWidenTypes,
      kLowerFloat16,
  };
  return kPasses;
}

std::span<const Pass> type_passes() {
  static constexpr Pass kPasses[] = {kWidenTypes, kLowerFloat16};
  return kPasses;
}

}  // namespace lathe::opt
