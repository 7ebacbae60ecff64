#include "lathe/loop/text/lexer.h"

#include "lathe/base/text.h"
#include "lathe/loop/text/syntax.h"

namespace lathe::loop {

namespace {

void skip_blank(std::string_view source, size_t& at, int& line) {
  while (at < source.size()) {
    if (source.substr(at, 2) == "//") {
      while (at < source.size() && source[at] != '\n') ++at;
    } else if (source[at] == '\n' || source[at] == ' ' || source[at] == '\t' ||
               source[at] == '\r') {
      line += source[at++] == '\n';
    } else {
      return;
    }
  }
}

size_t end_of_number(std::string_view source, size_t at, TokenKind& kind) {
  const auto digits = [&] {
    while (at < source.size() && is_digit(source[at])) ++at;
  };
  kind = TokenKind::Integer;
  digits();
  if (at < source.size() && source[at] == '.') {
    kind = TokenKind::Float;
    ++at;
    digits();
  }
  if (at < source.size() && source[at] == 'e') {
    kind = TokenKind::Float;
    ++at;
    if (at < source.size() && (source[at] == '+' || source[at] == '-')) ++at;
    digits();
  }
  return at;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

Result<Token> next_token(std::string_view source, size_t& at, int& line) {
  skip_blank(source, at, line);
  Token token;
  token.line = line;
  if (at == source.size()) return token;
  const size_t start = at;
  if (starts_name(source[at])) {
    token.kind = TokenKind::Name;
    while (at < source.size() && continues_name(source[at])) ++at;
  } else if (is_digit(source[at])) {
    at = end_of_number(source, at, token.kind);
  } else if (source[at] == '"') {
    token.kind = TokenKind::Quoted;
    for (++at; at < source.size() && source[at] != '"' && source[at] != '\n'; ++at) {
      if (source[at] == '\\') ++at;
    }
    if (at >= source.size() || source[at] == '\n') {
      return fail(concat("line ", line, ": unfinished string"));
    }
    ++at;
  } else {
    token.kind = TokenKind::Symbol;
    at += source.substr(at, 2) == "<=" ? 2 : 1;
  }
  token.text = source.substr(start, at - start);
  return token;
}

Result<std::string> unquote(const Token& token) {
  std::string out;
  const std::string_view inside = token.text.substr(1, token.text.size() - 2);
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      out += inside[i];
    } else if (i + 1 < inside.size() && (inside[i + 1] == '"' || inside[i + 1] == '\\')) {
      out += inside[++i];
    } else if (i + 3 < inside.size() && inside[i + 1] == 'x' && hex_digit(inside[i + 2]) >= 0 &&
               hex_digit(inside[i + 3]) >= 0) {
      out += static_cast<char>(hex_digit(inside[i + 2]) * 16 + hex_digit(inside[i + 3]));
      i += 3;
    } else {
      return fail(concat("line ", token.line, ": bad escape in ", token.text));
    }
  }
  return out;
}

}  // namespace lathe::loop
