// The grammar of the loop IR's textual form, shared by the files that read modules and kernels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lathe/loop/loop.h"
#include "lathe/loop/text/lexer.h"

namespace lathe::loop {

// Tokens and the elements of every construct: names, numbers, types.
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : text_(text) {}

  Status advance();
  bool at_end() const { return token_.kind == TokenKind::End; }
  bool sees(std::string_view text) const {
    return token_.kind != TokenKind::Quoted && token_.text == text;
  }
  const Token& token() const { return token_; }
  Result<bool> accept(std::string_view text);
  Status expect(std::string_view text);
  // At the line of the next token; at the line of the token consumed last.
  std::unexpected<Error> error(std::string_view message) const;
  std::unexpected<Error> error_at_previous(std::string_view message) const;

  Result<std::string> name();
  Result<std::string> quoted();
  Result<int64_t> count();  // 0 and up
  // One constant, signed.
  Result<Number> number();
  // name : dtype[size]
  Result<Buffer> buffer();

 private:
  Result<Number> integer(const std::string& digits, bool negative, DType dtype) const;
  Result<Number> float_number(const std::string& digits, const std::string& nan_bits, bool negative,
                              DType dtype) const;

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  Token token_;
  int previous_line_ = 1;
};

using BufferNames = std::unordered_map<std::string, int32_t>;

// Reads one kernel after the word "kernel".
Result<Kernel> parse_kernel(TokenReader& reader, const Module& module, const BufferNames& names);

}  // namespace lathe::loop
