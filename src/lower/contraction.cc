#include "lathe/lower/contraction.h"

#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/pairs.h"
#include "lathe/loop/rebuild.h"
#include "lathe/lower/narrow_loads.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

using loop::Affine;
using loop::ExprId;
using loop::ExprKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

Index mapped(const graph::AffineMap& map, const Index& index) {
  Index result;
  for (const graph::Affine& axis : map.axes) {
    Affine at(axis.offset);
    for (size_t d = 0; d < axis.coefficients.size(); ++d) at += index[d] * axis.coefficients[d];
    result.push_back(std::move(at));
  }
  return result;
}

// Whether walking `inner` to its end and taking one step of `outer` is one more step of `inner`.
bool even(const Affine& address, VarId outer, VarId inner, int64_t extent) {
  return address.coefficient(outer) == address.coefficient(inner) * extent;
}

bool depends(const Affine& affine, VarId a, VarId b) {
  return affine.coefficient(a) != 0 || affine.coefficient(b) != 0;
}

bool even(const loop::Kernel& kernel, VarId outer, VarId inner, int64_t extent) {
  return std::ranges::all_of(kernel.exprs, [&](const loop::Expr& expr) {
    if (expr.kind == ExprKind::Index) return !depends(expr.address, outer, inner);
    if (expr.kind != ExprKind::Load) return true;
    return even(expr.address, outer, inner, extent) &&
           std::ranges::none_of(expr.guards, [&](const loop::Guard& guard) {
             return depends(guard.index, outer, inner);
           });
  });
}

}  // namespace

Contraction::Contraction(Nest& nest, const Group& group)
    : nest_(nest),
      group_(group),
      node_(nest.node(group.anchor())),
      contraction_(node_.contraction),
      extents_(contraction_.extents),
      position_(extents_.size(), -1),
      index_(extents_.size()) {
  for (int operand = 0; operand < 2; ++operand) {
    const graph::Value value = node_.operands[operand];
    guarded_[operand] = leaving(map_of(operand), extents_, nest.node(value).shape);
    if (nest.buffer_of(value).id >= 0 || !guarded_[operand].empty()) continue;
    if (const auto source = find_narrow_source(nest.context().graph, value)) {
      inlined_[operand] = source->numbers;
    }
  }
  for (size_t d = 0; d < extents_.size(); ++d) set_extent(static_cast<int>(d), extents_[d]);
  const bool has_spatial = !scatters(node_);
  if (has_spatial) {
    for (const graph::Affine& axis : contraction_.out.axes) {
      spatial_.push_back(axis.single_dimension());
    }
  }
  for (int d = 0; d < static_cast<int>(extents_.size()); ++d) {
    if (std::ranges::find(spatial_, d) == spatial_.end()) reduced_.push_back(d);
  }
  for (auto* dimensions : {&spatial_, &reduced_}) {
    std::erase_if(*dimensions, [&](int d) { return extent(d) == 1; });
  }
  if (!has_spatial) return;
  const loop::Kernel loads = probe();
  const std::vector<VarId> was = position_;
  merge(spatial_, loads, was);
  merge(reduced_, loads, was);
}

void Contraction::pair_products() {
  if (!makes_pairs()) return;
  set_extent(reduced_.back(), extent(reduced_.back()) / 2);
  paired_ = reduced_.back();
}

bool Contraction::makes_pairs() const {
  const auto is_short = [&](graph::Value value) {
    const graph::Node& operand = nest_.node(value);
    return operand.kind == graph::Kind::Cast &&
           loop::fits_pair(nest_.node(operand.operands[0]).dtype);
  };
  if (dtype() != loop::DType::I32 || reduced_.empty()) return false;
  const int64_t depth = extent(reduced_.back());
  return depth > 2 && depth % 2 == 0 && std::ranges::all_of(node_.operands, is_short);
}

graph::Value Contraction::stored(int operand) const {
  const graph::Value value = node_.operands[operand];
  return is_paired() ? nest_.node(value).operands[0] : value;
}

