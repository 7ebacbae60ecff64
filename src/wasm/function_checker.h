// Types the instructions of one function body, one at a time: the algorithm of the core
// specification's appendix "Validation Algorithm". The validator runs it over finished bodies, the
// assembler while a body is being built.
#pragma once

#include "lathe/base/result.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

class FunctionChecker {
 public:
  // The three must outlive the checker and may grow while it runs. `block_type` determines the
  // results, as in a block.
  FunctionChecker(const Module& module, const IndexSpaces& spaces, const Function& function,
                  int64_t block_type);

  // An error changes nothing, so that the message can show the stack.
  Status check(const Instruction& instruction);
  // The `end` of the function itself has been checked.
  bool done() const { return frames_.empty(); }
  std::span<const ValType> stack() const { return stack_; }

 private:
  using Types = std::span<const ValType>;
  struct Signature {
    Types params;
    Types results;
  };
  struct Frame {
    Opcode op;
    int64_t block_type;
    size_t height;
    bool unreachable;
  };

  Status check_immediate(const OpcodeInfo& row, const Instruction& instruction) const;
  Status check_memory_access(const OpcodeInfo& row, const Instruction& instruction) const;
  Status check_simple(const OpcodeInfo& row, const Instruction& instruction);
  Status check_special(const OpcodeInfo& row, const Instruction& instruction);
  Status check_plain(const Instruction& instruction);
  Status check_function(const Instruction& instruction);
  Status check_local(const Instruction& instruction);
  Status check_global(const Instruction& instruction);
  Status check_table(const Instruction& instruction);
  Status check_copy(const Instruction& instruction);

  Status begin_block(const Instruction& instruction);
  Status begin_else();
  Status end_block();
  Status branch(const Instruction& instruction);
  Status branch_table(const Instruction& instruction);
  Status select();
  Status call(const Instruction& instruction, bool is_tail);

  // Pops the operands and pushes the results.
  Status apply(Opcode op, Types operands, Types results);
  // The operands must be all that the block has.
  Status leave(Opcode op, Types operands);
  bool matches(Types operands) const;
  std::unexpected<Error> mismatch(Opcode op, Types operands) const;
  ValType top(size_t depth) const;
  void set_unreachable();

  Result<Signature> signature(int64_t block_type) const;
  Result<Types> label_types(uint32_t depth) const;
  Result<ValType> local_type(uint32_t index) const;
  Result<ValType> address_type(const OpcodeInfo& row, const Instruction& instruction) const;

  const Module& module_;
  const IndexSpaces& spaces_;
  const Function& function_;
  std::vector<ValType> stack_;
  std::vector<Frame> frames_;
};

}  // namespace lathe::wasm
