// Reads the word streams of other languages (64-bit floats): integers, dtypes by their
// codes, and values of any kind. Rejects malformed streams; independent of operations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"
#include "lathe/network/json_reader.h"

namespace lathe::api {

using network::ObjectReader;
using network::parse_json;

std::optional<graph::DType> dtype_of_code(int32_t code);

class WordReader {
 public:
  // `what` names the stream in errors.
  WordReader(std::span<const double> words, std::string_view what) : words_(words), what_(what) {}
  void rename(std::string_view what) { what_ = what; }

  bool done() const { return words_.empty(); }
  Result<int32_t> integer();
  // The number of following items, each of one word or more.
  Result<size_t> count();
  Result<graph::DType> dtype();
  // Encoded as in words.def: nothing for Absent, an empty object for any object. `key` names
  // the value in errors.
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