void Contraction::set_extent(int d, int64_t extent) {
  const auto at = static_cast<size_t>(d);
  extents_[at] = extent;
  const bool loops = extent != 1;
  position_[at] = loops ? kernel().add_var("d", extent) : -1;
  index_[at] = loops ? Affine::variable(position_[at]) : Affine(0);
}

// Everything that the contraction and its members load, over the loops there are now.
loop::Kernel Contraction::probe() {
  loop::Kernel all = kernel();
  Nest nest(nest_.context(), all);
  for (int operand = 0; operand < 2; ++operand) element(nest, operand, index_);
  nest.bind(group_.anchor(), nest.exprs().constant(loop::Number::from(dtype(), 0)));
  nest.store_members(group_, output_index(index_), Affine(0), 1);
  return all;
}

void Contraction::merge(std::vector<int>& dimensions, const loop::Kernel& loads,
                        const std::vector<VarId>& was) {
  for (size_t i = dimensions.size(); i-- > 1;) {
    const int outer = dimensions[i - 1], inner = dimensions[i];
    const auto at = [&](int d) { return was[d]; };
    if (!even(loads, at(outer), at(inner), extent(inner))) continue;
    set_extent(inner, extent(outer) * extent(inner));
    set_extent(outer, 1);
    dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
}

std::vector<Stmt> Contraction::serial(int d, std::vector<Stmt> body) const {
  return looped(d, loop::LoopKind::Serial, std::move(body));
}

std::vector<Stmt> Contraction::looped(int d, loop::LoopKind kind, std::vector<Stmt> body) const {
  std::vector<Stmt> outer;
  outer.push_back(loop::for_loop(position_[d], kind, std::move(body)));
  return outer;
}

ExprId Contraction::element(Nest& nest, int operand, const Index& index) const {
  const ExprId first = element_part(nest, operand, index, Affine(0));
  return is_paired()
             ? join_parts(nest.exprs(), first, element_part(nest, operand, index, Affine(1)))
             : first;
}

ExprId Contraction::join_parts(loop::ExprBuilder& exprs, ExprId first, ExprId second) const {
  if (!is_paired()) return first;
  return loop::join_pair(exprs, exprs.cast(first, dtype()), exprs.cast(second, dtype()));
}

ExprId Contraction::element_part(Nest& nest, int operand, const Index& index,
                                 const Affine& part) const {
  Index of_pair = index;
  if (is_paired()) {
    Affine& depth = of_pair[paired_];
    depth = depth * 2 + part;
  }
  return single(nest, operand, of_pair);
}

ExprId Contraction::element_inside(Nest& nest, int operand, const Index& index,
                                   std::vector<loop::Guard> guards) const {
  return single(nest, operand, index, std::move(guards));
}

graph::Value Contraction::compact(int operand) const {
  return inlined_[operand].valid() ? inlined_[operand] : stored(operand);
}

ExprId Contraction::panel_part(Nest& nest, int operand, const Index& index, const Affine& part) {
  if (!inlined_[operand].valid()) return element_part(nest, operand, index, part);
  return read(nest, inlined_[operand], operand, index, {});
}

ExprId Contraction::join_panel_parts(int operand, ExprId first, ExprId second) {
  if (!inlined_[operand].valid()) return join_parts(exprs(), first, second);
  nest_.bind(inlined_[operand], first);
  const ExprId element = nest_.value_at(node_.operands[operand], {});
  nest_.unbind(inlined_[operand]);
  return element;
}

ExprId Contraction::single(Nest& nest, int operand, const Index& index,
                           std::vector<loop::Guard> guards) const {
  return read(nest, stored(operand), operand, index, std::move(guards));
}

ExprId Contraction::read(Nest& nest, graph::Value value, int operand, const Index& index,
                         std::vector<loop::Guard> guards) const {
  const Index at = mapped(map_of(operand), index);
  for (size_t axis : guarded_[operand]) guards.push_back({at[axis], nest.node(value).shape[axis]});
  return nest.zero_outside(nest.value_at(value, at, guards), guards);
}

ExprId Contraction::operand_at(int operand, const Index& index) {
  return element(nest_, operand, index);
}

ExprId Contraction::plain(int operand) {
  if (plain_[operand] < 0) plain_[operand] = single(nest_, operand, index_);
  return plain_[operand];
}

Stride Contraction::stride(int operand, int d) {
  return stride_of(kernel(), plain(operand), position_[d]);
}

std::string Contraction::access(int operand, int d) const {
  std::string text;
  if (d < 0) return text;
  for (const Affine& axis : mapped(map_of(operand), index_)) {
    text += concat(axis.coefficient(position_[d]), '+', axis.offset, ',');
  }
  return text;
}

const loop::Expr& Contraction::memory(int operand) {
  ExprId id = plain(operand);
  while (exprs()[id].operand_count() > 0 && exprs()[id].kind != ExprKind::Load) {
    id = exprs()[id].operands[0];
  }
  return exprs()[id];
}

loop::DType Contraction::read_type(int operand) { return memory(operand).dtype; }

int64_t Contraction::step(int operand, int d) {
  const loop::Expr& expr = memory(operand);
  if (expr.kind != ExprKind::Load) return 0;
  return expr.address.coefficient(position_[d]);
}

bool Contraction::is_constant(int operand) {
  const bool is_inlined = inlined_[operand].valid();
  const loop::Expr& expr = is_inlined ? memory(operand) : exprs()[plain(operand)];
  if (expr.kind != ExprKind::Load || expr.buffer.space != loop::Space::Global) return false;
  const auto& buffers = nest_.context().module.buffers;
  return buffers[expr.buffer.id].role == loop::BufferRole::Constant;
}

int64_t Contraction::out_step(int d) const {
  return loop::row_major(output_index(index_), node_.shape).coefficient(position_[d]);
}

Index Contraction::output_index(const Index& index) const {
  return mapped(contraction_.out, index);
}

ExprId Contraction::mul_add(ExprId x, ExprId y, ExprId z) { return mul_add(exprs(), x, y, z); }

ExprId Contraction::mul_add(loop::ExprBuilder& exprs, ExprId x, ExprId y, ExprId z) const {
  if (is_paired()) return loop::add_pair_products(exprs, x, y, z);
  if (dtype() == loop::DType::F32) return exprs.apply(Op::MulAdd, {x, y, z});
  return exprs.apply(Op::Add, {exprs.apply(Op::Mul, {x, y}), z});
}

ExprId Contraction::zero() { return exprs().constant(scalar::fold_identity(Op::Add, dtype())); }

std::vector<Stmt> Contraction::finish(const Index& index, ExprId sum, const Affine& lane,
                                      int64_t width) {
  nest_.bind(group_.anchor(), sum);
  return nest_.store_members(group_, output_index(index), lane, width);
}

bool Contraction::overwrites() const {
  return std::ranges::any_of(group_.members, [&](graph::Value member) {
    return nest_.context().fusion.overwrites[member].valid();
  });
}

ContractionShape Contraction::shape() {
  ContractionShape shape;
  shape.dtype = dtype();
  shape.inplace = overwrites();
  for (int operand : {0, 1}) shape.read[operand] = read_type(operand);
  shape.paired = is_paired();
  const auto describe = [&](const std::vector<int>& dimensions) {
    std::vector<ContractionShape::Dimension> described;
    for (int d : dimensions) {
      described.push_back({extent(d), out_step(d), step(0, d), step(1, d)});
    }
    return described;
  };
  shape.spatial = describe(spatial_);
  shape.reduced = describe(reduced_);
  return shape;
}

void lower_contract(Nest& nest, const Group& group) {
  Contraction contraction(nest, group);
  if (scatters(contraction.node())) {
    scatter_contract(contraction);
  } else {
    nest.context().strategies.contract(contraction);
  }
  loop::drop_unreachable_exprs(nest.kernel());
  for (loop::Kernel& kernel : nest.context().before) loop::drop_unreachable_exprs(kernel);
}

}  // namespace lathe::lower
