#include "lathe/api/word_reader.h"

#include <cmath>

#include "lathe/base/text.h"

namespace lathe::api {
namespace {

enum class Tag : int32_t {
#define TAG(name_, text_) name_,
#include "lathe/api/words.def"
};

constexpr int kDTypeCount = 0
#define LATHE_DTYPE(...) +1
#include "lathe/scalar/dtypes.def"
    ;
constexpr int kMaxLists = 8;

std::string_view printed(double number) {
  if (std::isnan(number)) return "NaN";
  return number < 0 ? "-Infinity" : "Infinity";
}

}  // namespace

std::optional<graph::DType> dtype_of_code(int32_t code) {
  if (code < 0 || code >= kDTypeCount) return std::nullopt;
  return static_cast<graph::DType>(code);
}

Result<double> WordReader::word() {
  if (words_.empty()) return fail(concat(what_, ": words are missing"));
  const double first = words_.front();
  words_ = words_.subspan(1);
  return first;
}

Result<int32_t> WordReader::integer() {
  LATHE_ASSIGN_OR_RETURN(const double number, word());
  if (number >= INT32_MIN && number <= INT32_MAX && number == std::floor(number)) {
    return static_cast<int32_t>(number);
  }
  return fail(concat(what_, ": ", number, " is no 32-bit integer"));
}

Result<size_t> WordReader::count() {
  LATHE_ASSIGN_OR_RETURN(const int32_t number, integer());
  if (number < 0) return fail(concat(what_, ": ", number, " is no count"));
  const auto count = static_cast<size_t>(number);
  if (count > words_.size()) return fail(concat(what_, ": words are missing"));
  return count;
}

Result<graph::DType> WordReader::dtype() {
  LATHE_ASSIGN_OR_RETURN(const int32_t code, integer());
  if (const auto dtype = dtype_of_code(code)) return *dtype;
  return fail(concat(what_, ": there is no dtype ", code));
}

Result<std::optional<Json>> WordReader::value(std::string_view key, int depth) {
  LATHE_ASSIGN_OR_RETURN(const int32_t tag, integer());
  switch (static_cast<Tag>(tag)) {
    case Tag::Absent:
      return std::nullopt;
    case Tag::Null:
      return Json();
    case Tag::False:
      return Json::boolean(false);
    case Tag::True:
      return Json::boolean(true);
    case Tag::Number: {
      LATHE_ASSIGN_OR_RETURN(const double number, word());
      if (std::isfinite(number)) return Json::number(number);
      return fail(concat(what_, '.', key, ": must be a finite number, got ", printed(number)));
    }
    case Tag::Text: {
      LATHE_ASSIGN_OR_RETURN(const size_t size, count());
      std::string text;
      for (size_t i = 0; i < size; ++i) {
        LATHE_ASSIGN_OR_RETURN(const int32_t byte, integer());
        text += static_cast<char>(byte);
      }
      return Json::string(std::move(text));
    }
    case Tag::List: {
      LATHE_ASSIGN_OR_RETURN(const size_t size, count());
      if (depth == kMaxLists) return fail(concat(what_, '.', key, ": too many lists in lists"));
      Json list = Json::array();
      for (size_t i = 0; i < size; ++i) {
        LATHE_ASSIGN_OR_RETURN(const auto each, value(key, depth + 1));
        if (!each) return fail(concat(what_, '.', key, ": an element of a list is absent"));
        list.add(std::move(*each));
      }
      return list;
    }
    case Tag::Object:
      return Json::object();
  }
  return fail(concat(what_, '.', key, ": there is no tag ", tag));
}

Status WordReader::finish() const {
  if (words_.empty()) return {};
  return fail(concat(what_, ": ", words_.size(), " words too many"));
}

}  // namespace lathe::api
