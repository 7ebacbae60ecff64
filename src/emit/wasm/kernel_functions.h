// The functions that one kernel becomes, and where each of their instructions comes from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/base/text.h"
#include "lathe/emit/wasm/origins.h"
#include "lathe/loop/loop.h"
#include "lathe/wasm/assembler.h"

namespace lathe::emit_wasm {

class KernelFunctions {
 public:
  // `origins`: where they are recorded; null: they are not.
  KernelFunctions(wasm::ModuleBuilder& module_builder, const loop::Kernel& kernel,
                  std::vector<Origin>* origins)
      : module_builder_(module_builder), kernel_(kernel), origins_(origins) {}

  // Functions of so many i32 parameters without results: the kernel as a whole, the body of an
  // outlined loop, a task.
  wasm::FunctionBuilder& add_whole(size_t params) { return add(kernel_.name, params); }
  wasm::FunctionBuilder& add_body(size_t params) {
    return add(concat(kernel_.name, ".body", body_count_++), params);
  }
  wasm::FunctionBuilder& add_task() { return add(concat(kernel_.name, ".task", task_count_++), 1); }

  // What follows in the function comes from this statement; null: from none.
  void mark(const wasm::FunctionBuilder& code, const loop::Stmt* statement) {
    if (origins_ == nullptr) return;
    origins_->push_back({code.index(), code.instruction_count(), &kernel_, statement});
  }

 private:
  wasm::FunctionBuilder& add(std::string name, size_t params) {
    return module_builder_.add_function(std::move(name),
                                        std::vector<wasm::ValType>(params, wasm::ValType::i32), {});
  }

  wasm::ModuleBuilder& module_builder_;
  const loop::Kernel& kernel_;
  std::vector<Origin>* const origins_;
  int body_count_ = 0;
  int task_count_ = 0;
};

}  // namespace lathe::emit_wasm
