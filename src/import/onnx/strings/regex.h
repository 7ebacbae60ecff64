// Regular expressions of RE2's syntax (https://github.com/google/re2/wiki/Syntax), matched in time
// that is linear in the text. Without classes by Unicode properties (\pL).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/result.h"

namespace lathe::onnx {

class Regex {
 public:
  // Errors: an invalid expression, with the offset; one that is too large.
  static Result<Regex> parse(std::string_view pattern);

  // Where a match begins and ends.
  using Match = std::pair<size_t, size_t>;

  // Whether the entire string matches. `budget`: steps of the automaton that this and later
  // calls may use; they are subtracted. Errors: it is exceeded.
  Result<bool> matches(std::string_view text, int64_t& budget) const;
  // The first match in the code points from `at` on, the longest of those that begin there.
  Result<std::optional<Match>> find(const std::vector<char32_t>& points, size_t at,
                                    int64_t& budget) const;

  enum class Test : uint8_t { LineStart, LineEnd, TextStart, TextEnd, Boundary, NoBoundary };
  struct Set {
    std::vector<std::pair<char32_t, char32_t>> ranges;  // sorted and disjoint
    bool is_negated = false;
    bool contains(char32_t point) const;
  };
  struct Step {
    enum class Kind : uint8_t { Set, Split, Test, Match };
    Kind kind = Kind::Match;
    size_t next = 0, other = 0;  // Split goes on at both
    size_t set = 0;
    Test test = Test::TextEnd;
  };

 private:
  friend class RegexParser;
  bool matches(Test test, const std::vector<char32_t>& text, size_t at) const;
  // At which turn each step was last seen.
  struct Seen {
    Seen(size_t steps, int64_t& budget);
    std::vector<size_t> turns;
    size_t turn = 1;
    int64_t& left;
    std::vector<size_t> open = {};  // of `follow`
  };
  void follow(size_t step, const std::vector<char32_t>& text, size_t at, Seen& seen,
              std::vector<size_t>& steps) const;
  static std::unexpected<Error> too_slow();

  std::vector<Step> steps_;
  std::vector<Set> sets_;
  size_t start_ = 0;
};

}  // namespace lathe::onnx
