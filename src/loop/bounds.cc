#include "loop/bounds.h"

#include <algorithm>
#include <ranges>

namespace lathe::loop {

namespace {

constexpr Range kNever = {0, -1};

// sum += factor * range; false where that overflows.
bool accumulate(Range& sum, int64_t factor, Range range) {
  if (factor < 0) std::swap(range.low, range.high);
  int64_t low = 0, high = 0;
  return !__builtin_mul_overflow(factor, range.low, &low) &&
         !__builtin_mul_overflow(factor, range.high, &high) &&
         !__builtin_add_overflow(sum.low, low, &sum.low) &&
         !__builtin_add_overflow(sum.high, high, &sum.high);
}

std::optional<Range> plain_range(const Affine& form, const VarRanges& variables) {
  Range sum{form.offset, form.offset};
  for (const Term& term : form.terms) {
    if (!accumulate(sum, term.coefficient, *variables[term.var])) return std::nullopt;
  }
  return sum;
}

Range intersect(Range a, Range b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

// The values of the variable with 0 <= coefficient * variable + offset < extent.
Range solve(int64_t coefficient, int64_t offset, int64_t extent) {
  const int64_t at_zero = -offset, at_last = extent - 1 - offset;
  if (coefficient > 0) {
    return {-floor_divide(-at_zero, coefficient), floor_divide(at_last, coefficient)};
  }
  return {-floor_divide(-at_last, coefficient), floor_divide(at_zero, coefficient)};
}

// The factor of index that leaves fewest variables in form - factor * index; 0 where none leaves
// fewer.
int64_t factor_in(const Affine& form, const Affine& index) {
  int64_t best = 0;
  size_t fewest = form.terms.size();
  for (const Term& term : index.terms) {
    const int64_t coefficient = form.coefficient(term.var);
    if (coefficient == 0 || coefficient % term.coefficient != 0) continue;
    const int64_t factor = coefficient / term.coefficient;
    const size_t left = (form + index * -factor).terms.size();
    if (left >= fewest) continue;
    fewest = left;
    best = factor;
  }
  return best;
}

}  // namespace

std::optional<Range> range_of(const Affine& form, std::span<const Guard> guards,
                              VarRanges variables) {
  for (const Guard& guard : guards) {
    if (guard.index.is_constant()) {
      if (guard.index.offset < 0 || guard.index.offset >= guard.extent) return kNever;
    } else if (guard.index.terms.size() == 1) {
      const Term term = guard.index.terms[0];
      Range& range = *variables[term.var];
      range = intersect(range, solve(term.coefficient, guard.index.offset, guard.extent));
    }
  }
  for (const auto& range : variables) {
    if (range && range->empty()) return kNever;
  }
  const auto whole = plain_range(form, variables);
  if (!whole) return std::nullopt;

  Affine rest = form;
  Range parts;
  for (const Guard& guard : std::views::reverse(guards)) {
    if (guard.index.terms.size() < 2) continue;
    const auto index = plain_range(guard.index, variables);
    if (!index) return std::nullopt;
    const Range inside = intersect(*index, {0, guard.extent - 1});
    if (inside.empty()) return kNever;
    const int64_t factor = factor_in(rest, guard.index);
    if (factor == 0) continue;
    rest += guard.index * -factor;
    if (!accumulate(parts, factor, inside)) return std::nullopt;
  }
  const auto remainder = plain_range(rest, variables);
  if (!remainder || !accumulate(parts, 1, *remainder)) return std::nullopt;
  return intersect(*whole, parts);
}

}  // namespace lathe::loop
