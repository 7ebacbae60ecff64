// Pairs of 16-bit integers in vectors: read from memory with few instructions, multiplied and added
// by one. It owns the vectors that one copy of an unrolled loop loads for the next one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "lathe/emit/wasm/address_emitter.h"
#include "lathe/emit/wasm/constants.h"
#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/loop/analysis/pairs.h"

namespace lathe::emit_wasm {

class ExpressionEmitter;

class PairEmitter {
 public:
  PairEmitter(const KernelContext& context, wasm::FunctionBuilder& code, Locals& locals,
              AddressEmitter& addresses, VectorConstants& constants, ExpressionEmitter& expressions)
      : context_(context),
        code_(code),
        locals_(locals),
        addresses_(addresses),
        constants_(constants),
        expressions_(expressions) {}

  // Emits a vector of pairs. False: the expression matches no pattern, and nothing is emitted.
  bool emit(loop::ExprId id);
  // The same of shift_left(x, 16) of 16-bit integers in memory, which are interleaved with zeros
  // directly.
  bool load_high_words(const loop::Expr& expr);

  // Forgets what is loaded in advance: must be called before memory changes and at the bounds of
  // loops and conditional bodies.
  void drop();
  // Whether the code is inside an If or a When, where nothing is loaded in advance.
  bool is_conditional() const { return is_conditional_; }
  void set_conditional(bool value) { is_conditional_ = value; }

 private:
  // Vectors loaded in advance for the next copy of an unrolled loop, where its variables have these
  // values.
  struct Next {
    std::pair<const loop::Expr*, const loop::Expr*> of;
    std::map<loop::VarId, int64_t> at;
    uint32_t low, high;  // locals
  };

  bool bits_of_pairs(const loop::Expr& expr);
  bool load_pairs(const loop::Pair& pair);
  void load_interleaved_pairs(const loop::Expr* low, const loop::Expr& high);
  bool load_shifted_pairs(const loop::Expr& expr);
  void load_pair_vector(const loop::Expr& from, wasm::Opcode of_bytes, wasm::Opcode of_words);
  const loop::Expr* memory_operand(loop::ExprId half) const;
  std::optional<loop::VarId> var_of_next(const loop::Expr* low, const loop::Expr& high,
                                         int64_t step) const;
  bool has_next(const loop::Expr* low, const loop::Expr& high);
  void save_next(const loop::Expr* low, const loop::Expr& high, loop::VarId var);
  void next_interleaved(int first);

  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  AddressEmitter& addresses_;
  VectorConstants& constants_;
  ExpressionEmitter& expressions_;
  std::optional<Next> next_;
  bool is_conditional_ = false;
};

}  // namespace lathe::emit_wasm
