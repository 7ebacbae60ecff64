// What a golden file can ask for: `// RUN: NAME --pass=ARGUMENT` looks up NAME here.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lathe::golden {

struct Run {
  std::string_view name;
  // The text that `input` becomes; `argument` is what stands after "--pass=". A refused input gives
  // its message.
  std::string (*run)(std::string_view argument, std::string_view input);
};

std::span<const Run> runs();

}  // namespace lathe::golden
