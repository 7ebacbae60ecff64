#include "lathe/models/match_names.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "lathe/base/text.h"

namespace lathe::models {
namespace {

using Parts = std::vector<std::string_view>;

constexpr std::string_view kDirections[] = {"forward_", "backward_"};
constexpr std::string_view kCell = "RNNCell_";

std::string_view path_of(std::string_view name) {
  const size_t end = name.rfind('/');
  return end == name.npos ? std::string_view() : name.substr(0, end);
}

std::string_view last_part(std::string_view name) {
  const size_t end = name.rfind('/');
  return end == name.npos ? name : name.substr(end + 1);
}

std::optional<size_t> index_of(std::string_view part) {
  if (part.empty() || part.size() > 6) return std::nullopt;
  size_t value = 0;
  for (const char c : part) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<size_t>(c - '0');
  }
  return value;
}

// The layers in a Bidirectional are forward_NAME and backward_NAME, whatever NAME is.
bool are_equal(std::string_view ours, std::string_view theirs, bool is_layer) {
  if (ours == theirs) return true;
  return !is_layer && std::ranges::any_of(kDirections, [&](std::string_view direction) {
    return ours.starts_with(direction) && theirs.starts_with(direction);
  });
}

// Whether the parts of ours are among those of theirs, in their order, and the last are the same.
bool is_within(const Parts& ours, const Parts& theirs) {
  if (ours.empty() || theirs.empty() || ours.back() != theirs.back()) return false;
  size_t at = 0;
  for (size_t i = 0; i + 1 < theirs.size() && at + 1 < ours.size(); ++i) {
    if (are_equal(ours[at], theirs[i], at == 0)) ++at;
  }
  return at + 1 == ours.size();
}

// "dense_1_2" -> "dense", 1, 2; TensorFlow.js numbers "dense_Dense3".
std::string_view without_numbers(std::string_view part, std::vector<size_t>& numbers) {
  std::vector<size_t> found;
  while (true) {
    const size_t end = part.find_last_not_of("0123456789");
    if (end == part.npos || end + 1 == part.size()) break;
    const auto number = index_of(part.substr(end + 1));
    if (!number || (part[end] != '_' && !found.empty())) break;
    found.insert(found.begin(), *number);
    part = part.substr(0, part[end] == '_' ? end : end + 1);
  }
  // The first of a kind has no number.
  if (found.empty()) found.push_back(0);
  numbers.insert(numbers.end(), found.begin(), found.end());
  return part;
}

// The weights of a layer or cell, or tensors that may be them.
struct Group {
  std::string_view path;
  std::vector<size_t> members;
  Parts base;                   // its path without numbers
  std::vector<size_t> numbers;  // numbers in its path
  std::string kinds;            // the ends of names and the shapes
  bool is_cell = false;
};

class Matcher {
 public:
  Matcher(std::span<const NamedWeight> weights, std::span<const NamedShape> tensors, bool strict)
      : weights_(weights),
        tensors_(tensors),
        strict_(strict),
        found_(weights.size()),
        is_used_(tensors.size()),
        parts_(tensors.size()) {
    for (size_t i = 0; i < tensors.size(); ++i) parts_[i] = name_parts(tensors[i].name);
  }

  Status same_names();
  void indices();
  void further_parts(std::vector<std::string>& unclear);
  void cells(std::vector<std::string>& unclear) { pair_groups(true, unclear); }
  void numbers(std::vector<std::string>& unclear) { pair_groups(false, unclear); }

  std::vector<std::optional<size_t>> result() { return std::move(found_); }

 private:
  void assign(size_t weight, size_t tensor) {
    found_[weight] = tensor;
    is_used_[tensor] = true;
  }
  std::vector<size_t> candidates(size_t weight) const;
  std::vector<Group> groups(bool of_weights) const;
  bool fit(const Group& ours, const Group& theirs, bool numbered) const;
  void pair_groups(bool numbered, std::vector<std::string>& unclear);
  bool has_matched_kind(const Group& ours) const;
  void pair(const Group& ours, const Group& theirs);
  const graph::Shape& shape(bool of_weights, size_t at) const {
    return of_weights ? *weights_[at].shape : tensors_[at].shape;
  }
  std::string_view name(bool of_weights, size_t at) const {
    return of_weights ? weights_[at].name : plain_name(tensors_[at].name);
  }

