#include "lathe/base/json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lathe/base/decimal.h"
#include "lathe/base/sort.h"
#include "lathe/base/text.h"

namespace lathe {
namespace {

constexpr double kMaxExact = 9007199254740992;  // 2^53

void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

// The length in bytes of the character that the string begins with, or 0 where it is not UTF-8.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong encodings, surrogates, code points beyond U+10FFFF (RFC 3629, section 4).
  const bool is_wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                        (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
  return is_wrong ? 0 : length;
}

// The first key that another one equals, or null.
const std::string* find_duplicate(const std::vector<std::string>& keys) {
  const std::vector<int> order =
      sorted_indices(static_cast<int>(keys.size()), &keys, [](const void* items, int a, int b) {
        const auto& all = *static_cast<const std::vector<std::string>*>(items);
        return all[a] < all[b];
      });
  for (size_t i = 1; i < order.size(); ++i) {
    const std::string& key = keys[order[i]];
    if (key == keys[order[i - 1]]) return &key;
  }
  return nullptr;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> all(int depth) {
    Json json;
    if (!value(json, depth)) return fail(message());
    skip_space();
    if (at_ == text_.size()) return json;
    error_ = "expected the end";
    return fail(message());
  }

 private:
  std::string message() const { return concat("the text is not JSON: byte ", at_, ": ", error_); }

  bool wrong(std::string_view error) {
    error_ = error;
    return false;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  bool word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return wrong("expected a value");
    at_ += word.size();
    return true;
  }

  bool value(Json& json, int depth) {
    skip_space();
    switch (peek()) {
      case '{':
      case '[':
        if (depth == 0) return wrong("nested too deep");
        return peek() == '{' ? object(json, depth - 1) : array(json, depth - 1);
      case '"': {
        std::string text;
        if (!string(text)) return false;
        json = Json::string(std::move(text));
        return true;
      }
      case 't':
        json = Json::boolean(true);
        return word("true");
      case 'f':
        json = Json::boolean(false);
        return word("false");
      case 'n':
        return word("null");
      default:
        return number(json);
    }
  }

  bool array(Json& json, int depth) {
    json = Json::array();
    ++at_;
    if (accept(']')) return true;
    do {
      Json each;
      if (!value(each, depth)) return false;
      json.add(std::move(each));
    } while (accept(','));
    return accept(']') || wrong("expected , or ]");
  }

  bool object(Json& json, int depth) {
    json = Json::object();
    ++at_;
    if (accept('}')) return true;
    do {
      skip_space();
      std::string key;
      Json each;
      if (peek() != '"') return wrong("expected a key");
      if (!string(key)) return false;
      if (!accept(':')) return wrong("expected :");
      if (!value(each, depth)) return false;
      json.add(std::move(key), std::move(each));
    } while (accept(','));
    if (!accept('}')) return wrong("expected , or }");
    const std::string* duplicate = find_duplicate(json.keys());
    if (duplicate == nullptr) return true;
    error_ = "the object before has twice the key ";
    append_json(error_, *duplicate);
    return false;
  }

  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }

  bool number(Json& json) {
    const size_t start = at_;
    if (peek() == '-') ++at_;
    const size_t digits = at_;
    skip_digits();
    if (at_ == digits || (text_[digits] == '0' && at_ > digits + 1)) {
      at_ = start;
      return wrong("expected a value");
    }
    if (peek() == '.') {
      ++at_;
      if (!is_digit(peek())) return wrong("expected a digit");
      skip_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!is_digit(peek())) return wrong("expected a digit");
      skip_digits();
    }
    const std::string digits_text(text_.substr(digits, at_ - digits));
    const double magnitude = parse_decimal(digits_text.c_str(), nullptr, 53);
    if (!std::isfinite(magnitude)) return wrong("the number before is too large");
    json = Json::number(digits > start ? -magnitude : magnitude);
    return true;
  }

  bool hex(uint32_t& code) {
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const char lower = static_cast<char>(c | 0x20);
      const bool is_letter = lower >= 'a' && lower <= 'f';
      if (!is_digit(c) && !is_letter) return wrong("expected four hexadecimal digits");
      code = code * 16 + static_cast<uint32_t>(is_letter ? lower - 'a' + 10 : c - '0');
    }
    return true;
  }

  bool escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (const size_t found = kNames.find(c); c != '\0' && found != kNames.npos) {
      ++at_;
      out += kMeant[found];
      return true;
    }
    if (c != 'u') return wrong("no such escape");
    ++at_;
    uint32_t code = 0;
    if (!hex(code)) return false;
    if (code >= 0xd800 && code < 0xe000) {
      uint32_t low = 0;
      if (code >= 0xdc00 || !text_.substr(at_).starts_with("\\u")) return wrong("half a character");
      at_ += 2;
      if (!hex(low)) return false;
      if (low < 0xdc00 || low >= 0xe000) return wrong("half a character");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, code);
    return true;
  }

  bool string(std::string& out) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        ++at_;
        if (!escape(out)) return false;
        continue;
      }
      if (static_cast<uint8_t>(c) < 0x20) return wrong("a control character in a string");
      const size_t length = utf8_length(text_.substr(at_));
      if (length == 0) return wrong("no UTF-8");
      out += text_.substr(at_, length);
      at_ += length;
    }
    return wrong("the string has no end");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace

Json Json::boolean(bool value) {
  Json json(Kind::Boolean);
  json.number_ = value;
  return json;
}

Json Json::number(double value) {
  Json json(Kind::Number);
  json.number_ = value;
  return json;
}

Json Json::string(std::string value) {
  Json json(Kind::String);
  json.text_ = std::move(value);
  return json;
}

Json Json::array(std::vector<Json> values) {
  Json json(Kind::Array);
  json.values_ = std::move(values);
  return json;
}

Json Json::object() { return Json(Kind::Object); }

Result<Json> Json::parse(std::string_view text, int depth) { return Parser(text).all(depth); }

bool Json::is_count() const {
  return is_number() && number_ >= 0 && number_ <= kMaxExact && number_ == std::floor(number_);
}

const Json* Json::find(std::string_view key) const {
  const auto found = std::ranges::find(keys_, key);
  return found == keys_.end() ? nullptr : &values_[found - keys_.begin()];
}

const Json& Json::at(std::string_view key) const {
  static const Json kNull;
  const Json* found = find(key);
  return found == nullptr ? kNull : *found;
}

std::string Json::dump() const {
  switch (kind_) {
    case Kind::Null:
      return "null";
    case Kind::Boolean:
      return boolean() ? "true" : "false";
    case Kind::Number:
      return is_count() ? concat(static_cast<uint64_t>(number_)) : concat(number_);
    case Kind::String:
      return json_string(text_);
    case Kind::Array:
    case Kind::Object:
      break;
  }
  std::string out(1, is_array() ? '[' : '{');
  for (size_t i = 0; i < values_.size(); ++i) {
    if (i > 0) out += ',';
    if (is_object()) append(out, json_string(keys_[i]), ':');
    out += values_[i].dump();
  }
  return out + (is_array() ? ']' : '}');
}

void Json::add(Json value) { values_.push_back(std::move(value)); }

void Json::add(std::string key, Json value) {
  keys_.push_back(std::move(key));
  values_.push_back(std::move(value));
}

}  // namespace lathe
