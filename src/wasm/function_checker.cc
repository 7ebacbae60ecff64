// The type stack, blocks and branches.
#include "lathe/wasm/function_checker.h"

#include <algorithm>
#include <array>

#include "lathe/base/text.h"

namespace lathe::wasm {
namespace {

// The type of an operand of unreachable code: matches every type.
constexpr ValType kAny = ValType{0};
constexpr size_t kMaxPrintedOperands = 8;

std::vector<ValType> with_last(std::span<const ValType> types, ValType last) {
  std::vector<ValType> all(types.begin(), types.end());
  all.push_back(last);
  return all;
}

}  // namespace

FunctionChecker::FunctionChecker(const Module& module, const IndexSpaces& spaces,
                                 const Function& function, int64_t block_type)
    : module_(module), spaces_(spaces), function_(function) {
  frames_.push_back({Opcode::block, block_type, 0, false});
}

Status FunctionChecker::check(const Instruction& instruction) {
  if (done()) return fail(concat(info(instruction.op).text(), " after the end of the function"));
  const OpcodeInfo& row = info(instruction.op);
  LATHE_TRY(check_immediate(row, instruction));
  return row.is_special ? check_special(row, instruction) : check_simple(row, instruction);
}

bool FunctionChecker::matches(Types operands) const {
  const Frame& frame = frames_.back();
  const size_t available = stack_.size() - frame.height;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i >= available) return frame.unreachable;
    const ValType have = top(i);
    const ValType expected = operands[operands.size() - 1 - i];
    if (have != expected && have != kAny && expected != kAny) return false;
  }
  return true;
}

std::unexpected<Error> FunctionChecker::mismatch(Opcode op, Types operands) const {
  Types stack = std::span(stack_).subspan(frames_.back().height);
  const bool is_truncated = stack.size() > std::max(kMaxPrintedOperands, operands.size());
  if (is_truncated) stack = stack.last(std::max(kMaxPrintedOperands, operands.size()));
  return fail(concat(info(op).text(), " expects ", bracketed_types(operands), ", stack is ",
                     is_truncated ? "… " : "", bracketed_types(stack)));
}

ValType FunctionChecker::top(size_t depth) const {
  const size_t available = stack_.size() - frames_.back().height;
  return depth < available ? stack_[stack_.size() - 1 - depth] : kAny;
}

Status FunctionChecker::apply(Opcode op, Types operands, Types results) {
  if (!matches(operands)) return mismatch(op, operands);
  const size_t available = stack_.size() - frames_.back().height;
  stack_.resize(stack_.size() - std::min(available, operands.size()));
  stack_.insert(stack_.end(), results.begin(), results.end());
  return {};
}

Status FunctionChecker::leave(Opcode op, Types operands) {
  if (stack_.size() - frames_.back().height > operands.size()) return mismatch(op, operands);
  return apply(op, operands, {});
}

void FunctionChecker::set_unreachable() {
  stack_.resize(frames_.back().height);
  frames_.back().unreachable = true;
}

Result<FunctionChecker::Signature> FunctionChecker::signature(int64_t block_type) const {
  if (block_type == kEmptyBlock) return Signature{};
  if (block_type < 0) {
    return Signature{{}, single_type(static_cast<ValType>(block_type & 0x7f))};
  }
  if (static_cast<uint64_t>(block_type) >= module_.types.size()) {
    return fail(concat("unknown type ", block_type));
  }
  const FuncType& type = module_.types[block_type];
  return Signature{type.params, type.results};
}

Result<FunctionChecker::Types> FunctionChecker::label_types(uint32_t depth) const {
  if (depth >= frames_.size()) return fail(concat("unknown label ", depth));
  const Frame& frame = frames_[frames_.size() - 1 - depth];
  LATHE_ASSIGN_OR_RETURN(const Signature type, signature(frame.block_type));
  return frame.op == Opcode::loop ? type.params : type.results;
}

Status FunctionChecker::begin_block(const Instruction& instruction) {
  const auto block_type = static_cast<int64_t>(instruction.value);
  LATHE_ASSIGN_OR_RETURN(const Signature type, signature(block_type));
  if (instruction.op == Opcode::if_) {
    LATHE_TRY(apply(instruction.op, with_last(type.params, ValType::i32), {}));
  } else {
    LATHE_TRY(apply(instruction.op, type.params, {}));
  }
  frames_.push_back({instruction.op, block_type, stack_.size(), false});
  return apply(instruction.op, {}, type.params);
}

