// The folder that the runners read: a line of manifest.jsonl and a file of bytes for each subject.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "schedules.h"
#include "subject.h"

namespace lathe::random_tests {

class Folder {
 public:
  explicit Folder(std::filesystem::path path);

  // The expected outcome of each entry for the subject's inputs and states.
  void add(const Subject& subject, const std::vector<Outcome>& outcomes,
           const std::vector<Variant>& variants);
  // The same as shaders.
  void add_shaders(const Subject& subject, const std::vector<Outcome>& outcomes,
                   const compile::Executable& shaders);
  void write() const;

  // The number of elements to compare, and of those whose value is undetermined.
  int64_t elements() const { return elements_; }
  int64_t unknown() const { return unknown_; }

 private:
  // The members of a line before those of programs.
  std::string begin_line(const Subject& subject, const std::vector<Outcome>& outcomes,
                         std::string& bytes);
  void end_line(const Subject& subject, std::string_view line, const std::string& bytes);
  std::string json_expected(const Named& named, std::string& bytes);

  std::filesystem::path path_;
  std::string lines_;
  int64_t elements_ = 0, unknown_ = 0;
};

}  // namespace lathe::random_tests
