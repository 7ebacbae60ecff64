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
  // Errors: what is no expression, with the place; one that is too large.
  static Result<Regex> parse(std::string_view pattern);

  // Whether the whole text is of this form.
  bool matches(std::string_view text) const;
  // The first part of the code points from `at` on that is, the longest of those that begin there:
  // its begin and end.
  std::optional<std::pair<size_t, size_t>> find(const std::vector<char32_t>& points,
                                                size_t at) const;

  enum class Test : uint8_t { LineStart, LineEnd, TextStart, TextEnd, Boundary, NoBoundary };
  struct Set {
    std::vector<std::pair<char32_t, char32_t>> ranges;
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
  bool holds(Test test, const std::vector<char32_t>& text, size_t at) const;
  void follow(size_t step, const std::vector<char32_t>& text, size_t at, std::vector<size_t>& steps,
              std::vector<bool>& seen) const;

  std::vector<Step> steps_;
  std::vector<Set> sets_;
  size_t start_ = 0;
};

}  // namespace lathe::onnx
