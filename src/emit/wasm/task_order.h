// The order of the tasks of a Parallel nest. Half of the threads dequeue tasks from the front, half
// from the back, so neighbours tend to be executed by one thread, which should read what it wrote
// before: transfers between the caches of two processors are slow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lathe/base/table.h"
#include "lathe/loop/loop.h"

namespace lathe::emit_wasm {

// Must be called for the nests of an entry in the order in which they run.
class TaskOrder {
 public:
  explicit TaskOrder(const loop::Module& module)
      : module_(module), stored_spans_(module.buffers.size()) {}

  // The index, in `nest` (outermost first), of the loop whose iteration is the slowest-varying part
  // of task numbers: the one that transfers the least data between threads.
  size_t slowest(const loop::Kernel& kernel, std::span<const loop::Stmt* const> nest);

 private:
  // How a nest accesses a buffer.
  struct Access {
    int32_t buffer;
    bool stored;
    std::vector<int64_t> spans;  // elements from the first to the last iteration, of each loop
  };

  std::vector<Access> accesses(const loop::Kernel& kernel,
                               std::span<const loop::Stmt* const> nest) const;
  double cost(const Access& access, size_t loop) const;

  const loop::Module& module_;
  // By buffer: the span of the slowest loop of the nest that wrote it; 0: unknown.
  Table<loop::BufferId, int64_t> stored_spans_;
};

}  // namespace lathe::emit_wasm
