#include "lathe/ops/linalg/einsum.h"

#include <algorithm>
#include <map>
#include <string>

#include "lathe/base/sort.h"
#include "lathe/base/text.h"

namespace lathe::ops {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Op;
using graph::Shape;

namespace {

// Axes by name: letters, and for those of "..." numbers below 0, the last of them -1.
using Names = std::vector<int>;

struct Term {
  Tensor tensor;
  Names names;
};

bool has(const Names& names, int name) { return std::ranges::find(names, name) != names.end(); }

// "i...j" for a tensor of that rank; nothing where it does not fit.
bool names_of(std::string_view text, int rank, Names& names) {
  const size_t letters =
      static_cast<size_t>(std::ranges::count_if(text, [](char c) { return c != '.' && c != ' '; }));
  const size_t dots = text.find("...");
  if (rank < static_cast<int>(letters)) return false;
  const int rest = rank - static_cast<int>(letters);
  if (dots == text.npos && rest > 0) return false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ') continue;
    if (text[at] != '.') {
      names.push_back(text[at]);
      continue;
    }
    if (at != dots) return false;
    for (int k = rest; k > 0; --k) names.push_back(-k);
    at += 2;
  }
  return true;
}

std::vector<std::string_view> parted(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Each name once: of those that come twice the diagonal.
Term with_diagonals(const Term& term) {
  Names once;
  Shape shape;
  const Shape from = term.tensor.shape();
  for (size_t k = 0; k < term.names.size(); ++k) {
    const auto found = std::ranges::find(once, term.names[k]);
    if (found == once.end()) {
      once.push_back(term.names[k]);
      shape.push_back(from[k]);
    } else if (int64_t& size = shape[found - once.begin()]; size == 1) {
      size = from[k];
    }
  }
  if (once == term.names) return term;
  AffineMap map;
  for (size_t k = 0; k < term.names.size(); ++k) {
    const auto d = std::ranges::find(once, term.names[k]) - once.begin();
    Affine axis{std::vector<int64_t>(once.size(), 0), 0};
    if (from[k] != 1) axis.coefficients[d] = 1;
    map.axes.push_back(std::move(axis));
  }
  return {term.tensor.builder->reindex(term.tensor, std::move(map), std::move(shape)), once};
}

// Sums the term over the names that occur nowhere else.
Term folded(const Term& term, const Names& needed) {
  std::vector<int> axes;
  Names names;
  for (size_t k = 0; k < term.names.size(); ++k) {
    if (has(needed, term.names[k])) {
      names.push_back(term.names[k]);
    } else {
      axes.push_back(static_cast<int>(k));
    }
  }
  return {term.tensor.builder->reduce(Op::Add, term.tensor, axes), names};
}

// The product of two, of which the result has these names. Axes of size 1 broadcast.
Term product(const Term& x, const Term& y, const Names& result) {
  Names all = result;
  for (const Term* each : {&x, &y}) {
    for (const int name : each->names) {
      if (!has(all, name)) all.push_back(name);
    }
  }
  std::vector<int64_t> extents(all.size(), 1);
  const auto position = [&](int name) {
    return static_cast<size_t>(std::ranges::find(all, name) - all.begin());
  };
  for (const Term* each : {&x, &y}) {
    for (size_t k = 0; k < each->names.size(); ++k) {
      int64_t& extent = extents[position(each->names[k])];
      if (extent == 1) extent = each->tensor.shape()[k];
    }
  }
  const auto map_of = [&](const Term& term) {
    AffineMap map;
    for (size_t k = 0; k < term.names.size(); ++k) {
      Affine axis{std::vector<int64_t>(all.size(), 0), 0};
      if (term.tensor.shape()[k] != 1) axis.coefficients[position(term.names[k])] = 1;
      map.axes.push_back(std::move(axis));
    }
    return map;
  };
  Shape shape(extents.begin(), extents.begin() + static_cast<int64_t>(result.size()));
  std::vector<int> front(result.size());
  for (size_t k = 0; k < front.size(); ++k) front[k] = static_cast<int>(k);
  graph::Contraction contraction{extents, AffineMap::project(static_cast<int>(all.size()), front),
                                 map_of(x), map_of(y)};
  return {x.tensor.builder->contract(x.tensor, y.tensor, std::move(contraction), std::move(shape)),
          result};
}

Names all_names(const std::vector<Term>& terms) {
  Names names;
  for (const Term& each : terms) names.insert(names.end(), each.names.begin(), each.names.end());
  return names;
}

// What comes once, in order, after the axes of "...".
Names implied(const std::vector<Term>& terms) {
  Names all = all_names(terms), result;
  sort_ascending(all);
  for (size_t k = 0; k < all.size(); ++k) {
    const bool is_first = k == 0 || all[k - 1] != all[k];
    const bool is_last = k + 1 == all.size() || all[k + 1] != all[k];
    if (is_first && (all[k] < 0 || is_last)) result.push_back(all[k]);
  }
  return result;
}

// Every name has one size, or 1; the result's are there, each once.
bool sizes_fit(const std::vector<Term>& terms, const Names& result) {
  std::map<int, int64_t> sizes;
  for (const Term& each : terms) {
    for (size_t k = 0; k < each.names.size(); ++k) {
      int64_t& size = sizes.try_emplace(each.names[k], 1).first->second;
      const int64_t found = each.tensor.shape()[k];
      if (size == 1) size = found;
      if (found != 1 && found != size) return false;
    }
  }
  return std::ranges::all_of(result, [&](int name) {
    return sizes.contains(name) && std::ranges::count(result, name) == 1;
  });
}

Tensor ordered(const Term& term, const Names& result) {
  std::vector<int> order;
  for (const int name : result) {
    order.push_back(static_cast<int>(std::ranges::find(term.names, name) - term.names.begin()));
  }
  return term.tensor.builder->permute(term.tensor, order);
}

Tensor mismatch(std::string_view equation, const std::vector<Tensor>& operands) {
  std::string shapes;
  for (const Tensor& each : operands) append(shapes, ' ', bracketed(each.shape()));
  return operands[0].builder->error(
      concat("einsum: \"", equation, "\" does not fit operands of shapes", shapes));
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  if (operands.empty() || !std::ranges::all_of(operands, &Tensor::valid)) return {};
  const size_t arrow = equation.find("->");
  const auto parts = parted(equation.substr(0, arrow));
  if (parts.size() != operands.size()) return mismatch(equation, operands);
  std::vector<Term> terms;
  int broadcast = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    Names names;
    if (!names_of(parts[k], operands[k].rank(), names)) return mismatch(equation, operands);
    for (const int name : names) broadcast = std::max(broadcast, -name);
    terms.push_back({operands[k], std::move(names)});
  }
  Names result;
  if (arrow == equation.npos) {
    result = implied(terms);
  } else {
    const std::string_view text = equation.substr(arrow + 2);
    const auto letters =
        static_cast<int>(std::ranges::count_if(text, [](char c) { return c != '.' && c != ' '; }));
    const bool has_dots = text.find("...") != text.npos;
    if (!names_of(text, letters + (has_dots ? broadcast : 0), result)) {
      return mismatch(equation, operands);
    }
  }
  if (!sizes_fit(terms, result)) return mismatch(equation, operands);
  for (Term& each : terms) each = with_diagonals(each);
  Term all = terms[0];
  for (size_t k = 1; k < terms.size(); ++k) {
    Names needed = result;
    for (size_t rest = k + 1; rest < terms.size(); ++rest) {
      needed.insert(needed.end(), terms[rest].names.begin(), terms[rest].names.end());
    }
    Names result_names = k + 1 == terms.size() ? result : Names{};
    for (const Term* each : {&all, &terms[k]}) {
      for (const int name : each->names) {
        if (has(needed, name) && !has(result_names, name)) result_names.push_back(name);
      }
    }
    all = product(all, terms[k], result_names);
  }
  return ordered(folded(all, result), result);
}

}  // namespace lathe::ops
