#include "lathe/loop/analysis/pairs.h"

namespace lathe::loop {

namespace {

constexpr int32_t kLowBits = 0xffff, kHalf = 16;

ExprId number(ExprBuilder& exprs, int32_t value) { return exprs.constant(Number::of(value)); }

ExprId low_of(ExprBuilder& exprs, ExprId pair) {
  return exprs.cast(exprs.cast(pair, DType::I16), DType::I32);
}

ExprId high_of(ExprBuilder& exprs, ExprId pair) {
  return exprs.apply(Op::ShiftRight, {pair, number(exprs, kHalf)});
}

const Expr& operand(const Kernel& kernel, const Expr& expr, size_t i) {
  return kernel.exprs[expr.operands[i]];
}

bool applies(const Expr& expr, Op op) {
  return expr.kind == ExprKind::Apply && expr.op == op && expr.dtype == DType::I32;
}

bool is_number(const Expr& expr, int32_t value) {
  return expr.kind == ExprKind::Constant && expr.constant.i == value;
}

bool casts(const Expr& expr, DType dtype) {
  return expr.kind == ExprKind::Cast && expr.dtype == dtype;
}

// The pair that this is the lower half of; -1: of none.
ExprId pair_below(const Kernel& kernel, const Expr& expr) {
  if (!casts(expr, DType::I32)) return -1;
  const Expr& low = operand(kernel, expr, 0);
  return casts(low, DType::I16) ? low.operands[0] : -1;
}

ExprId pair_above(const Kernel& kernel, const Expr& expr) {
  const bool shifts = applies(expr, Op::ShiftRight) && is_number(operand(kernel, expr, 1), kHalf);
  return shifts ? expr.operands[0] : -1;
}

}  // namespace

ExprId join_pair(ExprBuilder& exprs, ExprId low, ExprId high) {
  return exprs.apply(Op::BitOr, {exprs.apply(Op::BitAnd, {low, number(exprs, kLowBits)}),
                                 exprs.apply(Op::ShiftLeft, {high, number(exprs, kHalf)})});
}

ExprId add_pair_products(ExprBuilder& exprs, ExprId x, ExprId y, ExprId sum) {
  const ExprId low = exprs.apply(Op::Mul, {low_of(exprs, x), low_of(exprs, y)});
  const ExprId high = exprs.apply(Op::Mul, {high_of(exprs, x), high_of(exprs, y)});
  return exprs.apply(Op::Add, {low, exprs.apply(Op::Add, {high, sum})});
}

std::optional<Pair> as_pair(const Kernel& kernel, const Expr& expr) {
  if (!applies(expr, Op::BitOr)) return std::nullopt;
  const Expr &low = operand(kernel, expr, 0), &high = operand(kernel, expr, 1);
  if (!applies(low, Op::BitAnd) || !is_number(operand(kernel, low, 1), kLowBits)) {
    return std::nullopt;
  }
  if (!applies(high, Op::ShiftLeft) || !is_number(operand(kernel, high, 1), kHalf)) {
    return std::nullopt;
  }
  return Pair{low.operands[0], high.operands[0]};
}

std::optional<PairProducts> as_pair_products(const Kernel& kernel, const Expr& expr) {
  if (!applies(expr, Op::Add)) return std::nullopt;
  const Expr &low = operand(kernel, expr, 0), &rest = operand(kernel, expr, 1);
  if (!applies(low, Op::Mul) || !applies(rest, Op::Add)) return std::nullopt;
  const Expr& high = operand(kernel, rest, 0);
  if (!applies(high, Op::Mul)) return std::nullopt;
  ExprId pairs[2];
  for (size_t i = 0; i < 2; ++i) {
    pairs[i] = pair_below(kernel, operand(kernel, low, i));
    if (pairs[i] < 0 || pairs[i] != pair_above(kernel, operand(kernel, high, i))) {
      return std::nullopt;
    }
  }
  return PairProducts{pairs[0], pairs[1], rest.operands[1]};
}

}  // namespace lathe::loop
