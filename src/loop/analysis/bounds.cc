#include "lathe/loop/analysis/bounds.h"

#include <algorithm>
#include <numeric>

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

// The factors of index that leave fewer variables in form - factor * index, or 0 where there are
// none, and the integers next to fractional factors that would eliminate a variable.
std::vector<int64_t> factors_in(const Affine& form, const Affine& index) {
  std::vector<int64_t> factors;
  const auto add = [&](int64_t factor) {
    if (std::ranges::find(factors, factor) == factors.end()) factors.push_back(factor);
  };
  for (const Term& term : index.terms) {
    const int64_t coefficient = form.coefficient(term.var);
    if (coefficient == 0 || coefficient % term.coefficient != 0) continue;
    const int64_t factor = coefficient / term.coefficient;
    if ((form + index * -factor).terms.size() < form.terms.size()) add(factor);
  }
  if (factors.empty()) add(0);
  for (const Term& term : index.terms) {
    const int64_t coefficient = form.coefficient(term.var);
    if (coefficient % term.coefficient == 0) continue;
    const int64_t below = floor_divide(coefficient, term.coefficient);
    add(below);
    add(below + 1);
  }
  return factors;
}

// The constraint of a guard on a form over several variables.
struct Part {
  Affine index;
  Range inside;
};

// The constraint with coprime coefficients: 0 <= 4*i + 2*k + 1 < 10 becomes 2*i + k from 0 to 4.
Part part_of(const Guard& guard) {
  int64_t divisor = 0;
  for (const Term& term : guard.index.terms) divisor = std::gcd(divisor, term.coefficient);
  Part part{guard.index, solve(divisor, guard.index.offset, guard.extent)};
  part.index.offset = 0;
  for (Term& term : part.index.terms) term.coefficient /= divisor;
  return part;
}

// The range of rest + subtracted, where multiples of the parts' indices are subtracted from the
// rest, the last part first. Each choice of the multiples is a bound; the result is their
// intersection.
std::optional<Range> narrowed(const Affine& rest, Range subtracted, std::span<const Part> parts,
                              const VarRanges& variables) {
  if (parts.empty() || rest.is_constant()) {
    const auto remainder = plain_range(rest, variables);
    if (!remainder || !accumulate(subtracted, 1, *remainder)) return std::nullopt;
    return subtracted;
  }
  const Part& part = parts.back();
  std::optional<Range> result;
  for (const int64_t factor : factors_in(rest, part.index)) {
    Range more = subtracted;
    if (!accumulate(more, factor, part.inside)) return std::nullopt;
    const auto range =
        narrowed(rest + part.index * -factor, more, parts.first(parts.size() - 1), variables);
    if (!range) return std::nullopt;
    result = result ? intersect(*result, *range) : *range;
  }
  return result;
}

// The multiples of two indices that together eliminate two variables from the form, if they are
// integers.
struct Multiples {
  int64_t first, second;
};
std::optional<Multiples> multiples_in(const Affine& form, const Affine& first, const Affine& second,
                                      VarId u, VarId v) {
  const int64_t a = first.coefficient(u), b = second.coefficient(u), c = first.coefficient(v),
                d = second.coefficient(v), x = form.coefficient(u), y = form.coefficient(v);
  int64_t ad = 0, bc = 0, xd = 0, by = 0, ay = 0, xc = 0, determinant = 0, p = 0, q = 0;
  const bool overflows = __builtin_mul_overflow(a, d, &ad) || __builtin_mul_overflow(b, c, &bc) ||
                         __builtin_mul_overflow(x, d, &xd) || __builtin_mul_overflow(b, y, &by) ||
                         __builtin_mul_overflow(a, y, &ay) || __builtin_mul_overflow(x, c, &xc) ||
                         __builtin_sub_overflow(ad, bc, &determinant) ||
                         __builtin_sub_overflow(xd, by, &p) || __builtin_sub_overflow(ay, xc, &q);
  if (overflows || determinant == 0 || p % determinant != 0 || q % determinant != 0) return {};
  return Multiples{p / determinant, q / determinant};
}

// The intersection of the ranges of all pairs of parts that eliminate two variables at once.
std::optional<Range> narrowed_by_pairs(const Affine& form, Range range, std::span<const Part> parts,
                                       const VarRanges& variables) {
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      std::vector<Part> others;
      for (size_t k = 0; k < parts.size(); ++k) {
        if (k != i && k != j) others.push_back(parts[k]);
      }
      const std::vector<Term>& terms = parts[i].index.terms;
      for (size_t u = 1; u < terms.size(); ++u) {
        for (size_t v = 0; v < u; ++v) {
          const auto found =
              multiples_in(form, parts[i].index, parts[j].index, terms[u].var, terms[v].var);
          if (!found || found->first == 0 || found->second == 0) continue;
          Range subtracted;
          if (!accumulate(subtracted, found->first, parts[i].inside)) return {};
          if (!accumulate(subtracted, found->second, parts[j].inside)) return {};
          const Affine rest =
              form + parts[i].index * -found->first + parts[j].index * -found->second;
          const auto narrower = narrowed(rest, subtracted, others, variables);
          if (!narrower) return {};
          range = intersect(range, *narrower);
        }
      }
    }
  }
  return range;
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
  const auto unguarded = plain_range(form, variables);
  if (!unguarded) return std::nullopt;

  std::vector<Part> parts;
  for (const Guard& guard : guards) {
    if (guard.index.terms.size() < 2) continue;
    const Part constraint = part_of(guard);
    const auto index = plain_range(constraint.index, variables);
    if (!index) return std::nullopt;
    const auto same = [&](const Part& part) { return part.index == constraint.index; };
    auto part = std::ranges::find_if(parts, same);
    if (part == parts.end()) part = parts.insert(part, {constraint.index, *index});
    part->inside = intersect(part->inside, constraint.inside);
    if (part->inside.empty()) return kNever;
  }
  std::optional<Range> result = unguarded;
  for (int order = 0; result && order < 2; ++order) {
    const auto range = narrowed(form, {}, parts, variables);
    result = range ? std::optional(intersect(*result, *range)) : std::nullopt;
    std::ranges::reverse(parts);
  }
  return result ? narrowed_by_pairs(form, *result, parts, variables) : result;
}

}  // namespace lathe::loop
