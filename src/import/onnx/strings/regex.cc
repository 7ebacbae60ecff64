// A nondeterministic automaton (Thompson), compiled back to front; matching tracks all states at
// once.
#include "lathe/import/onnx/strings/regex.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "lathe/base/depth.h"
#include "lathe/base/sort.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/strings/utf8.h"

namespace lathe::onnx {

namespace {

constexpr size_t kMaxSteps = 100000, kMaxCharacters = size_t{1} << 20;
constexpr int kMaxRepetitions = 1000;
// Characters of classes whose other case is looked up.
constexpr int64_t kMaxFolded = int64_t{1} << 22;
constexpr char32_t kLast = 0x10FFFF;

// What a pattern consists of.
struct Part {
  enum class Kind : uint8_t { Set, Test, All, Any, Repeat };
  Kind kind = Kind::All;
  size_t set = 0;
  Regex::Test test = Regex::Test::TextEnd;
  std::vector<Part> parts = {};  // All: one after the other; Any: one of them; Repeat: the first
  int min = 0, max = 0;          // -1: any number
  int depth = 0;                 // of groups, and of repetitions of repetitions
};

struct Flags {
  bool ignores_case = false, has_lines = false, dot_is_all = false;
};

bool is_word(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9') ||
         c == U'_';
}

using Ranges = std::vector<std::pair<char32_t, char32_t>>;

// The class of \d, \w, \s and such; capital ones are all others.
std::optional<Regex::Set> named_set(char32_t letter) {
  switch (letter) {
    case U'd':
    case U'D':
      return Regex::Set{{{U'0', U'9'}}, letter == U'D'};
    case U'w':
    case U'W':
      return Regex::Set{{{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}}, letter == U'W'};
    case U's':
    case U'S':
      return Regex::Set{{{U'\t', U'\n'}, {U'\f', U'\r'}, {U' ', U' '}}, letter == U'S'};
    default:
      return std::nullopt;
  }
}

std::optional<Ranges> posix_set(std::string_view name) {
  const std::pair<std::string_view, Ranges> kNames[] = {
      {"alnum", {{U'0', U'9'}, {U'A', U'Z'}, {U'a', U'z'}}},
      {"alpha", {{U'A', U'Z'}, {U'a', U'z'}}},
      {"ascii", {{0, 0x7F}}},
      {"blank", {{U'\t', U'\t'}, {U' ', U' '}}},
      {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
      {"digit", {{U'0', U'9'}}},
      {"graph", {{0x21, 0x7E}}},
      {"lower", {{U'a', U'z'}}},
      {"print", {{0x20, 0x7E}}},
      {"punct", {{0x21, 0x2F}, {0x3A, 0x40}, {0x5B, 0x60}, {0x7B, 0x7E}}},
      {"space", {{U'\t', U'\r'}, {U' ', U' '}}},
      {"upper", {{U'A', U'Z'}}},
      {"word", {{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}}},
      {"xdigit", {{U'0', U'9'}, {U'A', U'F'}, {U'a', U'f'}}},
  };
  for (const auto& [each, ranges] : kNames) {
    if (each == name) return ranges;
  }
  return std::nullopt;
}

// Sorted and disjoint.
Ranges merged(Ranges ranges) {
  sort_ascending(ranges);
  size_t count = 0;
  for (const auto& range : ranges) {
    if (count > 0 && range.first <= ranges[count - 1].second + 1) {
      ranges[count - 1].second = std::max(ranges[count - 1].second, range.second);
    } else {
      ranges[count++] = range;
    }
  }
  ranges.resize(count);
  return ranges;
}

void add_inverse(Ranges& to, Ranges ranges) {
  sort_ascending(ranges);
  char32_t next = 0;
  for (const auto& [first, last] : ranges) {
    if (first > next) to.emplace_back(next, first - 1);
    next = std::max<char32_t>(next, last + 1);
  }
  if (next <= kLast) to.emplace_back(next, kLast);
}

}  // namespace

bool Regex::Set::contains(char32_t point) const {
  const auto after = std::ranges::upper_bound(ranges, point, {}, &Ranges::value_type::first);
  const bool is_in = after != ranges.begin() && point <= std::prev(after)->second;
  return is_in != is_negated;
}

// Reads a pattern into parts, and writes these as steps.
class RegexParser {
 public:
  explicit RegexParser(std::string_view pattern) : pattern_(code_points(pattern)) {}

