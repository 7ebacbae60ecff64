// Register buffers as locals: vectors where lanes address the buffer, otherwise a scalar per
// element. It owns the locals of each buffer in one function.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/lanes.h"

namespace lathe::emit_wasm {

class RegisterEmitter {
 public:
  RegisterEmitter(const KernelContext& context, wasm::FunctionBuilder& code, LaneEmitter& lanes)
      : context_(context), code_(code), lanes_(lanes) {}

  // The local that is the element, or the vector that contains it.
  uint32_t local_of(loop::BufferRef buffer, int64_t element);
  void push(loop::BufferRef buffer, int64_t element);
  // The elements of a vector register from `first` on: one of its vectors, or the end of one and
  // the beginning of the next.
  void push_vector(loop::BufferRef buffer, int64_t first);
  // A row of a 4x4 transpose: lane first % 4 of each of the four vectors from first / 4 on.
  void push_transposed_vector(loop::BufferRef buffer, int64_t first);

 private:
  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  LaneEmitter& lanes_;
  std::map<int32_t, std::vector<uint32_t>> locals_;
};

}  // namespace lathe::emit_wasm
