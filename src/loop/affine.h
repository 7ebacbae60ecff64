// Integer expressions linear in loop variables: addresses, indices and guards of the loop IR.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lathe::loop {

using VarId = int32_t;

struct Term {
  VarId var;
  int64_t coefficient;
  bool operator==(const Term&) const = default;
};

// The sum of coefficient * var over terms, plus offset.
struct Affine {
  std::vector<Term> terms;  // ascending by var, no zero coefficients
  int64_t offset = 0;

  Affine() = default;
  Affine(int64_t constant) : offset(constant) {}  // NOLINT: constants are affine
  static Affine variable(VarId var, int64_t coefficient = 1);

  int64_t coefficient(VarId var) const;
  bool is_constant() const { return terms.empty(); }
  Affine& operator+=(const Affine& other);
  Affine& operator*=(int64_t factor);
  // This with `var` replaced by `value`.
  Affine substitute(VarId var, const Affine& value) const;
  bool operator==(const Affine&) const = default;
};

Affine operator+(Affine a, const Affine& b);
Affine operator*(Affine a, int64_t factor);

// Row-major address of a multi-index in a tensor of this shape.
Affine row_major(std::span<const Affine> index, std::span<const int64_t> shape);

}  // namespace lathe::loop
