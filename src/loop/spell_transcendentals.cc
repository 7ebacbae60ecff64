#include "loop/spell_transcendentals.h"

#include <algorithm>
#include <utility>

#include "loop/rebuild.h"
#include "scalar/decompose.h"

namespace lathe::loop {

namespace {

// An expression as the value that scalar::decompose computes with.
struct Handle {
  ExprBuilder* builder;
  ExprId id;

  Handle like(float value) const { return {builder, builder->constant(value)}; }
  Handle like_i32(int32_t value) const { return {builder, builder->constant(Number::of(value))}; }
};

template <class... Operands>
Handle apply(Op op, const Handle& first, const Operands&... rest) {
  return {first.builder, first.builder->apply(op, {first.id, rest.id...})};
}

Handle operator+(const Handle& x, const Handle& y) { return apply(Op::Add, x, y); }
Handle operator-(const Handle& x, const Handle& y) { return apply(Op::Sub, x, y); }
Handle operator*(const Handle& x, const Handle& y) { return apply(Op::Mul, x, y); }
Handle operator/(const Handle& x, const Handle& y) { return apply(Op::Div, x, y); }
Handle operator<(const Handle& x, const Handle& y) { return apply(Op::Lt, x, y); }
Handle operator>(const Handle& x, const Handle& y) { return apply(Op::Gt, x, y); }
Handle mul_add(const Handle& x, const Handle& y, const Handle& z) {
  return apply(Op::MulAdd, x, y, z);
}
Handle select(const Handle& x, const Handle& y, const Handle& z) {
  return apply(Op::Select, x, y, z);
}
Handle to_bits(const Handle& x) { return apply(Op::ToBits, x); }
Handle from_bits(const Handle& x) { return apply(Op::FromBits, x); }
Handle shift_left(const Handle& x, const Handle& y) { return apply(Op::ShiftLeft, x, y); }
Handle shift_right(const Handle& x, const Handle& y) { return apply(Op::ShiftRight, x, y); }
Handle to_f32(const Handle& x) { return {x.builder, x.builder->cast(x.id, DType::F32)}; }

bool is_spelled(const Expr& expr) {
  return expr.kind == ExprKind::Apply && scalar::is_decomposable(expr.op);
}

}  // namespace

void spell_transcendentals(Kernel& kernel) {
  if (std::none_of(kernel.exprs.begin(), kernel.exprs.end(), is_spelled)) return;
  rebuild_exprs(kernel, [](ExprBuilder& builder, Expr expr) {
    if (!is_spelled(expr)) return builder.add(std::move(expr));
    return scalar::decompose(expr.op, Handle{&builder, expr.operands[0]}).id;
  });
}

}  // namespace lathe::loop
