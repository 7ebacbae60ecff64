// The VJP column as a template: the gradients of one scalar operation with respect to its operands,
// on floats (T = float) or as graph nodes (T = graph::Tensor).
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "lathe/scalar/op.h"

namespace lathe::scalar {

// Element i belongs to operand i; nothing where no gradient flows.
template <class T>
using Gradients = std::array<std::optional<T>, kMaxArity>;

// What the rows call, for T = float; other types bring theirs by argument-dependent lookup.
inline float zero(float) { return 0; }
inline float select(float condition, float x, float y) { return condition != 0 ? x : y; }

template <class T, class... Parts>
Gradients<T> gradients_of(const Parts&... parts) {
  return {std::optional<T>(parts)...};
}

// x, y, z are the operands (any T where op has fewer), out the result, g the gradient of out.
template <class T>
Gradients<T> vjp(Op op, [[maybe_unused]] const T& x, [[maybe_unused]] const T& y,
                 [[maybe_unused]] const T& z, [[maybe_unused]] const T& out,
                 [[maybe_unused]] const T& g) {
  [[maybe_unused]] constexpr std::nullopt_t none = std::nullopt;
  using std::cos, std::cosh, std::exp, std::floor, std::log, std::pow, std::sin, std::sinh,
      std::sqrt;
  switch (op) {
#define VJP(...) __VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, ...) \
  case Op::name_:                                                            \
    return gradients_of<T>(vjp_);
#include "lathe/scalar/ops.def"
#undef VJP
  }
  return {};
}

}  // namespace lathe::scalar