  Result<Regex> run() {
    if (pattern_.size() > kMaxCharacters) return wrong("it is too large");
    LATHE_ASSIGN_OR_RETURN(const Part all, alternatives(Flags{}));
    if (folded_ > kMaxFolded) return wrong("it has too many classes whose case is ignored");
    if (at_ < pattern_.size()) return wrong("an unmatched )");
    regex_.steps_.push_back({});
    regex_.start_ = compiled(all, 0);
    if (regex_.steps_.size() >= kMaxSteps) return wrong("it is too large");
    return std::move(regex_);
  }

 private:
  std::unexpected<Error> wrong(std::string_view what) const {
    return fail(concat("the pattern is no regular expression at character ", at_, ": ", what));
  }
  std::unexpected<Error> too_deep() const {
    return wrong(concat("groups and repetitions nest more than ", kMaxDepth, " deep"));
  }
  bool at_end() const { return at_ >= pattern_.size(); }
  bool accept(char32_t c) {
    if (at_end() || pattern_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<Part> alternatives(Flags flags) {
    if (++depth_ > kMaxDepth) return too_deep();
    Part any{.kind = Part::Kind::Any};
    do {
      Part all;
      while (!at_end() && pattern_[at_] != U'|' && pattern_[at_] != U')') {
        LATHE_ASSIGN_OR_RETURN(Part one, repeated(flags));
        any.depth = std::max(any.depth, one.depth + 1);
        if (any.depth > kMaxDepth) return too_deep();
        all.parts.push_back(std::move(one));
      }
      any.parts.push_back(std::move(all));
    } while (accept(U'|'));
    --depth_;
    return any;
  }

  Result<Part> repeated(Flags& flags) {
    LATHE_ASSIGN_OR_RETURN(Part part, atom(flags));
    while (!at_end()) {
      int min = 0, max = -1;
      const size_t before = at_;
      if (accept(U'+')) {
        min = 1;
      } else if (accept(U'?')) {
        max = 1;
      } else if (!accept(U'*') && !count(min, max)) {
        at_ = before;
        break;
      }
      if (min > kMaxRepetitions || max > kMaxRepetitions || (max >= 0 && min > max)) {
        return wrong("a count that is too large, or two in the wrong order");
      }
      accept(U'?');  // lazy: of no meaning where all of the text, or the longest part, must match
      const bool is_chained = part.kind == Part::Kind::Repeat;
      if (is_chained && is_simple(part.min, part.max) && is_simple(min, max)) {
        part.max = part.max == 1 && max == 1 ? 1 : -1;
        part.min = std::min(part.min, min);
        continue;
      }
      Part repeat{.kind = Part::Kind::Repeat,
                  .min = min,
                  .max = max,
                  .depth = part.depth + (is_chained ? 1 : 0)};
      if (repeat.depth > kMaxDepth) return too_deep();
      repeat.parts.push_back(std::move(part));
      part = std::move(repeat);
    }
    return part;
  }

  // *, + or ?: two in sequence are equivalent to one of them.
  static bool is_simple(int min, int max) {
    return (max < 0 && min <= 1) || (min == 0 && max == 1);
  }

  std::optional<int> number() {
    std::optional<int> value;
    while (!at_end() && pattern_[at_] >= U'0' && pattern_[at_] <= U'9') {
      value = std::min(value.value_or(0) * 10 + static_cast<int>(pattern_[at_++] - U'0'), 100000);
    }
    return value;
  }

  // {n}, {n,} or {n,m}; anything else is literal.
  bool count(int& min, int& max) {
    if (!accept(U'{')) return false;
    const auto first = number();
    if (!first) return false;
    min = max = *first;
    if (accept(U',')) max = number().value_or(-1);
    return accept(U'}');
  }

  Result<Part> atom(Flags& flags) {
    const char32_t c = pattern_[at_++];
    switch (c) {
      case U'(':
        return group(flags);
      case U'[':
        return set(flags);
      case U'.':
        return of_set({flags.dot_is_all ? Ranges{} : Ranges{{U'\n', U'\n'}}, true});
      case U'^':
        return of_test(flags.has_lines ? Regex::Test::LineStart : Regex::Test::TextStart);
      case U'$':
        return of_test(flags.has_lines ? Regex::Test::LineEnd : Regex::Test::TextEnd);
      case U'*':
      case U'+':
      case U'?':
        return wrong("nothing to repeat");
      case U'\\':
        return escape(flags);
      default:
        return of_set(one(c, flags));
    }
  }

  Result<Part> group(Flags& flags) {
    Flags inner = flags;
    if (accept(U'?')) {
      if (accept(U'P') || (at_ + 1 < pattern_.size() && pattern_[at_] == U'<')) {
        while (!at_end() && pattern_[at_] != U'>') ++at_;
        if (!accept(U'>')) return wrong("a name without an end");
      } else {
        bool is_on = true;
        while (!at_end() && pattern_[at_] != U':' && pattern_[at_] != U')') {
          const char32_t flag = pattern_[at_++];
          if (flag == U'-')
            is_on = false;
          else if (flag == U'i')
            inner.ignores_case = is_on;
          else if (flag == U'm')
            inner.has_lines = is_on;
          else if (flag == U's')
            inner.dot_is_all = is_on;
          else if (flag != U'U')
            return wrong("a group of an unknown kind");
        }
        if (accept(U')')) {
          flags = inner;
          return Part{};
        }
        if (!accept(U':')) return wrong("a group without an end");
      }
    }
    LATHE_ASSIGN_OR_RETURN(Part part, alternatives(inner));
    if (!accept(U')')) return wrong("a group without an end");
    return part;
  }

  Result<Part> escape(const Flags& flags) {
    if (at_end()) return wrong("nothing after a backslash");
    const char32_t c = pattern_[at_];
    if (auto named = named_set(c)) {
      ++at_;
      return of_set(std::move(*named));
    }
    const std::pair<char32_t, Regex::Test> kTests[] = {{U'b', Regex::Test::Boundary},
                                                       {U'B', Regex::Test::NoBoundary},
                                                       {U'A', Regex::Test::TextStart},
                                                       {U'z', Regex::Test::TextEnd}};
    for (const auto& [letter, test] : kTests) {
      if (c != letter) continue;
      ++at_;
      return of_test(test);
    }
    LATHE_ASSIGN_OR_RETURN(const char32_t point, escaped());
    return of_set(one(point, flags));
  }

  // The character of an escape, after the backslash.
  Result<char32_t> escaped() {
    const char32_t c = pattern_[at_++];
    const std::pair<char32_t, char32_t> kControls[] = {{U't', U'\t'}, {U'n', U'\n'}, {U'r', U'\r'},
                                                       {U'f', U'\f'}, {U'v', U'\v'}, {U'a', U'\a'}};
    for (const auto& [letter, meant] : kControls) {
      if (c == letter) return meant;
    }
    if (c == U'x') return hexadecimal();
    if (c < 0x80 && is_word(c)) return wrong("an unknown escape");
    return c;
  }

  Result<char32_t> hexadecimal() {
    const bool is_long = accept(U'{');
    char32_t value = 0;
    for (int digits = 0; is_long || digits < 2; ++digits) {
      if (is_long && digits > 0 && accept(U'}')) return value;
      const char32_t c = at_end() ? U'-' : pattern_[at_++];
      const bool is_digit = c >= U'0' && c <= U'9',
                 is_letter = (c | 32) >= U'a' && (c | 32) <= U'f';
      if (!is_digit && !is_letter) return wrong("a character that is no hexadecimal digit");
      value = value * 16 + (is_digit ? c - U'0' : (c | 32) - U'a' + 10);
      if (value > kLast) return wrong("a character beyond Unicode");
    }
    return value;
  }

  Result<Part> set(const Flags& flags) {
    Regex::Set result;
    result.is_negated = accept(U'^');
    for (bool is_first = true; is_first || !accept(U']'); is_first = false) {
      if (at_end()) return wrong("a class without an end");
      if (const auto named = posix()) {
        result.ranges.insert(result.ranges.end(), named->begin(), named->end());
        continue;
      }
      char32_t first = pattern_[at_++];
      if (first == U'\\') {
        if (at_end()) return wrong("a class without an end");
        if (const auto named = named_set(pattern_[at_])) {
          ++at_;
          if (named->is_negated)
            add_inverse(result.ranges, named->ranges);
          else
            result.ranges.insert(result.ranges.end(), named->ranges.begin(), named->ranges.end());
          continue;
        }
        LATHE_ASSIGN_OR_RETURN(first, escaped());
      }
      char32_t last = first;
      if (at_ + 1 < pattern_.size() && pattern_[at_] == U'-' && pattern_[at_ + 1] != U']') {
        ++at_;
        last = pattern_[at_++];
        if (last == U'\\') {
          if (at_end()) return wrong("a class without an end");
          LATHE_ASSIGN_OR_RETURN(last, escaped());
        }
        if (last < first) return wrong("a range from a later to an earlier character");
      }
      result.ranges.emplace_back(first, last);
    }
    result.ranges = merged(std::move(result.ranges));
    if (flags.ignores_case) {
      add_other_case(result.ranges);
      result.ranges = merged(std::move(result.ranges));
    }
    return of_set(std::move(result));
  }

  // [:name:] or [:^name:] inside a class.
  std::optional<Ranges> posix() {
    if (at_ + 1 >= pattern_.size() || pattern_[at_] != U'[' || pattern_[at_ + 1] != U':') return {};
    size_t end = at_ + 2;
    std::string name;
    while (end < pattern_.size() && pattern_[end] != U':') append_utf8(name, pattern_[end++]);
    const bool is_negated = name.starts_with('^');
    const auto found = posix_set(std::string_view(name).substr(is_negated ? 1 : 0));
    if (!found || end + 1 >= pattern_.size() || pattern_[end + 1] != U']') return std::nullopt;
    at_ = end + 2;
    if (!is_negated) return found;
    Ranges others;
    add_inverse(others, *found);
    return others;
  }

  void add_other_case(Ranges& ranges) {
    const Ranges set = ranges;
    for (const auto& [first, last] : set) {
      folded_ += first > 0x1EFF ? 1 : std::min<char32_t>(last, 0x1EFF) - first + 1;
      if (folded_ > kMaxFolded) return;
      for (char32_t c = first; c <= std::min<char32_t>(last, 0x1EFF); ++c) {
        const char32_t lower = lower_case(c), upper = upper_case(c);
        if (lower != c) ranges.emplace_back(lower, lower);
        if (upper != c) ranges.emplace_back(upper, upper);
      }
    }
  }

  Regex::Set one(char32_t c, const Flags& flags) {
    Regex::Set result{{{c, c}}};
    if (flags.ignores_case) add_other_case(result.ranges);
    result.ranges = merged(std::move(result.ranges));
    return result;
  }

  Part of_set(Regex::Set set) {
    regex_.sets_.push_back(std::move(set));
    return Part{.kind = Part::Kind::Set, .set = regex_.sets_.size() - 1};
  }
  static Part of_test(Regex::Test test) { return Part{.kind = Part::Kind::Test, .test = test}; }

  size_t add(Regex::Step step) {
    if (regex_.steps_.size() >= kMaxSteps) return 0;
    regex_.steps_.push_back(step);
    return regex_.steps_.size() - 1;
  }

  // Compiles a part that continues at `next`; returns its first step.
  size_t compiled(const Part& part, size_t next) {
    using Kind = Regex::Step::Kind;
    if (regex_.steps_.size() >= kMaxSteps) return 0;
    switch (part.kind) {
      case Part::Kind::Set:
        return add({.kind = Kind::Set, .next = next, .set = part.set});
      case Part::Kind::Test:
        return add({.kind = Kind::Test, .next = next, .test = part.test});
      case Part::Kind::All:
        for (size_t k = part.parts.size(); k-- > 0;) next = compiled(part.parts[k], next);
        return next;
      case Part::Kind::Any: {
        size_t start = compiled(part.parts.back(), next);
        for (size_t k = part.parts.size() - 1; k-- > 0;) {
          const size_t other = compiled(part.parts[k], next);
          start = add({.kind = Kind::Split, .next = other, .other = start});
        }
        return start;
      }
      case Part::Kind::Repeat: {
        if (part.max < 0) {
          const size_t loop = add({.kind = Kind::Split, .next = next, .other = next});
          const size_t inner = compiled(part.parts[0], loop);
          regex_.steps_[loop].next = inner;
          next = loop;
        }
        for (int k = part.min; k < part.max; ++k) {
          const size_t after = next, inner = compiled(part.parts[0], after);
          next = add({.kind = Kind::Split, .next = inner, .other = after});
        }
        for (int k = 0; k < part.min; ++k) {
          const size_t inner = compiled(part.parts[0], next);
          if (inner == next) break;  // it reads nothing
          next = inner;
        }
        return next;
      }
    }
    return next;
  }

  std::vector<char32_t> pattern_;
  size_t at_ = 0;
  int depth_ = 0;
  int64_t folded_ = 0;
  Regex regex_;
};

Result<Regex> Regex::parse(std::string_view pattern) { return RegexParser(pattern).run(); }

bool Regex::matches(Test test, const std::vector<char32_t>& text, size_t at) const {
  const bool is_start = at == 0, is_end = at == text.size();
  const bool before = !is_start && is_word(text[at - 1]), after = !is_end && is_word(text[at]);
  switch (test) {
    case Test::TextStart:
      return is_start;
    case Test::TextEnd:
      return is_end;
    case Test::LineStart:
      return is_start || text[at - 1] == U'\n';
    case Test::LineEnd:
      return is_end || text[at] == U'\n';
    case Test::Boundary:
      return before != after;
    case Test::NoBoundary:
      return before == after;
  }
  return false;
}

// Adds the steps that read a character or match, from this one on without reading. A step that was
// visited at this position is not followed twice.
void Regex::follow(size_t step, const std::vector<char32_t>& text, size_t at, Seen& seen,
                   std::vector<size_t>& steps) const {
  std::vector<size_t>& open = seen.open;
  open = {step};
  while (!open.empty()) {
    const size_t each = open.back();
    open.pop_back();
    --seen.left;
    if (seen.turns[each] == seen.turn) continue;
    seen.turns[each] = seen.turn;
    const Step& now = steps_[each];
    if (now.kind == Step::Kind::Split) {
      open.push_back(now.next);
      open.push_back(now.other);
    } else if (now.kind == Step::Kind::Test) {
      if (matches(now.test, text, at)) open.push_back(now.next);
    } else {
      steps.push_back(each);
    }
  }
}

Regex::Seen::Seen(size_t steps, int64_t& budget) : turns(steps), left(budget) {
  left -= static_cast<int64_t>(steps / 8);
}

Result<bool> Regex::matches(std::string_view text, int64_t& budget) const {
  const std::vector<char32_t> points = code_points(text);
  std::vector<size_t> now, next;
  Seen seen(steps_.size(), budget);
  follow(start_, points, 0, seen, now);
  for (size_t at = 0; at < points.size() && !now.empty(); ++at) {
    ++seen.turn;
    next.clear();
    for (const size_t each : now) {
      const Step& step = steps_[each];
      if (step.kind == Step::Kind::Set && sets_[step.set].contains(points[at])) {
        follow(step.next, points, at + 1, seen, next);
      }
    }
    seen.left -= static_cast<int64_t>(now.size());
    if (seen.left < 0) return too_slow();
    now.swap(next);
  }
  return std::ranges::any_of(now,
                             [&](size_t each) { return steps_[each].kind == Step::Kind::Match; });
}

Result<std::optional<Regex::Match>> Regex::find(const std::vector<char32_t>& points, size_t at,
                                                int64_t& budget) const {
  // Steps with where their match began, earlier ones first.
  std::vector<std::pair<size_t, size_t>> now, next;
  std::optional<Match> found;
  Seen seen(steps_.size(), budget);
  std::vector<size_t> steps;
  const auto add = [&](auto& list, size_t step, size_t begin, size_t position) {
    steps.clear();
    follow(step, points, position, seen, steps);
    for (const size_t each : steps) list.emplace_back(each, begin);
  };
  for (; at <= points.size() && !(found && now.empty()); ++at) {
    if (!found) add(now, start_, at, at);
    ++seen.turn;
    next.clear();
    for (const auto& [each, begin] : now) {
      if (found && begin > found->first) break;
      const Step& step = steps_[each];
      if (step.kind == Step::Kind::Match) {
        found = {begin, at};
      } else if (at < points.size() && sets_[step.set].contains(points[at])) {
        add(next, step.next, begin, at + 1);
      }
    }
    seen.left -= static_cast<int64_t>(now.size());
    if (seen.left < 0) return too_slow();
    now.swap(next);
  }
  return found;
}

std::unexpected<Error> Regex::too_slow() {
  return fail("matching its pattern needs too many steps");
}

}  // namespace lathe::onnx
