// Operators on strings, evaluated at trace time: operands of strings must be constants, and results
// are constants.
#include "lathe/import/onnx/strings/strings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "lathe/base/text.h"
#include "lathe/import/onnx/strings/regex.h"
#include "lathe/import/onnx/strings/utf8.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"

namespace lathe::onnx::rows {

Result<const Content*> strings_operand(const Call& call, size_t i) {
  const Value& operand = call.operand(i);
  if (operand.is_tensor() && operand.type == Type::String && operand.constant)
    return operand.constant.get();
  return call.reject(concat("input ", i, " must be strings"));
}

namespace {

// Calls function(offset in x, offset in y) for each element of the broadcast shape, in row-major
// order, and returns that shape. Error: the shapes do not broadcast.
Result<Shape> each_pair(Call& call, const Shape& x, const Shape& y,
                        const std::function<void(size_t, size_t)>& function) {
  const size_t rank = std::max(x.size(), y.size());
  const auto size_of = [&](const Shape& of, size_t k) {
    return k + of.size() < rank ? 1 : of[k + of.size() - rank];
  };
  Shape shape(rank);
  for (size_t k = 0; k < rank; ++k) {
    const int64_t a = size_of(x, k), b = size_of(y, k);
    if (a != b && a != 1 && b != 1) {
      return call.reject(
          concat("shapes ", bracketed(x), " and ", bracketed(y), " do not broadcast"));
    }
    shape[k] = a == 1 ? b : a;
  }
  const int64_t count = graph::element_count(shape);
  LATHE_TRY(call.tracer().claim(count, 0));
  LATHE_TRY(call.tracer().spend(count));
  for (int64_t at = 0; at < count; ++at) {
    int64_t rest = at, first = 0, second = 0, first_stride = 1, second_stride = 1;
    for (size_t k = rank; k-- > 0;) {
      const int64_t index = rest % shape[k], a = size_of(x, k), b = size_of(y, k);
      rest /= shape[k];
      if (a != 1) first += index * first_stride;
      if (b != 1) second += index * second_stride;
      first_stride *= a;
      second_stride *= b;
    }
    function(static_cast<size_t>(first), static_cast<size_t>(second));
  }
  return shape;
}

}  // namespace

Result<Values> equal_strings(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
  LATHE_ASSIGN_OR_RETURN(const Content* y, strings_operand(call, 1));
  std::vector<int64_t> equal;
  LATHE_ASSIGN_OR_RETURN(Shape shape, each_pair(call, x->shape, y->shape, [&](size_t a, size_t b) {
                           equal.push_back(x->strings[a] == y->strings[b] ? 1 : 0);
                         }));
  return Values{integers_content(Type::Bool, std::move(shape), equal)};
}

Result<Values> string_concat(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
  LATHE_ASSIGN_OR_RETURN(const Content* y, strings_operand(call, 1));
  int64_t strings = 0, bytes = 0;
  LATHE_TRY(each_pair(call, x->shape, y->shape, [&](size_t a, size_t b) {
    ++strings;
    bytes += static_cast<int64_t>(x->strings[a].size() + y->strings[b].size());
  }));
  LATHE_TRY(call.tracer().claim(strings, bytes));
  std::vector<std::string> results;
  LATHE_ASSIGN_OR_RETURN(Shape shape, each_pair(call, x->shape, y->shape, [&](size_t a, size_t b) {
                           results.push_back(x->strings[a] + y->strings[b]);
                         }));
  return Values{strings_content(std::move(shape), std::move(results))};
}

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::vector<std::string> split_at_space(std::string_view text, int64_t max_splits) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (;;) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) return parts;
    size_t end = at;
    if (static_cast<int64_t>(parts.size()) == max_splits) {
      end = text.size();
      while (is_space(text[end - 1])) --end;
    } else {
      while (end < text.size() && !is_space(text[end])) ++end;
    }
    parts.emplace_back(text.substr(at, end - at));
    if (static_cast<int64_t>(parts.size()) > max_splits) return parts;
    at = end;
  }
}

namespace {

std::vector<std::string> split_at(std::string_view delimiter, std::string_view text,
                                  int64_t max_splits) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (static_cast<int64_t>(parts.size()) < max_splits) {
    const size_t end = text.find(delimiter, at);
    if (end == text.npos) break;
    parts.emplace_back(text.substr(at, end - at));
    at = end + delimiter.size();
  }
  parts.emplace_back(text.substr(at));
  return parts;
}

// The string with a function applied to each of its code points.
std::string map_code_points(std::string_view text, char32_t (*function)(char32_t)) {
  std::string result;
  for (const char32_t point : code_points(text)) append_utf8(result, function(point));
  return result;
}

}  // namespace

