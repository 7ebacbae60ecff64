// Regular expressions of RE2's syntax, and letters of Unicode.
#include "lathe/import/onnx/strings/regex.h"

#include <gtest/gtest.h>

#include "lathe/import/onnx/strings/utf8.h"

namespace lathe::onnx {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::parse(pattern);
  EXPECT_TRUE(regex) << pattern << ": " << regex.error().message;
  int64_t budget = 1 << 20;
  return regex && regex->matches(text, budget).value_or(false);
}

TEST(Regex, MatchesTheEntireString) {
  EXPECT_TRUE(matches("ab|cd", "cd"));
  EXPECT_FALSE(matches("ab|cd", "abcd"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("a*b+c?", "aabb"));
  EXPECT_FALSE(matches("a*b+c?", "aa"));
  EXPECT_TRUE(matches("(?:ab){2,3}", "ababab"));
  EXPECT_FALSE(matches("(?:ab){2,3}", "ab"));
  EXPECT_TRUE(matches("x{2,}", "xxxx"));
  EXPECT_TRUE(matches("x{0,2}?", "xx"));
  EXPECT_TRUE(matches("a{,2}", "a{,2}"));  // no count
  EXPECT_TRUE(matches("(a*)*", "aaaa"));
  EXPECT_FALSE(matches("(a*)*b", std::string(5000, 'a')));
}

TEST(Regex, KnowsClasses) {
  EXPECT_TRUE(matches("[a-c\\d_-]+", "b7_-"));
  EXPECT_FALSE(matches("[^a-c]", "b"));
  EXPECT_TRUE(matches("[]x]+", "]x"));
  EXPECT_TRUE(matches("[[:alpha:]][[:^digit:]]", "a "));
  EXPECT_TRUE(matches("[\\W]\\s\\D\\S", "- x-"));
  EXPECT_TRUE(matches("\\x41\\x{1F600}\\.", "A\xF0\x9F\x98\x80."));
  EXPECT_TRUE(matches("..", "äö"));
  EXPECT_FALSE(matches(".", "\n"));
  EXPECT_TRUE(matches("(?s).", "\n"));
}

TEST(Regex, SupportsAnchorsAndFlags) {
  EXPECT_TRUE(matches("^www\\.\\bcom\\b$", "www.com"));
  EXPECT_FALSE(matches("a\\bb", "ab"));
  EXPECT_TRUE(matches("a\\Bb", "ab"));
  EXPECT_TRUE(matches("(?m)a$\n^b", "a\nb"));
  EXPECT_FALSE(matches("a$\n^b", "a\nb"));
  EXPECT_TRUE(matches("(?i)straÄe", "STRAäE"));
  EXPECT_TRUE(matches("(?P<name>a)(?i:b)c", "aBc"));
  EXPECT_FALSE(matches("(?i:b)c", "BC"));
}

TEST(Regex, RejectsInvalidPatterns) {
  for (const char* pattern : {"(", ")", "[a", "*", "a**{3,2}", "x{2000}", "\\", "[b-a]", "\\pL",
                              "(?<n", "(?Z)", "\\xZ", "((a{900}){900}){900}"}) {
    const auto regex = Regex::parse(pattern);
    ASSERT_FALSE(regex) << pattern;
    EXPECT_TRUE(regex.error().message.starts_with("the pattern is no regular expression at "));
  }
  EXPECT_FALSE(Regex::parse(std::string(1000, '(')));
}

std::string changed(std::string_view text, char32_t (*each)(char32_t)) {
  std::string result;
  for (const char32_t point : code_points(text)) append_utf8(result, each(point));
  return result;
}

TEST(Utf8, ChangesTheCaseOfLetters) {
  EXPECT_EQ(changed("ÀÉžŸ Ωσς Жё ẞ3", lower_case), "àéžÿ ωσς жё ẞ3");
  EXPECT_EQ(changed("àéžÿ ωσς жё", upper_case), "ÀÉŽŸ ΩΣΣ ЖЁ");
}

TEST(Utf8, DecodesInvalidBytesOneByOne) {
  EXPECT_EQ(code_points("a\xFF\xC3"), (std::vector<char32_t>{U'a', 0xFF, 0xC3}));
  EXPECT_EQ(code_points("\xE2\x82\xAC"), (std::vector<char32_t>{0x20AC}));
}

}  // namespace
}  // namespace lathe::onnx
