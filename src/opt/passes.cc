// Folding runs before the algebra, which looks for constants, and after it, as rules make new ones.
#include "opt/passes.h"

#include "opt/eliminate_common_subexpressions.h"
#include "opt/eliminate_dead_code.h"
#include "opt/fold_constants.h"
#include "opt/gather_outputs.h"
#include "opt/simplify_algebra.h"

namespace lathe::opt {

std::span<const Pass> passes() {
  static constexpr Pass kPasses[] = {
      {"eliminate_dead_code", eliminate_dead_code},
      {"gather_outputs", gather_outputs},
      {"fold_constants", fold_constants},
      {"simplify_algebra", simplify_algebra},
      {"fold_constants", fold_constants},
      {"eliminate_common_subexpressions", eliminate_common_subexpressions},
      {"simplify_algebra", simplify_algebra},
      {"eliminate_dead_code", eliminate_dead_code},
  };
  return kPasses;
}

}  // namespace lathe::opt
