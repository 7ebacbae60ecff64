// What is known of the expressions of the statement that is being emitted: how often it uses each,
// which vary from lane to lane, and the locals of those that it computes once and uses again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lathe/base/table.h"
#include "lathe/emit/wasm/address_emitter.h"
#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/locals.h"

namespace lathe::emit_wasm {

class StatementValues {
 public:
  StatementValues(const KernelContext& context, wasm::FunctionBuilder& code, Locals& locals,
                  const AddressEmitter& addresses)
      : context_(context), code_(code), locals_(locals), addresses_(addresses) {}

  // All other functions apply to the statement between these calls.
  void begin(const loop::Stmt& stmt);
  void end();

  // The expressions that it computes, each once.
  std::span<const loop::ExprId> reached() const { return reached_; }
  // Whether lanes of the open Vector loop may have different values.
  bool varies(loop::ExprId id);
  // Pushes the value, as a vector or a scalar, if it is saved.
  bool reload(loop::ExprId id, bool vector);
  // Saves the value on the stack, and leaves it there, if the statement uses it several times.
  void save(loop::ExprId id, bool vector, wasm::ValType type);
  // Calls `emit`, which emits the code of a branch. Values that are saved in it are not available
  // after it.
  template <class Emit>
  void in_branch(const Emit& emit) {
    std::vector<Key> saved;
    auto* const outer = std::exchange(saved_in_branch_, &saved);
    emit();
    saved_in_branch_ = outer;
    for (const Key& key : saved) forget(key);
  }

 private:
  using Key = std::pair<loop::ExprId, bool>;
  void forget(const Key& key);

  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  const AddressEmitter& addresses_;
  std::vector<loop::ExprId> reached_;
  Table<loop::ExprId, int> uses_;                    // by expression; zero unless reached
  Table<loop::ExprId, std::optional<bool>> varies_;  // by expression; nothing unless reached
  std::map<Key, std::pair<wasm::ValType, uint32_t>> saved_;
  std::vector<Key>* saved_in_branch_ = nullptr;  // null outside of one
};

}  // namespace lathe::emit_wasm
