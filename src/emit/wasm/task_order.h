// Which tasks of a Parallel nest follow each other. Half of the threads take tasks from the front,
// half from the back, so neighbours tend to be done by one thread, and what it reads should be what
// it wrote before: between caches of two processors data moves slowly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::emit {

// Is asked about the nests of an entry in the order in which they run.
class TaskOrder {
 public:
  explicit TaskOrder(const loop::Module& module)
      : module_(module), written_(module.buffers.size()) {}

  // The place of the loop, among those of a nest from the outermost to the innermost, in whose
  // iterations tasks are numbered first: the one that moves the least between threads.
  size_t slowest(const loop::Kernel& kernel, std::span<const loop::Stmt* const> nest);

 private:
  // How a nest touches a buffer.
  struct Access {
    int32_t buffer;
    bool stored;
    std::vector<int64_t> spans;  // elements from the first to the last iteration, of each loop
  };

  std::vector<Access> accesses(const loop::Kernel& kernel,
                               std::span<const loop::Stmt* const> nest) const;
  double cost(const Access& access, size_t loop) const;

  const loop::Module& module_;
  // Of each buffer: the span of the slowest loop of the nest that wrote it; 0: not known.
  std::vector<int64_t> written_;
};

}  // namespace lathe::emit