Result<Values> string_split(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
  const std::string delimiter = call.string_of("delimiter", "");
  const int64_t max_splits = call.int_of("maxsplit", std::numeric_limits<int64_t>::max());
  std::vector<std::vector<std::string>> parts;
  std::vector<int64_t> counts;
  size_t longest = 0;
  for (const std::string& text : x->strings) {
    parts.push_back(delimiter.empty() ? split_at_space(text, max_splits)
                                      : split_at(delimiter, text, max_splits));
    if (text.empty()) parts.back().clear();
    counts.push_back(static_cast<int64_t>(parts.back().size()));
    longest = std::max(longest, parts.back().size());
    LATHE_TRY(call.tracer().spend(static_cast<int64_t>(text.size() / 8)));
    LATHE_TRY(call.tracer().claim(static_cast<int64_t>(x->strings.size() * longest),
                                  static_cast<int64_t>(text.size())));
  }
  std::vector<std::string> all;
  all.reserve(parts.size() * longest);
  for (auto& each : parts) {
    each.resize(longest);
    std::ranges::move(each, std::back_inserter(all));
    each = {};
  }
  Shape shape = x->shape;
  shape.push_back(static_cast<int64_t>(longest));
  return Values{strings_content(std::move(shape), std::move(all)),
                integers_content(Type::Int64, x->shape, counts)};
}

Result<Values> string_normalizer(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
  if (x->shape.empty() || x->shape.size() > 2 || (x->shape.size() == 2 && x->shape[0] != 1)) {
    return call.reject(concat("input ", bracketed(x->shape), " is neither [n] nor [1, n]"));
  }
  const std::string action = call.string_of("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return call.reject(concat("knows no case_change_action '", action, '\''));
  }
  const bool is_exact = call.int_of("is_case_sensitive", 0) != 0;
  const auto compared = [&](const std::string& text) {
    return is_exact ? text : map_code_points(text, lower_case);
  };
  std::set<std::string> stops;
  for (const std::string& each : call.strings_of("stopwords")) stops.insert(compared(each));
  std::vector<std::string> strings;
  for (const std::string& each : x->strings) {
    if (stops.contains(compared(each))) continue;
    strings.push_back(action == "NONE"
                          ? each
                          : map_code_points(each, action == "LOWER" ? lower_case : upper_case));
  }
  if (strings.empty()) strings.emplace_back();
  Shape shape = x->shape;
  shape.back() = static_cast<int64_t>(strings.size());
  return Values{strings_content(std::move(shape), std::move(strings))};
}

Result<Values> regex_full_match(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
  LATHE_ASSIGN_OR_RETURN(const Regex regex, Regex::parse(call.string_of("pattern", "")));
  std::vector<int64_t> matches;
  for (const std::string& each : x->strings) {
    LATHE_ASSIGN_OR_RETURN(const bool matches_all, regex.matches(each, call.tracer().steps_left()));
    matches.push_back(matches_all ? 1 : 0);
  }
  return Values{integers_content(Type::Bool, x->shape, matches)};
}

