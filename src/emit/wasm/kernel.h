// One loop kernel -> WebAssembly functions: a single one for one thread, or tasks for several.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "lathe/emit/wasm/function.h"
#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/kernel_functions.h"
#include "lathe/emit/wasm/task_order.h"

namespace lathe::emit_wasm {

// Functions (task: i32) -> () to call one after the other, for every task below `count`.
struct Tasks {
  std::vector<uint32_t> functions;
  uint32_t count = 1;
};
// What threads may do in any order or at once.
using Phase = std::vector<Tasks>;

// A function whose parameters are these bases; it has no results.
struct Callee {
  uint32_t function = 0;
  std::vector<int32_t> bases = {};
};

// Pushes a base that the caller of threads.begin has stored for the threads: i32 number `base`
// after the control block.
void load_base(wasm::FunctionBuilder& code, int32_t base);

class KernelEmitter {
 public:
  KernelEmitter(wasm::ModuleBuilder& module_builder, const loop::Module& module,
                const loop::Kernel& kernel, const Placement& placement, Target target,
                std::vector<Origin>* origins = nullptr)
      : context_(module, kernel, placement, target), functions_(module_builder, kernel, origins) {}

  // The function that runs the kernel.
  Callee emit();
  // The kernel for several threads, which find bases in the memory: each phase waits for the one
  // before it.
  std::vector<Phase> emit_phases(TaskOrder& order);

 private:
  std::set<InductionVariable> bases() const;
  void load_bases(wasm::FunctionBuilder& code, FunctionEmitter& task) const;
  Tasks emit_task(std::span<const loop::Stmt> stmts);
  Tasks emit_parallel(const loop::Stmt& outermost, TaskOrder& order);

  const KernelContext context_;
  KernelFunctions functions_;
};

}  // namespace lathe::emit_wasm
