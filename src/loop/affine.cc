#include "lathe/loop/affine.h"

#include <algorithm>

#include "lathe/base/check.h"

namespace lathe::loop {

Affine Affine::variable(VarId var, int64_t coefficient) {
  Affine result;
  if (coefficient != 0) result.terms.push_back({var, coefficient});
  return result;
}

int64_t Affine::coefficient(VarId var) const {
  for (const Term& term : terms) {
    if (term.var == var) return term.coefficient;
  }
  return 0;
}

Affine& Affine::operator+=(const Affine& other) {
  offset += other.offset;
  for (const Term& term : other.terms) {
    auto position = std::lower_bound(terms.begin(), terms.end(), term.var,
                                     [](const Term& t, VarId var) { return t.var < var; });
    if (position == terms.end() || position->var != term.var) {
      terms.insert(position, term);
    } else if ((position->coefficient += term.coefficient) == 0) {
      terms.erase(position);
    }
  }
  return *this;
}

Affine& Affine::operator*=(int64_t factor) {
  if (factor == 0) terms.clear();
  offset *= factor;
  for (Term& term : terms) term.coefficient *= factor;
  return *this;
}

Affine Affine::substitute(VarId var, const Affine& value) const {
  const int64_t factor = coefficient(var);
  if (factor == 0) return *this;
  Affine result = *this;
  std::erase_if(result.terms, [var](const Term& term) { return term.var == var; });
  return result + value * factor;
}

Affine operator+(Affine a, const Affine& b) { return a += b; }
Affine operator*(Affine a, int64_t factor) { return a *= factor; }

Affine row_major(std::span<const Affine> index, std::span<const int64_t> shape) {
  LATHE_CHECK(index.size() == shape.size());
  Affine address;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    address *= shape[axis];
    address += index[axis];
  }
  return address;
}

}  // namespace lathe::loop