  std::span<const NamedWeight> weights_;
  std::span<const NamedShape> tensors_;
  bool strict_;
  std::vector<std::optional<size_t>> found_;
  std::vector<bool> is_used_;
  std::vector<Parts> parts_;
};

Status Matcher::same_names() {
  std::map<std::string_view, std::vector<size_t>> by_name;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    by_name[plain_name(tensors_[i].name)].push_back(i);
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    auto at = by_name.find(weights_[i].name);
    if (at == by_name.end()) at = by_name.find(weights_[i].saved);
    if (at == by_name.end()) continue;
    if (at->second.size() > 1) return fail(concat("two tensors are called ", at->first));
    assign(i, at->second[0]);
  }
  return {};
}

// Keras 3 numbers the variables of a layer.
void Matcher::indices() {
  std::map<std::string_view, std::vector<size_t>> by_path;
  for (size_t i = 0; i < weights_.size(); ++i) by_path[path_of(weights_[i].name)].push_back(i);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto index = index_of(last_part(tensors_[i].name));
    const auto at = by_path.find(path_of(tensors_[i].name));
    if (is_used_[i] || !index || at == by_path.end() || *index >= at->second.size()) continue;
    if (!found_[at->second[*index]]) assign(at->second[*index], i);
  }
}

// Those of another shape count only where there is no other, for the shape error.
std::vector<size_t> Matcher::candidates(size_t weight) const {
  for (const std::string_view name : {weights_[weight].name, weights_[weight].saved}) {
    const Parts ours = name_parts(name);
    std::vector<size_t> all, fitting;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (is_used_[i] || !is_within(ours, parts_[i])) continue;
      all.push_back(i);
      if (tensors_[i].shape == *weights_[weight].shape) fitting.push_back(i);
    }
    if (!fitting.empty()) return fitting;
    if (strict_ && !all.empty()) return all;
  }
  return {};
}

// Weights with a single candidate are assigned until none is left: then no other assignment is
// possible.
void Matcher::further_parts(std::vector<std::string>& unclear) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    unclear.clear();
    std::map<size_t, std::vector<size_t>> claims;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (found_[i]) continue;
      const auto all = candidates(i);
      if (all.size() == 1) claims[all[0]].push_back(i);
      if (all.size() < 2) continue;
      unclear.push_back(concat(weights_[i].name, " (", tensors_[all[0]].name, " or ",
                               tensors_[all[1]].name, ')'));
    }
    for (const auto& [tensor, claimants] : claims) {
      if (claimants.size() > 1) continue;
      assign(claimants[0], tensor);
      is_changed = true;
    }
  }
}

// What has not been matched, by its path.
std::vector<Group> Matcher::groups(bool of_weights) const {
  std::vector<Group> all;
  const size_t count = of_weights ? weights_.size() : tensors_.size();
  for (size_t i = 0; i < count; ++i) {
    if (of_weights ? found_[i].has_value() : is_used_[i]) continue;
    const std::string_view path = path_of(name(of_weights, i));
    auto at = std::ranges::find(all, path, &Group::path);
    if (at == all.end()) {
      Group& made = all.emplace_back(Group{path, {}, name_parts(path), {}, {}, false});
      made.is_cell = of_weights && made.base.back().starts_with(kCell);
      for (std::string_view& part : made.base) part = without_numbers(part, made.numbers);
      at = all.end() - 1;
    }
    at->members.push_back(i);
  }
  for (Group& group : all) {
    std::vector<std::string> kinds;
    for (const size_t at : group.members) {
      kinds.push_back(
          concat(last_part(name(of_weights, at)), bracketed(shape(of_weights, at)), ' '));
    }
    std::ranges::sort(kinds);
    for (const std::string& each : kinds) group.kinds += each;
  }
  return all;
}

// Whether they may be the same layer: the parts of ours are among those of theirs, but for numbers
// unless `numbered`. The name of a cell in a stack is unknown.
bool Matcher::fit(const Group& ours, const Group& theirs, bool numbered) const {
  if (ours.kinds != theirs.kinds || (numbered && !ours.is_cell)) return false;
  Parts name = name_parts(ours.path), full = name_parts(theirs.path);
  Parts saved = name_parts(path_of(weights_[ours.members[0]].saved));
  for (Parts* parts : {&name, &saved, &full}) {
    std::vector<size_t> ignored;
    for (std::string_view& part : *parts) {
      if (!numbered) part = without_numbers(part, ignored);
    }
    if (!ours.is_cell) parts->emplace_back();
  }
  if (ours.is_cell) name.back() = saved.back() = full.back();
  return is_within(name, full) || is_within(saved, full);
}

