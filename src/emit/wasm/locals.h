// The locals of a function under construction that hold intermediate values.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lathe/wasm/assembler.h"

namespace lathe::emit_wasm {

class Locals {
 public:
  explicit Locals(wasm::FunctionBuilder& code) : code_(code) {}

  // A local of this type that is not in use: one that was released, otherwise a new one.
  uint32_t acquire(wasm::ValType type) {
    auto& free = free_[type];
    if (free.empty()) return code_.add_local(type);
    const uint32_t local = free.back();
    free.pop_back();
    return local;
  }
  void release(wasm::ValType type, uint32_t local) { free_[type].push_back(local); }

 private:
  wasm::FunctionBuilder& code_;
  std::map<wasm::ValType, std::vector<uint32_t>> free_;
};

}  // namespace lathe::emit_wasm