Status FunctionChecker::begin_else() {
  Frame& frame = frames_.back();
  if (frame.op != Opcode::if_) return fail("else without if");
  LATHE_ASSIGN_OR_RETURN(const Signature type, signature(frame.block_type));
  LATHE_TRY(leave(Opcode::else_, type.results));
  frame.op = Opcode::else_;
  frame.unreachable = false;
  return apply(Opcode::else_, {}, type.params);
}

Status FunctionChecker::end_block() {
  const Frame& frame = frames_.back();
  LATHE_ASSIGN_OR_RETURN(const Signature type, signature(frame.block_type));
  if (frame.op == Opcode::if_ && !std::ranges::equal(type.params, type.results)) {
    return fail(concat("the results of an if without else must be its parameters, ",
                       bracketed_types(type.params), ", not ", bracketed_types(type.results)));
  }
  LATHE_TRY(leave(Opcode::end, type.results));
  frames_.pop_back();
  stack_.insert(stack_.end(), type.results.begin(), type.results.end());
  return {};
}

Status FunctionChecker::branch(const Instruction& instruction) {
  LATHE_ASSIGN_OR_RETURN(const Types types, label_types(instruction.index));
  if (instruction.op == Opcode::br_if) {
    return apply(instruction.op, with_last(types, ValType::i32), types);
  }
  LATHE_TRY(apply(instruction.op, types, {}));
  set_unreachable();
  return {};
}

Status FunctionChecker::branch_table(const Instruction& instruction) {
  const uint32_t* labels = function_.code.labels.data() + instruction.index;
  LATHE_ASSIGN_OR_RETURN(const Types otherwise, label_types(labels[instruction.second]));
  for (uint32_t i = 0; i <= instruction.second; ++i) {
    LATHE_ASSIGN_OR_RETURN(const Types types, label_types(labels[i]));
    if (types.size() != otherwise.size()) {
      return fail("the labels of br_table have different numbers of operands");
    }
    const std::vector<ValType> operands = with_last(types, ValType::i32);
    if (!matches(operands)) return mismatch(instruction.op, operands);
  }
  set_unreachable();
  return {};
}

// Without an explicit type both operands must be numbers or vectors (core specification 3.3.2.2).
Status FunctionChecker::select() {
  const ValType type = top(1) == kAny ? top(2) : top(1);
  if (is_reference(type)) return fail("select of references needs a type");
  return apply(Opcode::select, std::array{type, type, ValType::i32}, std::array{type});
}

Status FunctionChecker::call(const Instruction& instruction, bool is_tail) {
  const bool is_indirect = info(instruction.op).immediate == Immediate::TypeTable;
  const uint32_t type_index =
      is_indirect ? instruction.index : spaces_.function_types[instruction.index];
  LATHE_ASSIGN_OR_RETURN(const Signature type, signature(type_index));
  std::vector<ValType> operands(type.params.begin(), type.params.end());
  if (is_indirect) {
    const TableType& table = spaces_.tables[instruction.second];
    if (table.element != ValType::funcref) {
      return fail(concat(info(instruction.op).text(), " expects a table of funcref"));
    }
    operands.push_back(table.limits.address_type());
  }
  if (!is_tail) return apply(instruction.op, operands, type.results);
  LATHE_ASSIGN_OR_RETURN(const Signature signature_of_function,
                         signature(frames_.front().block_type));
  if (!std::ranges::equal(signature_of_function.results, type.results)) {
    return fail(concat(info(instruction.op).text(), " returns ", bracketed_types(type.results),
                       ", the function returns ", bracketed_types(signature_of_function.results)));
  }
  LATHE_TRY(apply(instruction.op, operands, {}));
  set_unreachable();
  return {};
}

Status FunctionChecker::check_plain(const Instruction& instruction) {
  switch (instruction.op) {
    case Opcode::unreachable:
      set_unreachable();
      return {};
    case Opcode::else_:
      return begin_else();
    case Opcode::end:
      return end_block();
    case Opcode::return_: {
      LATHE_ASSIGN_OR_RETURN(const Signature signature_of_function,
                             signature(frames_.front().block_type));
      LATHE_TRY(apply(instruction.op, signature_of_function.results, {}));
      set_unreachable();
      return {};
    }
    case Opcode::drop:
      return apply(instruction.op, std::array{kAny}, {});
    case Opcode::select:
      return select();
    case Opcode::ref_is_null: {
      const ValType type = top(0);
      if (type != kAny && !is_reference(type)) {
        return mismatch(instruction.op, std::array{ValType::externref});
      }
      return apply(instruction.op, std::array{type}, single_type(ValType::i32));
    }
    default:  // all others have a signature in the table
      return fail(concat("no typing rule for ", info(instruction.op).text()));
  }
}

}  // namespace lathe::wasm
