#include "lathe/lower/segments.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

using loop::Affine;
using loop::Stmt;

namespace {

// Loops over every index of the shape around the statement that `make` returns for it.
template <class Make>
void append_loops(Nest& nest, const graph::Shape& shape, const Make& make) {
  std::vector<loop::VarId> vars;
  Index index;
  for (const int64_t extent : shape) {
    vars.push_back(nest.kernel().add_var("i", extent));
    index.push_back(Affine::variable(vars.back()));
  }
  std::vector<Stmt> body = {make(index)};
  for (size_t axis = vars.size(); axis-- > 0;) {
    std::vector<Stmt> outer;
    outer.push_back(loop::for_loop(vars[axis], loop::LoopKind::Serial, std::move(body)));
    body = std::move(outer);
  }
  append(nest.kernel().body, std::move(body));
}

void append_zeros(Nest& nest, graph::Value value) {
  const graph::Node& node = nest.node(value);
  const loop::ExprId zero = nest.exprs().constant(loop::Number::from(node.dtype, 0));
  append_loops(nest, node.shape, [&](const Index& index) {
    return loop::store(nest.buffer_of(value), loop::row_major(index, node.shape), zero);
  });
}

}  // namespace

void lower_join(Nest& nest, const Group& group) {
  const graph::Node& join = nest.node(group.anchor());
  int64_t covered = 0;
  for (const graph::Value piece : join.operands) {
    covered += graph::element_count(nest.node(piece).shape);
  }
  if (covered < graph::element_count(join.shape)) append_zeros(nest, group.anchor());
  for (size_t k = 0; k < join.operands.size(); ++k) {
    append_loops(nest, nest.node(join.operands[k]).shape, [&](const Index& index) {
      Index position;
      for (const graph::Affine& axis : join.maps[k].axes) position.push_back(apply(axis, index));
      return loop::store(nest.buffer_of(group.anchor()), loop::row_major(position, join.shape),
                         nest.value_at(join.operands[k], index));
    });
  }
}

void lower_scatter(Nest& nest, const Group& group) {
  const graph::Node& scatter = nest.node(group.anchor());
  const auto axis = static_cast<size_t>(scatter.axes[0]);
  append_zeros(nest, group.anchor());
  nest.kernel().reread(nest.buffer_of(group.anchor()));
  append_loops(nest, nest.node(scatter.operands[0]).shape, [&](const Index& index) {
    Index rest = index;
    rest[axis] = 0;
    const Affine address = loop::row_major(rest, scatter.shape);
    const loop::Lookup lookup = lookup_along(scatter.shape, axis);
    const loop::BufferRef buffer = nest.buffer_of(group.anchor());
    const loop::ExprId row_index = nest.value_at(scatter.operands[1], index);
    const loop::ExprId before =
        nest.exprs().load(buffer, scatter.dtype, address, {}, row_index, lookup);
    const loop::ExprId all =
        nest.exprs().apply(scatter.op, {before, nest.value_at(scatter.operands[0], index)});
    return loop::store(buffer, address, row_index, lookup, all);
  });
}

}  // namespace lathe::lower
