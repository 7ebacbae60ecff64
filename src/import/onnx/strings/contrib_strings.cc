// Operators of com.microsoft over strings, and hashes.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/import/onnx/strings/regex.h"
#include "lathe/import/onnx/strings/strings.h"
#include "lathe/import/onnx/strings/utf8.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

namespace {

using Points = std::vector<char32_t>;

// Calls visit(begin, end) for each match of the expression; the search continues at the end of the
// match, or one further if it is empty. Returns the end of the last one.
template <class Visit>
Result<size_t> each_match(Call& call, const Regex& regex, const Points& points,
                          const Visit& visit) {
  size_t at = 0;
  for (;;) {
    LATHE_ASSIGN_OR_RETURN(const auto match, regex.find(points, at, call.tracer().steps_left()));
    if (!match) break;
    visit(at, *match);
    at = std::max(match->second, at + (match->first == match->second ? 1 : 0));
    if (at > points.size()) break;
  }
  return at;
}

// What splits a string into tokens.
struct Splitter {
  std::vector<Regex> separators;
  std::optional<Regex> token;
  bool is_single = false;  // each character is one
  size_t least = 1;        // characters of a token

  Result<std::vector<Points>> tokens_of(Call& call, const Points& points) const {
    std::vector<Points> tokens;
    const auto add = [&](std::vector<Points>& list, const Points& from, size_t begin, size_t end) {
      if (end >= begin + least) list.emplace_back(from.begin() + begin, from.begin() + end);
    };
    if (is_single) {
      for (size_t at = 0; at < points.size(); ++at) add(tokens, points, at, at + 1);
      return tokens;
    }
    if (token) {
      LATHE_TRY(each_match(call, *token, points, [&](size_t, const auto& match) {
        add(tokens, points, match.first, match.second);
      }));
      return tokens;
    }
    tokens.push_back(points);
    for (const Regex& separator : separators) {
      std::vector<Points> parts;
      for (const Points& each : tokens) {
        LATHE_ASSIGN_OR_RETURN(const size_t end, each_match(call, separator, each,
                                                            [&](size_t begin, const auto& match) {
                                                              add(parts, each, begin, match.first);
                                                            }));
        if (end <= each.size()) add(parts, each, end, each.size());
      }
      tokens = std::move(parts);
    }
    return tokens;
  }
};

Result<Splitter> splitter_of(const Call& call) {
  Splitter splitter;
  const int64_t least = call.int_of("mincharnum", 1);
  if (least < 1) return call.reject(concat("mincharnum ", least, " is not positive"));
  splitter.least = static_cast<size_t>(least);
  const auto separators = call.strings_of("separators");
  if (call.has_attribute("tokenexp") == !separators.empty()) {
    return call.reject("requires exactly one of separators and tokenexp");
  }
  const std::string token = call.string_of("tokenexp", "");
  splitter.is_single = separators.empty() ? token == "." : separators == std::vector{std::string()};
  if (splitter.is_single && least > 1) {
    return call.reject(concat("mincharnum ", least, " leaves no token of one character"));
  }
  if (separators.empty()) {
    LATHE_ASSIGN_OR_RETURN(splitter.token, Regex::parse(token));
  }
  for (const std::string& each : separators) {
    LATHE_ASSIGN_OR_RETURN(splitter.separators.emplace_back(), Regex::parse(each));
  }
  return splitter;
}

}  // namespace

Result<Values> tokenizer(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
  LATHE_ASSIGN_OR_RETURN(const Splitter splitter, splitter_of(call));
  std::vector<std::vector<Points>> rows;
  size_t longest = 0;
  int64_t bytes = 0;
  for (const std::string& each : x->strings) {
    LATHE_ASSIGN_OR_RETURN(rows.emplace_back(), splitter.tokens_of(call, code_points(each)));
    longest = std::max(longest, rows.back().size());
    bytes += static_cast<int64_t>(each.size());
  }
  const bool has_marks = call.int_of("mark", 0) != 0 && longest > 0;
  const std::string padding = call.string_of("pad_value", "");
  longest += has_marks ? 2 : 0;
  const auto cells = static_cast<int64_t>(longest) * static_cast<int64_t>(rows.size());
  LATHE_TRY(call.tracer().claim(cells, bytes));
  if (!padding.empty()) {
    LATHE_TRY(call.tracer().claim(cells, bytes + cells * static_cast<int64_t>(padding.size())));
  }
  std::vector<std::string> all;
  for (const auto& row : rows) {
    const size_t end = all.size() + longest;
    if (has_marks) all.emplace_back("\x02");
    for (const Points& token : row) {
      all.emplace_back();
      for (const char32_t point : token) append_utf8(all.back(), point);
    }
    if (has_marks) all.emplace_back("\x03");
    all.resize(end, padding);
  }
  Shape shape = x->shape;
  shape.push_back(static_cast<int64_t>(longest));
  return Values{strings_content(std::move(shape), std::move(all))};
}

