#include "lathe/lower/strategies.h"

namespace lathe::lower {

void lower_map(Nest& nest, const Group& group) {
  loop::Kernel& kernel = nest.kernel();
  Index index;
  std::vector<loop::VarId> vars;
  for (int64_t extent : nest.node(group.anchor()).shape) {
    vars.push_back(kernel.add_var("i", extent));
    index.push_back(loop::Affine::variable(vars.back()));
  }
  std::vector<loop::Stmt> body = nest.store_members(group, index, 0, 1);
  for (size_t axis = vars.size(); axis-- > 0;) {
    std::vector<loop::Stmt> outer;
    outer.push_back(loop::for_loop(vars[axis], loop::LoopKind::Serial, std::move(body)));
    body = std::move(outer);
  }
  kernel.body = std::move(body);
}

}  // namespace lathe::lower
