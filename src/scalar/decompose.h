// The SPELL column as a template: an operation as branch-free arithmetic, for targets that have no
// such instruction, on any type V that scalar/spell.h computes with. The accuracy column bounds the
// error; results below the smallest normal number may be 0.
#pragma once

#include <optional>

#include "lathe/scalar/spell_angles.h"
#include "lathe/scalar/spell_exponentials.h"
#include "lathe/scalar/spell_powers.h"
#include "lathe/scalar/spell_quotients.h"

namespace lathe::scalar {

namespace spell {

template <Value V>
std::optional<V> row(Op op, const V& x, [[maybe_unused]] const V& y) {
  constexpr std::nullopt_t NONE = std::nullopt;
  switch (op) {
#define SPELL(...) __VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        spell_, ...)                                                             \
  case Op::name_:                                                                                \
    return spell_;
#include "lathe/scalar/ops.def"
#undef SPELL
  }
  return NONE;
}

}  // namespace spell

// Nothing where info(op).spelled is false. y is the second operand, any V where op has but one.
template <spell::Value V>
std::optional<V> decompose(Op op, const V& x, const V& y) {
  return spell::row(op, x, y);
}

}  // namespace lathe::scalar