// Another layer of the same kind with its number in the file means that numbers count.
bool Matcher::has_matched_kind(const Group& ours) const {
  for (size_t i = 0; i < weights_.size(); ++i) {
    std::vector<size_t> ignored;
    Parts base = name_parts(path_of(weights_[i].name));
    for (std::string_view& part : base) part = without_numbers(part, ignored);
    if (!found_[i] || base != ours.base) continue;
    const auto same = [&](size_t at) {
      return *weights_[at].shape == *weights_[i].shape &&
             last_part(weights_[at].name) == last_part(weights_[i].name);
    };
    if (std::ranges::any_of(ours.members, same)) return true;
  }
  return false;
}

void Matcher::pair(const Group& ours, const Group& theirs) {
  for (const size_t weight : ours.members) {
    for (const size_t tensor : theirs.members) {
      if (last_part(name(true, weight)) == last_part(name(false, tensor))) assign(weight, tensor);
    }
  }
}

// With `numbered`, cells of the layers that have the same number; else all.
void Matcher::pair_groups(bool numbered, std::vector<std::string>& unclear) {
  const std::vector<Group> all = groups(true), others = groups(false);
  std::vector<bool> is_done(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_done[i]) continue;
    std::vector<const Group*> ours, theirs;
    for (const Group& each : others) {
      if (fit(all[i], each, numbered)) theirs.push_back(&each);
    }
    if (theirs.empty()) continue;
    for (size_t k = i; k < all.size(); ++k) {
      const auto fits = [&](const Group* each) { return fit(all[k], *each, numbered); };
      if (is_done[k] || std::ranges::none_of(theirs, fits)) continue;
      ours.push_back(&all[k]);
      is_done[k] = true;
    }
    const auto same_base = [](const std::vector<const Group*>& list) {
      return std::ranges::all_of(list, [&](auto* each) {
        return each->base == list[0]->base && each->numbers.size() == list[0]->numbers.size();
      });
    };
    const bool is_clear = ours.size() == theirs.size() && (numbered || !has_matched_kind(all[i])) &&
                          (ours.size() == 1 || (same_base(ours) && same_base(theirs)));
    if (!is_clear) {
      unclear.push_back(concat(ours[0]->path, " (", theirs[0]->path,
                               theirs.size() > 1 ? concat(" or ", theirs[1]->path) : "", ')'));
      continue;
    }
    for (auto* list : {&ours, &theirs}) {
      std::ranges::sort(*list, [](const Group* a, const Group* b) {
        return std::tie(a->numbers, a->path) < std::tie(b->numbers, b->path);
      });
    }
    for (size_t k = 0; k < ours.size(); ++k) pair(*ours[k], *theirs[k]);
  }
}

}  // namespace

std::string_view plain_name(std::string_view name) {
  return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
}

std::vector<std::string_view> name_parts(std::string_view name) {
  name = plain_name(name);
  Parts parts;
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find('/', start), name.size());
    parts.push_back(name.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::optional<size_t> weight_at(std::span<const NamedShape> weights, std::string_view name) {
  auto index = index_of(last_part(name));
  for (size_t i = 0; index && i < weights.size(); ++i) {
    if (path_of(weights[i].name) != path_of(name)) continue;
    if (*index == 0) return i;
    --*index;
  }
  return std::nullopt;
}

Result<std::vector<std::optional<size_t>>> match_names(std::span<const NamedWeight> weights,
                                                       std::span<const NamedShape> tensors,
                                                       bool strict) {
  Matcher matcher(weights, tensors, strict);
  LATHE_TRY(matcher.same_names());
  matcher.indices();
  std::vector<std::string> unclear;
  matcher.further_parts(unclear);
  if (unclear.empty()) matcher.cells(unclear);
  if (strict && unclear.empty()) matcher.numbers(unclear);
  if (!strict || unclear.empty()) return matcher.result();
  std::string listed;
  for (size_t i = 0; i < std::min(unclear.size(), size_t{3}); ++i) {
    append(listed, i == 0 ? "" : ", ", unclear[i]);
  }
  return fail(concat("names leave open which tensor is which weight: ", listed));
}

}  // namespace lathe::models
