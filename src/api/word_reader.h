// Reads what other languages tell in words, which are 64-bit floats: integers, dtypes by their
// codes, and values of any kind. Refuses what no sound writer says; knows no operation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lathe/api/json_reader.h"
#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::api {

std::optional<graph::DType> dtype_of_code(int32_t code);

class WordReader {
 public:
  // `what` is how errors call the whole.
  WordReader(std::span<const double> words, std::string_view what) : words_(words), what_(what) {}
  void rename(std::string_view what) { what_ = what; }

  bool done() const { return words_.empty(); }
  Result<int32_t> integer();
  // How many things follow that take a word each at least.
  Result<size_t> count();
  Result<graph::DType> dtype();
  // As words.def spells it: nothing for Absent, an empty object for any. `key` is how errors call
  // it within the whole.
  Result<std::optional<Json>> value(std::string_view key, int depth = 0);
  std::span<const double> rest() const { return words_; }
  // Error: words are left.
  Status finish() const;

 private:
  Result<double> word();

  std::span<const double> words_;
  std::string_view what_;
};

}  // namespace lathe::api
