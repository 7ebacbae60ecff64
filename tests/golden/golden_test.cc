// Runs golden files: a first line `// RUN: NAME --pass=ARGUMENT`, an input, a line `// ----`, and
// the text expected of it. --update rewrites the expected part.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runs.h"

namespace lathe::golden {
namespace {

constexpr std::string_view kRunPrefix = "// RUN: ";
constexpr std::string_view kSeparator = "// ----\n";

struct Counts {
  int passed = 0, failed = 0, skipped = 0;
};

struct Case {
  std::string head;  // all up to and with the separator
  std::string name, argument, input, expected;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// False if the file is no golden file.
bool split(const std::string& text, Case& out) {
  if (!text.starts_with(kRunPrefix)) return false;
  const size_t line = text.find('\n');
  const size_t separator = text.find(std::string("\n") + std::string(kSeparator));
  if (line == std::string::npos || separator == std::string::npos) return false;
  const std::string run = text.substr(kRunPrefix.size(), line - kRunPrefix.size());
  const size_t pass = run.find(" --pass=");
  out.name = run.substr(0, pass);
  if (pass != std::string::npos) out.argument = run.substr(pass + 8);
  out.head = text.substr(0, separator + 1 + kSeparator.size());
  // The RUN line stays a comment of the input, so that errors count lines of the file.
  out.input = text.substr(0, separator + 1);
  out.expected = text.substr(out.head.size());
  return true;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// What differs between the first and the last line that do.
void print_difference(const std::string& expected, const std::string& got) {
  const auto wanted = lines_of(expected), found = lines_of(got);
  size_t start = 0, end = 0;
  const size_t shorter = std::min(wanted.size(), found.size());
  while (start < shorter && wanted[start] == found[start]) ++start;
  while (end < shorter - start &&
         wanted[wanted.size() - 1 - end] == found[found.size() - 1 - end]) {
    ++end;
  }
  for (size_t i = start; i < wanted.size() - end; ++i) std::printf("  - %s\n", wanted[i].c_str());
  for (size_t i = start; i < found.size() - end; ++i) std::printf("  + %s\n", found[i].c_str());
}

void check(const std::filesystem::path& path, const std::string& shown, bool update,
           Counts& counts) {
  Case golden;
  if (!split(read(path), golden)) {
    std::printf("%s: no `// RUN: ` line or no `// ----` line\n", shown.c_str());
    ++counts.failed;
    return;
  }
  const auto all = runs();
  const auto run = std::ranges::find(all, golden.name, &Run::name);
  if (run == all.end()) {
    std::printf("%s: skipped, this program has no run \"%s\"\n", shown.c_str(),
                golden.name.c_str());
    ++counts.skipped;
    return;
  }
  const std::string got = run->run(golden.argument, golden.input);
  if (got == golden.expected) {
    ++counts.passed;
  } else if (update) {
    std::ofstream(path, std::ios::binary) << golden.head << got;
    std::printf("%s: updated\n", shown.c_str());
    ++counts.passed;
  } else {
    std::printf("%s: FAILED\n", shown.c_str());
    print_difference(golden.expected, got);
    ++counts.failed;
  }
}

int run_all(const std::filesystem::path& folder, bool update) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto& path = entry.path();
    if (path.extension() == ".txt" && path.filename() != "CMakeLists.txt") files.push_back(path);
  }
  std::ranges::sort(files);
  Counts counts;
  for (const auto& file : files) {
    check(file, file.lexically_relative(folder).string(), update, counts);
  }
  std::printf("%d passed, %d failed, %d skipped\n", counts.passed, counts.failed, counts.skipped);
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace lathe::golden

int main(int argc, char** argv) {
  bool update = false;
  std::string folder = GOLDEN_FOLDER;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update") {
      update = true;
    } else {
      folder = argv[i];
    }
  }
  return lathe::golden::run_all(folder, update);
}
