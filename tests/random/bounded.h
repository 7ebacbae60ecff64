// Numbers with bounds of their error: what a graph means in float64, and how far a program that
// computes in f32, in whatever order it adds, may be from it. Where it may decide otherwise (a
// comparison of nearly equal numbers, a cast of nearly an integer) the bound is infinite.
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "lathe/scalar/op.h"

namespace lathe::random_tests {

using scalar::DType;
using scalar::Op;

// A number of any dtype: Bool is 0 or 1; those and I32 are exact or unknown.
struct Bounded {
  double value = 0;
  double error = 0;

  bool is_sure() const { return error == 0; }
  bool is_finite() const { return error < std::numeric_limits<double>::infinity(); }
  bool operator==(const Bounded&) const = default;
};

Bounded unknown();

// How exactly a program computes.
struct Precision {
  double unit = 0x1p-23;  // relative error of one operation
  double least = 1e-36;   // absolute error where numbers lose digits
  double max = 3e38;      // numbers above may be infinite
  bool winograd = false;  // whether products of 3x3 windows may be transformed
};
inline constexpr Precision kDouble{.unit = 0x1p-52, .least = 1e-300, .max = 1e300};

// An f32 result with what one rounding adds; nothing where f32 has the number itself.
Bounded rounded(Bounded exact, bool operands_sure, const Precision& precision);

// The meaning of a row of scalar/ops.def over operands of this dtype (that of the second for
// select).
Bounded apply(Op op, std::span<const Bounded> operands, DType dtype, const Precision& precision);
Bounded cast(Bounded x, DType from, DType to, const Precision& precision);

// A sum of f32 terms in any order.
class Sum {
 public:
  void add(Bounded term) {
    value_ += term.value;
    error_ += term.error;
    magnitude_ += std::fabs(term.value);
    is_integer_ = is_integer_ && term.error == 0 && term.value == std::nearbyint(term.value);
    ++count_;
  }
  Bounded total(const Precision& precision) const;

 private:
  double value_ = 0, error_ = 0, magnitude_ = 0;
  bool is_integer_ = true;
  int64_t count_ = 0;
};

}  // namespace lathe::random_tests
