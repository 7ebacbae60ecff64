#include "opt/passes.h"

#include "opt/eliminate_dead_code.h"

namespace lathe::opt {

std::span<const Pass> passes() {
  static constexpr Pass kPasses[] = {
      {"eliminate_dead_code", eliminate_dead_code},
  };
  return kPasses;
}

}  // namespace lathe::opt
