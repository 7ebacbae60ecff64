// Splits the text of a loop program into tokens.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/result.h"

namespace lathe::loop {

enum class TokenKind : uint8_t { End, Name, Quoted, Integer, Float, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // as in the source
  int line = 1;
};

// Comments run from "//" to the end of the line. A symbol is one character, or "<=".
Result<Token> next_token(std::string_view source, size_t& at, int& line);

// The unescaped string of a Quoted token.
Result<std::string> unquote(const Token& token);

}  // namespace lathe::loop
