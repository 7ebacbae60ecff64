// The verbs of the command `lathe` and what they share: arguments and files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/models/saved_model.h"

namespace lathe::tool {

// --name, or --name VALUE and --name=VALUE if it takes a value, which `value` describes.
struct Flag {
  std::string_view name;
  std::string_view value = {};  // "FILE", "a|b|c"
  std::string_view what = {};   // one line of help
  bool takes_value() const { return !value.empty(); }
};

// What follows the verb.
class Arguments {
 public:
  static Result<Arguments> parse(std::span<char* const> words, std::span<const Flag> flags,
                                 size_t least_files, size_t most_files);

  const std::vector<std::string>& files() const { return files_; }
  bool has(std::string_view flag) const;
  // The value given last; empty if the flag is absent.
  std::string value(std::string_view flag) const;
  std::vector<std::string> values(std::string_view flag) const;

 private:
  std::vector<std::string> files_;
  std::vector<std::pair<std::string, std::string>> flags_;
};

struct Verb {
  std::string_view name, files, what, more;
  Status (*run)(const Arguments&);
  size_t least_files, most_files;
  std::span<const Flag> flags;
};

std::span<const Verb> verbs();
// "lathe compile MODEL [OPTIONS.json] [FLAG…]".
std::string usage(const Verb& verb);

// The file, or all of standard input where the path is "-". Errors name the file and the system's
// reason.
Result<std::vector<uint8_t>> read_file(const std::string& path);
// The file is the old one or all of the new one; "-" is standard output.
Status write_file(const std::string& path, std::span<const uint8_t> bytes);
void print(std::string_view text);  // to standard output
void warn(std::string_view text);   // to standard error, one line
std::string text_of(const std::vector<uint8_t>& bytes);
// A column of a table.
std::string padded(std::string text, size_t width);
std::string right_aligned(std::string text, size_t width);

bool is_folder(const std::string& path);
// "224,224" of --sizes. Error: something else.
Result<std::vector<int64_t>> sizes_of(const Arguments& arguments);
// A saved model, its folder, or model.json on standard input, whose weight files are then in the
// folder of the process.
Result<models::SavedModel> open_model(const std::string& path, const models::LoadOptions& options);

Status inspect_model(const std::string& path, const std::string& text, const Arguments& arguments);

// The JavaScript module that drives the one at this path, beside it; gives its path.
Result<std::string> write_driver(const std::string& module);

Status wat(const Arguments& arguments);
Status validate(const Arguments& arguments);
Status inspect(const Arguments& arguments);
Status compile(const Arguments& arguments);
Status convert(const Arguments& arguments);
Status passes(const Arguments& arguments);
Status describe(const Arguments& arguments);
Status help(const Arguments& arguments);
Status completion(const Arguments& arguments);

}  // namespace lathe::tool
