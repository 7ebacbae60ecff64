#include "lathe/lower/rows.h"

#include <algorithm>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/lower/segments.h"

namespace lathe::lower {

using graph::Kind;
using graph::Value;
using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::LoopKind;
using loop::Stmt;
using loop::VarId;

RowLowering::RowLowering(Nest& nest, const Group& group, RowSpace space)
    : nest_(nest),
      group_(group),
      fusion_(nest.context().fusion),
      kernel_(nest.kernel()),
      spatial_(std::move(space.spatial)),
      reduced_(std::move(space.reduced)),
      index_(std::move(space.index)) {
  for (Value member : group.members) {
    if (!is_per_row(nest.context().graph, group, member)) continue;
    const bool reduces = nest.node(member).kind == Kind::Reduce;
    const loop::DType dtype = nest.node(member).dtype;
    const BufferRef buffer = kernel_.add_register(reduces ? "total" : "t", dtype, 1);
    per_row_[member] = buffer;
    nest_.bind(member, nest_.exprs().load(buffer, dtype, 0));
    last_pass_ = std::max(last_pass_, pass_of(member));
  }
  for (Value member : group.members) {
    last_pass_ = std::max(last_pass_, pass_of(member));
    const bool later = fusion_.last_pass[member] > pass_of(member);
    if (later && is_stored(member)) kernel_.reread(nest.buffer_of(member));
  }
  join_reduced_axes();
}

void RowLowering::run() {
  std::vector<Stmt> body;
  for (int pass = 0; pass <= last_pass_; ++pass) {
    append(body, row_values(pass));
    append(body, pass_over_row(pass));
  }
  kernel_.body = over_rows(std::move(body));
}

std::vector<Stmt> RowLowering::over_rows(std::vector<Stmt> body) {
  return around(spatial_, std::move(body));
}

int RowLowering::pass_of(Value member) const { return fusion_.pass[member]; }

bool RowLowering::is_stored(Value member) const { return fusion_.stored[member]; }

RowLowering::Pass RowLowering::contents_of(int pass) const {
  Pass contents;
  for (Value member : group_.members) {
    if (nest_.node(member).kind == Kind::Reduce) {
      if (pass_of(member) == pass + 1) contents.folds.push_back(member);
    } else if (!per_row_.contains(member) && pass_of(member) == pass) {
      const bool is_expensive = fusion_.expensive[member];
      if (is_expensive || is_stored(member)) contents.elements.push_back(member);
    }
  }
  return contents;
}

std::vector<ExprId> RowLowering::exprs_of(const Pass& pass) {
  std::vector<ExprId> exprs;
  for (Value element : pass.elements) {
    exprs.push_back(nest_.computed(element, index_));
    nest_.bind(element, exprs.back());
  }
  for (Value fold : pass.folds) {
    exprs.push_back(nest_.value_at(nest_.node(fold).operands[0], index_));
  }
  for (Value element : pass.elements) nest_.unbind(element);
  return exprs;
}

std::vector<Stmt> RowLowering::around(const std::vector<VarId>& vars, std::vector<Stmt> body,
                                      LoopKind kind) {
  for (size_t i = vars.size(); i-- > 0;) {
    std::vector<Stmt> outer;
    outer.push_back(loop::for_loop(vars[i], kind, std::move(body)));
    body = std::move(outer);
  }
  return body;
}

// The last two reduced axes become one where every address walks through both without a jump.
void RowLowering::join_reduced_axes() {
  Table<ExprId, bool> used;
  const auto reach = [&](ExprId id) {
    used.resize(kernel_.exprs.size());
    used[id] = true;
  };
  for (int pass = 0; pass <= last_pass_; ++pass) {
    for (ExprId id : exprs_of(contents_of(pass))) reach(id);
  }
  for (size_t id = used.size(); id-- > 0;) {
    if (!used[id]) continue;
    const loop::Expr& expr = kernel_.exprs[id];
    for (int i = 0; i < expr.operand_count(); ++i) {
      used[expr.operands[i]] = true;
    }
  }
  while (reduced_.size() > 1) {
    const VarId outer = reduced_[reduced_.size() - 2], inner = reduced_.back();
    const auto is_one_walk = [&](const Affine& form) {
      return form.coefficient(outer) == form.coefficient(inner) * extent(inner);
    };
    for (size_t id = 0; id < used.size(); ++id) {
      const loop::Expr& expr = kernel_.exprs[id];
      if (!used[id]) continue;
      if (!is_one_walk(expr.address)) return;
      for (const loop::Guard& guard : expr.guards) {
        if (!is_one_walk(guard.index)) return;
      }
    }
    kernel_.vars[inner].extent *= extent(outer);
    for (Affine& axis : index_) axis = axis.substitute(outer, 0);
    reduced_.erase(reduced_.end() - 2);
  }
}

Index RowLowering::row_index(const graph::Shape& shape) const {
  Index index;
  size_t next = 0;
  for (int64_t size : shape) {
    if (size == 1) {
      index.push_back(Affine(0));
      continue;
    }
    while (extent(spatial_[next]) == 1) ++next;
    index.push_back(Affine::variable(spatial_[next++]));
  }
  return index;
}

// Values per row that are computed before this pass.
std::vector<Stmt> RowLowering::row_values(int pass) {
  std::vector<Stmt> body, stores;
  for (const auto& [member, buffer] : per_row_) {
    if (pass_of(member) != pass) continue;
    const graph::Node& node = nest_.node(member);
    const Index index = row_index(node.shape);
    if (node.kind != Kind::Reduce) {
      body.push_back(loop::store(buffer, 0, nest_.computed(member, index)));
    }
    if (!is_stored(member)) continue;
    stores.push_back(loop::store(nest_.buffer_of(member), loop::row_major(index, node.shape),
                                 nest_.exprs().load(buffer, node.dtype, 0)));
  }
  if (!stores.empty()) append(body, once(std::move(stores)));
  return body;
}

std::vector<Stmt> RowLowering::pass_over_row(int number) {
  const Pass pass = contents_of(number);
  if (pass.elements.empty() && pass.folds.empty()) return {};
  std::vector<Stmt> body;
  for (Value fold : pass.folds) body.push_back(loop::store(per_row_[fold], 0, identity(fold)));
  append(body, loops_of(pass));
  return body;
}

std::vector<Stmt> RowLowering::loops_of(const Pass& pass) {
  if (!has_blocked_sum(pass))
    return around(reduced_, statements(pass, index_, {.folds = per_row_}));
  std::vector<Trip> trips;
  for (const VarId var : reduced_) trips.push_back({var, extent(var)});
  return summed(pass, per_row_, 1, trips, [&](const Indices& indices, const Registers& folds) {
    return statements(pass, moved(index_, indices), {.folds = folds});
  });
}

bool RowLowering::has_blocked_sum(const Pass& pass) const {
  int64_t terms = 1;
  for (const VarId var : reduced_) terms *= extent(var);
  return std::ranges::any_of(
      pass.folds, [&](Value fold) { return needs_blocked_sum(nest_.node(fold), terms); });
}

Index RowLowering::moved(Index index, const Indices& indices) {
  for (Affine& axis : index) {
    for (const auto& [var, value] : indices) axis = axis.substitute(var, value);
  }
  return index;
}

std::vector<Stmt> RowLowering::summed(const Pass& pass, const Registers& totals, int64_t width,
                                      const std::vector<Trip>& trips, const Body& body) {
  std::vector<Value> sums;
  BlockedSum::Totals registers;
  for (Value fold : pass.folds) {
    if (nest_.node(fold).op != loop::Op::Add) continue;
    sums.push_back(fold);
    registers.push_back(totals.at(fold));
  }
  const auto terms = [&](const Indices& indices, const BlockedSum::Totals& level) {
    Registers folds = totals;
    for (size_t i = 0; i < sums.size(); ++i) folds[sums[i]] = level[i];
    return body(indices, folds);
  };
  const int64_t lanes = nest_.context().strategies.lanes;
  return BlockedSum(nest_.exprs(), std::move(registers), width, lanes, terms).around(trips);
}

ExprId RowLowering::identity(Value fold) {
  const graph::Node& node = nest_.node(fold);
  return nest_.exprs().constant(scalar::fold_identity(node.op, node.dtype));
}

std::vector<Stmt> RowLowering::statements(const Pass& pass, const Index& index,
                                          const Lanes& lanes) {
  loop::ExprBuilder& exprs = nest_.exprs();
  const bool single = pass.elements.size() + pass.folds.size() == 1;
  std::vector<Stmt> body, stores;
  for (Value element : pass.elements) {
    const graph::Node& node = nest_.node(element);
    ExprId expr = nest_.computed(element, index);
    if (!single) {
      const BufferRef buffer = kernel_.add_register("t", node.dtype, lanes.width);
      body.push_back(loop::store(buffer, lanes.lane, expr));
      expr = exprs.load(buffer, node.dtype, lanes.lane);
      nest_.bind(element, expr);
    }
    if (!is_stored(element)) continue;
    stores.push_back(
        loop::store(nest_.buffer_of(element), loop::row_major(index, node.shape), expr));
  }
  for (Value fold : pass.folds) {
    const graph::Node& node = nest_.node(fold);
    const BufferRef to = lanes.folds.at(fold);
    const ExprId before = exprs.load(to, node.dtype, lanes.fold);
    const ExprId element = nest_.value_at(node.operands[0], index);
    body.push_back(loop::store(to, lanes.fold, exprs.apply(node.op, {before, element})));
  }
  for (Value element : pass.elements) nest_.unbind(element);
  append(body, std::move(stores));
  return body;
}

void lower_reduce(Nest& nest, const Group& group) {
  RowSpace space;
  for (size_t axis = 0; axis < group.shape.size(); ++axis) {
    const VarId var = nest.kernel().add_var("i", group.shape[axis]);
    const bool reduced = std::ranges::find(group.axes, static_cast<int>(axis)) != group.axes.end();
    (reduced ? space.reduced : space.spatial).push_back(var);
    space.index.push_back(Affine::variable(var));
  }
  nest.context().strategies.reduce(nest, group, std::move(space));
}

}  // namespace lathe::lower
