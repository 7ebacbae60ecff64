// Walks over one line of text: words, integers, quoted names and lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lathe/base/result.h"

namespace lathe::graph {

int hex_digit(char c);  // -1: it is none

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_spaces();
  bool at_end();
  // True and past it if the next characters are these; for a word, if it ends there too.
  bool consume(std::string_view symbol);
  bool consume_word(std::string_view word);

  Status expect(std::string_view symbol);
  Status expect_word(std::string_view word);
  Status expect_end();
  Result<std::string_view> word();  // letters, digits, _, . and signs inside numbers
  Result<std::string> quoted();     // "…" with \" \\ \xNN
  Result<int64_t> integer();
  // "[" item "," … "]"; item() reads one element and returns a Status.
  template <class Item>
  Status list(Item item);

  Error unexpected(std::string_view expected);

 private:
  std::string_view text_;
  size_t at_ = 0;
};

template <class Item>
Status Cursor::list(Item item) {
  LATHE_TRY(expect("["));
  if (consume("]")) return {};
  do {
    LATHE_TRY(item());
  } while (consume(","));
  return expect("]");
}

}  // namespace lathe::graph
