// Which GPU buffers a kernel binds, and how its code addresses the buffers of the loop module in
// them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/emit/wgsl/layout.h"
#include "lathe/emit/wgsl/limits.h"
#include "lathe/loop/loop.h"

namespace lathe::emit_wgsl {

struct Binding {
  Region region;
  std::string_view type;  // of its elements
  bool is_written = false;
  // Whether threads write parts of its words, which are u32.
  bool is_atomic = false;

  // WebGPU refuses a dispatch that binds parts of one buffer for reading and for writing.
  bool is_read_write() const { return is_written || region.holder == Holder::Scratch; }
};

// Around a kernel that has more ports than it may bind.
struct Copy {
  Region from, to;
};

// Each buffer of the kernel has a binding. If these are more than the device allows, temporaries
// of a page share one, an array of u32, then so do constants, and then ports, smallest first, are
// copied to scratch memory before the kernel, and back after it if the kernel writes them. Bindings
// are numbered by first use, so that equal kernels on other buffers bind alike.
class Bindings {
 public:
  // Copies use scratch memory from `free`, a multiple of 256, to scratch_end().
  Bindings(const loop::Module& module, const Layout& layout, const loop::Kernel& kernel,
           const Limits& limits, uint64_t free);

  // How the code addresses a buffer of the module that the kernel reads or writes.
  struct Access {
    int32_t binding = -1;
    int64_t offset = 0;      // elements
    bool is_packed = false;  // the binding has words of several buffers
  };
  const Access& operator[](int32_t buffer) const;

  const std::vector<Binding>& list() const { return list_; }
  const std::vector<Copy>& before() const { return before_; }
  const std::vector<Copy>& after() const { return after_; }
  uint64_t scratch_end() const { return scratch_end_; }

 private:
  struct Used {
    int32_t buffer;
    bool is_written;
    Region region;
    Access access = {};
  };
  void find_used(const std::vector<loop::Stmt>& body);
  void add(loop::BufferRef ref, bool is_written);
  bool is_packed(const Used& used) const;
  int64_t count() const;
  void stage(Used& used);
  void number();
  loop::DType dtype_of(const Used& used) const;

  const loop::Module& module_;
  const Layout& layout_;
  const loop::Kernel& kernel_;
  std::vector<Used> used_;  // in the order of first use
  bool packs_scratch_ = false, packs_constants_ = false;
  std::vector<Binding> list_;
  std::vector<Copy> before_, after_;
  const uint64_t page_bytes_;
  uint64_t scratch_end_;
};

}  // namespace lathe::emit_wgsl
