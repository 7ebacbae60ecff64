// The EXPAND column as a template: an operation as branch-free arithmetic, for targets that have no
// such instruction, on any type V that scalar/expand.h computes with. The accuracy column bounds
// the error; results below the smallest normal number may be 0.
#pragma once

#include <optional>

#include "lathe/scalar/expand_angles.h"
#include "lathe/scalar/expand_exponentials.h"
#include "lathe/scalar/expand_powers.h"
#include "lathe/scalar/expand_quotients.h"

namespace lathe::scalar {

namespace expand {

template <Value V>
std::optional<V> row(Op op, const V& x, [[maybe_unused]] const V& y) {
  constexpr std::nullopt_t NONE = std::nullopt;
  switch (op) {
#define EXPAND(...) __VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, ...)                                                            \
  case Op::name_:                                                                                \
    return expand_;
#include "lathe/scalar/ops.def"
#undef EXPAND
  }
  return NONE;
}

}  // namespace expand

// nullopt where info(op).expanded is false. y is the second operand, any V where op has but one.
template <expand::Value V>
std::optional<V> decompose(Op op, const V& x, const V& y) {
  return expand::row(op, x, y);
}

}  // namespace lathe::scalar
