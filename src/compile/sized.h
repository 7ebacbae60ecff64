// Programs with names for sizes: each binding of the names is a program of fixed shapes, compiled
// on first use and cached.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/compile/compile.h"

namespace lathe::compile {

// The values of the names; sums, products and quotients of them are those of integers.
class Sizes {
 public:
  using Map = std::map<std::string, int64_t, std::less<>>;

  explicit Sizes(Map values) : values_(std::move(values)) {}

  // The size of this name, which must be one of the program's.
  int64_t operator[](std::string_view name) const;

 private:
  Map values_;
};

//     SizedProgram program({"rows"}, [](const Sizes& sizes) -> Result<graph::Program> {
//       graph::Builder b("run");
//       b.output("y", exp(b.input("x", DType::F32, {sizes["rows"], 64})));
//       …
//     });
//     auto executable = program.bind({{"rows", 7}});
class SizedProgram {
 public:
  // Builds the program for these sizes; equal sizes must yield the same program.
  using Build = std::function<Result<graph::Program>(const Sizes& sizes)>;

  // Caches up to `max_bytes` of executables (code and constants), and always the last one; those
  // least recently used are evicted first.
  SizedProgram(std::vector<std::string> names, Build build, Options options = {},
               uint64_t max_bytes = uint64_t{64} << 20);

  // The executable for these sizes. Errors: a name that is missing or unknown, a size below 0;
  // those of building and compiling, followed by the sizes.
  Result<std::shared_ptr<const Executable>> bind(Sizes::Map sizes);

  size_t cached() const { return cache_.size(); }

 private:
  struct CacheEntry {
    std::vector<int64_t> sizes;  // in the order of the names
    std::shared_ptr<const Executable> executable;
    uint64_t bytes;
  };

  Result<std::vector<int64_t>> key_of(const Sizes::Map& sizes) const;

  std::vector<std::string> names_;
  Build build_;
  Options options_;
  uint64_t max_bytes_, bytes_ = 0;
  std::list<CacheEntry> cache_;  // in LRU order
};

}  // namespace lathe::compile
