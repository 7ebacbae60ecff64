// Words of the command line and files, for the verbs of `lathe`.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>

#include "lathe.h"
#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// The edit distance (V. Levenshtein, 1966).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char letter : a) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::unexpected<Error> system_error(const std::string& path) {
  return fail(concat(path, ": ", std::strerror(errno)));
}

}  // namespace

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const auto distance = [word](std::string_view name) { return edit_distance(word, name); };
  const auto best = std::ranges::min_element(names, {}, distance);
  if (best == names.end()) return {};
  const size_t limit = std::max<size_t>(2, best->size() / 3);
  return distance(*best) > limit ? std::string() : concat("; did you mean ", *best, "?");
}

std::unexpected<Failure> wrong_use(std::string message) {
  return std::unexpected(Failure(std::move(message), true));
}

Outcome<Arguments> Arguments::parse(std::span<char* const> words, std::span<const Flag> flags,
                                    size_t min_files, size_t max_files) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.empty()) return wrong_use("the name of a file is empty");
    if (word.size() < 2 || word[0] != '-') {
      arguments.files_.emplace_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    const auto flag = std::ranges::find(flags, word.substr(0, equals), &Flag::name);
    if (flag == flags.end()) {
      std::vector<std::string_view> names;
      for (const Flag& each : flags) names.push_back(each.name);
      return wrong_use(concat("unknown flag ", word, suggestion(word.substr(0, equals), names)));
    }
    const bool has_value = equals != word.npos;
    if (has_value && !flag->expects_value()) return wrong_use(concat(flag->name, " has no value"));
    if (!flag->expects_value() || has_value) {
      arguments.flags_.emplace_back(flag->name, has_value ? word.substr(equals + 1) : "");
    } else if (++i < words.size()) {
      arguments.flags_.emplace_back(flag->name, words[i]);
    } else {
      return wrong_use(concat(word, " needs a value"));
    }
  }
  for (const auto& [name, value] : arguments.flags_) {
    const Flag& flag = *std::ranges::find(flags, name, &Flag::name);
    const bool may_be_empty = !flag.expects_value() || flag.value.starts_with('[');
    if (value.empty() && !may_be_empty) return wrong_use(concat(name, " needs a value"));
  }
  if (arguments.files_.size() < min_files) return wrong_use("a file is missing");
  if (arguments.files_.size() > max_files) {
    return wrong_use(concat("unexpected argument ", arguments.files_[max_files]));
  }
  return arguments;
}

bool Arguments::has(std::string_view flag) const {
  return std::ranges::any_of(flags_, [flag](const auto& each) { return each.first == flag; });
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : flags_) {
    if (name == flag) values.push_back(value);
  }
  return values;
}

std::string Arguments::value(std::string_view flag) const {
  const auto all = values(flag);
  return all.empty() ? std::string() : all.back();
}

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  // Input that can be read only once is cached: it is read once to detect its format and once to
  // parse it.
  static std::map<std::string, std::vector<uint8_t>> cache;
  if (const auto found = cache.find(path); found != cache.end()) return found->second;
  const bool is_input = path == "-";
  const File opened(is_input ? nullptr : std::fopen(path.c_str(), "rb"));
  std::FILE* file = is_input ? stdin : opened.get();
  if (file == nullptr) return system_error(path);
  std::vector<uint8_t> bytes;
  uint8_t block[1 << 16];
  while (const size_t count = std::fread(block, 1, sizeof block, file)) {
    bytes.insert(bytes.end(), block, block + count);
  }
  if (std::ferror(file)) return system_error(path);
  std::error_code ignored;
  if (is_input || !std::filesystem::is_regular_file(path, ignored)) cache[path] = bytes;
  return bytes;
}

Status write_file(const std::string& path, std::span<const uint8_t> bytes) {
  const auto write = [bytes](std::FILE* file) {
    return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  };
  if (path == "-") {
    if (write(stdout) && std::fflush(stdout) == 0) return {};
    return system_error("standard output");
  }
  std::error_code ignored;
  const auto type = std::filesystem::symlink_status(path, ignored).type();
  const bool is_replaced =
      type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
  const std::string target = is_replaced ? concat(path, ".new") : path;
  File file(std::fopen(target.c_str(), "wb"));
  if (!file) return system_error(path);
  const bool complete = write(file.get());
  if (std::fclose(file.release()) == 0 && complete &&
      (!is_replaced || std::rename(target.c_str(), path.c_str()) == 0)) {
    return {};
  }
  const auto error = system_error(path);
  if (is_replaced) std::remove(target.c_str());
  return error;
}

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::string padded(std::string text, size_t width) {
  // Continuation bytes of UTF-8 have no width.
  const auto count = std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
  if (static_cast<size_t>(count) < width) text.append(width - static_cast<size_t>(count), ' ');
  return text;
}

std::string right_aligned(std::string text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace lathe::tool