namespace {

// Maximum number of elements of the result, and of columns.
constexpr int64_t kMaxCounts = int64_t{1} << 24;

// The n-grams of the pool. The values are their indices in the pool, from which ngram_indexes gives
// the columns of the result; a pool may contain an n-gram several times.
template <class Token>
using Grams = std::map<std::vector<Token>, std::vector<size_t>>;

// The n-grams of the pool that have min_gram_length to max_gram_length tokens. Errors: ngram_counts
// or ngram_indexes do not fit the pool.
template <class Token>
Result<Grams<Token>> grams_of(const Call& call, const std::vector<Token>& pool) {
  const auto starts = call.ints_of("ngram_counts"), columns = call.ints_of("ngram_indexes");
  const int64_t least = call.int_of("min_gram_length", 1),
                max_length = call.int_of("max_gram_length", 1);
  Grams<Token> grams;
  size_t gram = 0;
  for (size_t k = 0; k < starts.size(); ++k) {
    const auto size = static_cast<int64_t>(pool.size());
    const int64_t end = k + 1 < starts.size() ? starts[k + 1] : size;
    const auto length = static_cast<int64_t>(k) + 1;
    if (starts[k] < 0 || end > size || end < starts[k] || (end - starts[k]) % length != 0) {
      return call.reject(
          concat("ngram_counts ", bracketed(starts), " do not fit a pool of ", size));
    }
    for (int64_t at = starts[k]; at < end; at += length, ++gram) {
      if (gram >= columns.size() || columns[gram] < 0) {
        return call.reject("ngram_indexes has no column for each n-gram");
      }
      if (length < least || length > max_length) continue;
      grams[{pool.begin() + at, pool.begin() + at + length}].push_back(gram);
    }
  }
  return grams;
}

// Adds the occurrences of each n-gram in a row to `counts`, by column. An n-gram may have 0 to
// max_skip_count tokens between each two of its own.
template <class Token>
Status count_grams(Call& call, const Grams<Token>& grams, std::span<const Token> row,
                   std::span<double> counts, const std::vector<int64_t>& columns) {
  // An attribute, at most the row's size: longer n-grams, and longer skips, do not fit the row.
  const auto limited = [&](std::string_view name, int64_t standard, int64_t lowest) {
    const auto highest = std::max(lowest, static_cast<int64_t>(row.size()));
    return static_cast<size_t>(std::clamp(call.int_of(name, standard), lowest, highest));
  };
  const size_t least = limited("min_gram_length", 1, 1),
               max_length = limited("max_gram_length", 1, 1);
  const size_t skips = limited("max_skip_count", 0, 0);
  for (size_t length = least; length <= std::min(max_length, row.size()); ++length) {
    // One token has no gaps: every step would find the same n-grams.
    for (size_t step = 1; step <= (length == 1 ? 1 : skips + 1); ++step) {
      if ((length - 1) * step >= row.size()) break;
      LATHE_TRY(call.tracer().spend(
          static_cast<int64_t>((length + 16) * (row.size() - (length - 1) * step))));
      for (size_t at = 0; at + (length - 1) * step < row.size(); ++at) {
        std::vector<Token> gram;
        for (size_t k = 0; k < length; ++k) gram.push_back(row[at + k * step]);
        const auto found = grams.find(gram);
        if (found == grams.end()) continue;
        LATHE_TRY(call.tracer().spend(static_cast<int64_t>(found->second.size())));
        for (const size_t each : found->second) counts[columns[each]] += 1;
      }
    }
  }
  return {};
}

// The result of TfIdfVectorizer for tokens of one type.
template <class Token>
Result<Values> tf_idf(Call& call, const Shape& shape, const std::vector<Token>& tokens,
                      const std::vector<Token>& pool) {
  if (shape.empty() || shape.size() > 2) {
    return call.reject(concat("input ", bracketed(shape), " is neither [n] nor [rows, n]"));
  }
  LATHE_ASSIGN_OR_RETURN(const auto grams, grams_of(call, pool));
  const auto columns = call.ints_of("ngram_indexes");
  const int64_t last = columns.empty() ? -1 : *std::ranges::max_element(columns);
  const size_t rows = shape.size() == 1 ? 1 : static_cast<size_t>(shape[0]);
  if (last < 0 || last >= kMaxCounts / std::max<int64_t>(static_cast<int64_t>(rows), 1)) {
    return call.reject(concat("ngram_indexes up to ", last, " are no columns of ", rows,
                              " rows: the maximum is ", kMaxCounts, " numbers"));
  }
  const auto width = static_cast<size_t>(last + 1);
  const auto length = static_cast<size_t>(shape.back());
  std::vector<double> counts(rows * width);
  for (size_t row = 0; row < rows; ++row) {
    LATHE_TRY(count_grams<Token>(call, grams, {tokens.data() + row * length, length},
                                 {counts.data() + row * width, width}, columns));
  }
  LATHE_ASSIGN_OR_RETURN(const auto mode, call.choice_of("mode", {"TF", "IDF", "TFIDF"}));
  const std::vector<float> weights = call.floats_of("weights");
  for (size_t k = 0; mode != "TF" && k < counts.size(); ++k) {
    if (mode == "IDF" && counts[k] > 1) counts[k] = 1;
  }
  LATHE_TRY(call.tracer().spend(static_cast<int64_t>(std::min(weights.size(), columns.size())) *
                                static_cast<int64_t>(rows)));
  for (size_t gram = 0; mode != "TF" && gram < std::min(weights.size(), columns.size()); ++gram) {
    for (size_t row = 0; row < rows; ++row) {
      counts[row * width + static_cast<size_t>(columns[gram])] *= weights[gram];
    }
  }
  Shape result = shape;
  result.back() = static_cast<int64_t>(width);
  return Values{numbers_content(Type::Float32, std::move(result), counts)};
}

}  // namespace

Result<Values> tf_idf_vectorizer(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content x, call.content(0));
  if (x.type == Type::String) {
    return tf_idf(call, x.shape, x.strings, call.strings_of("pool_strings"));
  }
  std::vector<int64_t> tokens;
  for (int64_t k = 0; k < x.count(); ++k) tokens.push_back(x.integer(k));
  return tf_idf(call, x.shape, tokens, call.ints_of("pool_int64s"));
}

}  // namespace lathe::onnx::rows
