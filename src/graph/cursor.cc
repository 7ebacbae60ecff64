// A scanner over one line of text.
#include "lathe/graph/cursor.h"

#include "lathe/base/text.h"

namespace lathe::graph {

namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '+' || c == '-';
}

}  // namespace

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

void Cursor::skip_spaces() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

bool Cursor::at_end() {
  skip_spaces();
  return at_ == text_.size() || text_.substr(at_).starts_with("//");
}

bool Cursor::consume(std::string_view symbol) {
  skip_spaces();
  if (!text_.substr(at_).starts_with(symbol)) return false;
  at_ += symbol.size();
  return true;
}

bool Cursor::consume_word(std::string_view expected) {
  const size_t start = at_;
  const auto found = word();
  if (found && *found == expected) return true;
  at_ = start;
  return false;
}

Error Cursor::unexpected(std::string_view expected) {
  skip_spaces();
  const std::string_view rest = text_.substr(at_).substr(0, 20);
  return {concat("expected ", expected, ", found ",
                 rest.empty() ? "the end of the line" : concat("\"", rest, "\""))};
}

Status Cursor::expect(std::string_view symbol) {
  if (consume(symbol)) return {};
  return std::unexpected(unexpected(concat("\"", symbol, "\"")));
}

Status Cursor::expect_word(std::string_view expected) {
  if (consume_word(expected)) return {};
  return std::unexpected(unexpected(concat("\"", expected, "\"")));
}

Status Cursor::expect_end() {
  if (at_end()) return {};
  return std::unexpected(unexpected("the end of the line"));
}

Result<std::string_view> Cursor::word() {
  skip_spaces();
  const size_t start = at_;
  while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
  if (at_ == start) return std::unexpected(unexpected("a word"));
  return text_.substr(start, at_ - start);
}

Result<std::string> Cursor::quoted() {
  LATHE_TRY(expect("\""));
  std::string name;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] != '\\') {
      name += text_[at_++];
      continue;
    }
    const std::string_view escape = text_.substr(at_ + 1);
    if (escape.starts_with('"') || escape.starts_with('\\')) {
      name += escape[0];
      at_ += 2;
    } else if (escape.size() >= 3 && escape[0] == 'x' && hex_digit(escape[1]) >= 0 &&
               hex_digit(escape[2]) >= 0) {
      name += static_cast<char>(hex_digit(escape[1]) * 16 + hex_digit(escape[2]));
      at_ += 4;
    } else {
      return std::unexpected(unexpected("\\\", \\\\ or \\xNN"));
    }
  }
  LATHE_TRY(expect("\""));
  return name;
}

Result<int64_t> Cursor::integer() {
  skip_spaces();
  const size_t start = at_;
  const bool negative = consume("-");
  const size_t digits = at_;
  int64_t value = 0;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - digits < 18) {
    value = value * 10 + (text_[at_++] - '0');
  }
  if (at_ == digits) {
    at_ = start;
    return std::unexpected(unexpected("an integer"));
  }
  return negative ? -value : value;
}

}  // namespace lathe::graph
