// The verbs of the command `lathe` and what they share: arguments and files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/result.h"

namespace lathe::tool {

// --name, or --name VALUE and --name=VALUE if it takes a value.
struct Flag {
  std::string_view name;
  bool takes_value = false;
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

// Errors name the file and the system's reason.
Result<std::vector<uint8_t>> read_file(const std::string& path);
// The file is the old one or all of the new one.
Status write_file(const std::string& path, std::span<const uint8_t> bytes);
void print(std::string_view text);  // to standard output

Status wat(const Arguments& arguments);
Status validate(const Arguments& arguments);
Status inspect(const Arguments& arguments);
Status compile(const Arguments& arguments);
Status passes(const Arguments& arguments);
Status describe(const Arguments& arguments);

}  // namespace lathe::tool
