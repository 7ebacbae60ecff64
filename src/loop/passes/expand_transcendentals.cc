#include "lathe/loop/passes/expand_transcendentals.h"

#include <algorithm>
#include <utility>

#include "lathe/loop/rebuild.h"
#include "lathe/scalar/decompose.h"

namespace lathe::loop {

namespace {

// An expression as the value that scalar::decompose computes with.
struct Handle {
  ExprBuilder* builder;
  ExprId id;
  bool keeps_order;

  Handle like(Number value) const { return {builder, builder->constant(value), keeps_order}; }
  Handle like(float value) const { return {builder, builder->constant(value), keeps_order}; }
  Handle like_i32(int32_t value) const { return like(Number::of(value)); }
  Handle rarely(const Handle& x, const Handle& y) const {
    return {builder, builder->rarely(id, x.id, y.id), keeps_order};
  }
  DType dtype() const { return (*builder)[id].dtype; }
};

template <class... Operands>
Handle apply(Op op, const Handle& first, const Operands&... rest) {
  return {first.builder, first.builder->apply(op, {first.id, rest.id...}), first.keeps_order};
}
Handle cast(const Handle& x, DType dtype) {
  return {x.builder, x.builder->cast(x.id, dtype), x.keeps_order};
}

}  // namespace

void expand_transcendentals(Kernel& kernel) {
  expand_unsupported(kernel, [](Op) { return true; });
}

void expand_unsupported(Kernel& kernel, bool (*needs_expansion)(Op), bool keeps_order) {
  const auto expands = [needs_expansion](const Expr& expr) {
    return expr.kind == ExprKind::Apply && scalar::info(expr.op).expanded &&
           needs_expansion(expr.op);
  };
  if (std::ranges::none_of(kernel.exprs, expands)) return;
  rebuild_exprs(kernel, [&](ExprBuilder& builder, Expr expr) {
    if (!expands(expr)) return builder.add(std::move(expr));
    const Handle x{&builder, expr.operands[0], keeps_order};
    const Handle y{&builder, expr.operands[expr.operand_count() - 1], keeps_order};
    return scalar::decompose(expr.op, x, y)->id;
  });
}

}  // namespace lathe::loop