namespace {

// MurmurHash3_x86_32 of A. Appleby, 2011.
constexpr uint32_t kFirst = 0xcc9e2d51, kSecond = 0x1b873593;

uint32_t mixed(uint32_t hash, uint32_t word, bool is_full_word = true) {
  word *= kFirst;
  word = (word << 15 | word >> 17) * kSecond;
  hash ^= word;
  return is_full_word ? (hash << 13 | hash >> 19) * 5 + 0xe6546b64 : hash;
}

uint32_t finished(uint32_t hash, size_t length) {
  hash ^= static_cast<uint32_t>(length);
  hash = (hash ^ hash >> 16) * 0x85ebca6b;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35;
  return hash ^ hash >> 16;
}

uint32_t hash_of(std::string_view text, uint32_t seed) {
  uint32_t word = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    word |= static_cast<uint32_t>(static_cast<uint8_t>(text[at])) << 8 * (at % 4);
    if (at % 4 != 3) continue;
    seed = mixed(seed, word);
    word = 0;
  }
  if (text.size() % 4 != 0) seed = mixed(seed, word, /*is_full_word=*/false);
  return finished(seed, text.size());
}

Tensor u32(Builder& builder, uint32_t value) { return builder.full({}, scalar::Number::of(value)); }

Tensor shifted(Op op, Tensor x, uint32_t by) {
  return x.builder->map(op, std::array{x, u32(*x.builder, by)});
}
Tensor exclusive_or(Tensor x, Tensor y) { return x.builder->map(Op::BitXor, std::array{x, y}); }
Tensor rotated(Tensor x, uint32_t by) {
  return shifted(Op::ShiftLeft, x, by) + shifted(Op::ShiftRight, x, 32 - by);
}

Tensor mixed(Tensor hash, Tensor word) {
  Builder& b = *word.builder;
  word = rotated(word * u32(b, kFirst), 15) * u32(b, kSecond);
  return rotated(exclusive_or(word, hash), 13) * u32(b, 5) + u32(b, 0xe6546b64);
}

Tensor finished(Tensor hash, uint32_t length) {
  Builder& b = *hash.builder;
  hash = exclusive_or(hash, u32(b, length));
  hash = exclusive_or(hash, shifted(Op::ShiftRight, hash, 16)) * u32(b, 0x85ebca6b);
  hash = exclusive_or(hash, shifted(Op::ShiftRight, hash, 13)) * u32(b, 0xc2b2ae35);
  return exclusive_or(hash, shifted(Op::ShiftRight, hash, 16));
}

}  // namespace

Result<Values> murmur_hash3(Call& call) {
  const auto seed = static_cast<uint32_t>(call.int_of("seed", 0));
  const bool is_positive = call.int_of("positive", 1) != 0;
  const Type type = is_positive ? Type::UInt32 : Type::Int32;
  if (call.type(0) == Type::String) {
    LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
    std::vector<int64_t> hashes;
    for (const std::string& each : x->strings) {
      const uint32_t hash = hash_of(each, seed);
      hashes.push_back(is_positive ? int64_t{hash} : int64_t{static_cast<int32_t>(hash)});
    }
    return Values{integers_content(type, x->shape, hashes)};
  }
  Builder& builder = call.builder();
  Tensor x = call.tensor(0);
  if (scalar::is_float(x.dtype())) x = builder.map(Op::ToBits, std::array{x});
  const auto size = static_cast<uint32_t>(scalar::size_of(x.dtype()));
  Tensor hash = mixed(u32(builder, seed), builder.cast(x, DType::U32));
  if (size == 8) {
    const Tensor bits = builder.cast(x, DType::U64);
    const Tensor half = builder.full({}, scalar::Number::of(uint64_t{32}));
    const Tensor high = builder.map(Op::ShiftRight, std::array{bits, half});
    hash = mixed(hash, builder.cast(high, DType::U32));
  }
  return Values{builder.cast(finished(hash, size), dtype_of(type))};
}

}  // namespace lathe::onnx::rows
