// The meaning of loop programs, executed slowly: the oracle for passes and targets. Schedules make
// no difference to it, but threads that get in each other's way are an error.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// The global buffers of a module. Constants are initialized with their data, all others with zeros.
class Memory {
 public:
  explicit Memory(const Module& module);

  std::span<std::byte> bytes(int32_t buffer) { return buffers_[buffer].bytes; }
  template <class T>
  std::span<T> view(int32_t buffer) {
    const std::span<std::byte> all = bytes(buffer);
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }

  // Whether a run met a NaN, an infinity or a subnormal number; WGSL leaves open what they become.
  bool met_irregular() const { return met_irregular_; }

 private:
  friend class Interpreter;
  struct Storage {
    DType dtype = DType::F32;
    std::vector<std::byte> bytes;
  };

  std::vector<Storage> buffers_;
  bool met_irregular_ = false;
};

// Runs one entry of a module that verifies. Temporaries and registers start with values that spoil
// a result (NaN, -1, true). Subgroups have this many threads. Errors: no such entry; an access
// outside its buffer; a race of threads; more subgroups than a loop has iterations.
Status run(const Module& module, std::string_view entry, Memory& memory,
           int64_t subgroup_threads = kMinSubgroup);

}  // namespace lathe::loop
