// The verbs of the command `lathe` and what they share: arguments and files.
#pragma once

#include <cstdint>
#include <cstdio>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/compile/compile.h"
#include "lathe/models/saved_model.h"

namespace lathe::tool {

// Why a verb fails: wrong use of the command, or else its input. Without a message it has been
// reported.
struct Failure {
  std::string message;
  bool is_wrong_use = false;

  Failure(std::string text, bool is_use) : message(std::move(text)), is_wrong_use(is_use) {}
  Failure(Error error) : message(std::move(error.message)) {}
};

template <class T>
using Outcome = std::expected<T, Failure>;

std::unexpected<Failure> wrong_use(std::string message);

// What the value of a flag means; an error is wrong use.
template <class T>
Outcome<T> of_flag(const Result<T>& value) {
  if (!value) return wrong_use(value.error().message);
  return value;
}

// --name, or --name VALUE and --name=VALUE if it has a value, which `value` describes.
struct Flag {
  std::string_view name;
  std::string_view value = {};  // "FILE", "a|b|c"; "[NAME,…]" may be empty
  std::string_view what = {};   // one line of help
  bool expects_value() const { return !value.empty(); }
};

// "; did you mean …?" with the name of the least edit distance, at most two or a third of its
// letters; "" where there is none.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

// What follows the verb.
class Arguments {
 public:
  static Outcome<Arguments> parse(std::span<char* const> words, std::span<const Flag> flags,
                                  size_t min_files, size_t max_files);

  const std::vector<std::string>& files() const { return files_; }
  bool has(std::string_view flag) const;
  // The last value of the flag; empty if the flag is absent.
  std::string value(std::string_view flag) const;
  std::vector<std::string> values(std::string_view flag) const;

 private:
  std::vector<std::string> files_;
  std::vector<std::pair<std::string, std::string>> flags_;
};

struct Verb {
  std::string_view name, files, what, more;
  Outcome<void> (*run)(const Arguments&);
  size_t min_files, max_files;
  std::span<const Flag> flags;
};

std::span<const Verb> verbs();
// "lathe compile MODEL [OPTIONS.json] [FLAG…]".
std::string usage(const Verb& verb);

// The file, or all of standard input where the path is "-"; pipes may be read repeatedly. Errors
// name the file and the system's reason.
Result<std::vector<uint8_t>> read_file(const std::string& path);
// A file is the old one or all of the new one. Links, pipes and devices stay what they are: what
// they lead to is replaced. "-" is standard output.
Status write_file(const std::string& path, std::span<const uint8_t> bytes);
// One line: what would end it, control the terminal or hide from a reader is escaped.
void print_line(std::string_view text, std::FILE* to = stdout);
// The same for a text of lines, none of which has strings of a file unless they are quoted.
void print_text(std::string_view text, std::FILE* to = stdout);
// JSON on one line, with the same characters as JSON escapes them.
void print_json_line(std::string_view json);
void warn(std::string_view text);  // to standard error, one line
std::string text_of(const std::vector<uint8_t>& bytes);
// A column of a table.
std::string padded(std::string text, size_t width);
std::string right_aligned(std::string text, size_t width);

bool is_folder(const std::string& path);
// The first ONNX model in a folder; "" if there is none.
std::string onnx_in_folder(const std::string& folder);
// model.json in a folder, or else the path itself. Error: a folder without it, and what it has.
Result<std::string> model_file(const std::string& path);
// "224,224" of --sizes. Error: something else.
Outcome<std::vector<int64_t>> sizes_of(const Arguments& arguments);
// A saved model, its folder, or model.json on standard input, whose weight files are then in the
// folder of the process.
Result<models::SavedModel> open_model(const std::string& path, const models::LoadOptions& options);

// Error: the file begins like one that is neither a model nor a module, and what that is.
Status reject_other_formats(const std::string& path, const std::vector<uint8_t>& bytes);

Outcome<void> inspect_model(const std::string& path, const std::string& text,
                            const Arguments& arguments);

// The path of the JavaScript module that drives the one at this path, next to it. Error: the path
// does not determine it.
Outcome<std::string> driver_path(const std::string& module);
Status write_driver(const std::string& driver, const std::string& module);

// The compiler options of the flags, for every kind of model.
Outcome<void> read_options(const Arguments& arguments, const compile::Target& target,
                           compile::Options& options);
void print_times(const compile::Executable& executable, std::FILE* to);
// Writes the module to the file of -o, and prints its times and sizes.
Outcome<void> write_module(const Arguments& arguments, const compile::Executable& executable);

Outcome<void> wat(const Arguments& arguments);
Outcome<void> validate(const Arguments& arguments);
Outcome<void> inspect(const Arguments& arguments);
Outcome<void> compile(const Arguments& arguments);
Outcome<void> convert(const Arguments& arguments);
Outcome<void> run_model(const Arguments& arguments);
Outcome<void> passes(const Arguments& arguments);
Outcome<void> operators(const Arguments& arguments);
Outcome<void> describe(const Arguments& arguments);
Outcome<void> help(const Arguments& arguments);
Outcome<void> completion(const Arguments& arguments);

}  // namespace lathe::tool
