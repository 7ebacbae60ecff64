// Pairs of 16-bit integers packed in an i32, and sums of their products: their canonical form in
// expressions, which targets with such an instruction (i32x4.dot_i16x8_s) match.
#pragma once

#include <optional>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// Whether all its numbers fit 16 signed bits.
constexpr bool fits_pair(DType dtype) {
  return scalar::is_integer(dtype) && (dtype == DType::I16 || scalar::size_of(dtype) == 1);
}

// The pair (low, high) of I32 numbers that fit.
ExprId join_pair(ExprBuilder& exprs, ExprId low, ExprId high);
// x.low * y.low + (x.high * y.high + sum), wrapping.
ExprId add_pair_products(ExprBuilder& exprs, ExprId x, ExprId y, ExprId sum);

struct Pair {
  ExprId low, high;
};
std::optional<Pair> as_pair(const Kernel& kernel, const Expr& expr);

struct PairProducts {
  ExprId x, y, sum;
};
std::optional<PairProducts> as_pair_products(const Kernel& kernel, const Expr& expr);

}  // namespace lathe::loop
