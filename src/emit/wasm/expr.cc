// Expressions of the loop IR as instructions on one number or on the lanes of a vector. A Bool is 0
// or 1 as a number and a mask of ones as a lane; integers shorter than a lane fill it.
#include <cstring>

#include "lathe/base/check.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit_wasm {

using loop::DType;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using wasm::Opcode;
using wasm::ValType;

namespace {

wasm::V128 repeat_64_bits(uint64_t bits) {
  const uint64_t pair[] = {bits, bits};
  wasm::V128 bytes;
  std::memcpy(bytes.data(), pair, sizeof pair);
  return bytes;
}

}  // namespace

uint64_t half_of_vector(const loop::Number& number) {
  if (number.dtype == DType::Bool) return number.i != 0 ? ~uint64_t{0} : 0;
  if (lane_size(number.dtype) == 8) return number.bits();
  // Shorter integers fill their lanes.
  const auto lane =
      static_cast<uint32_t>(scalar::is_float(number.dtype) ? number.bits() : number.i);
  return uint64_t{lane} << 32 | lane;
}

wasm::V128 vector_of(const loop::Number& number) { return repeat_64_bits(half_of_vector(number)); }

DType KernelEmitter::dtype_of(loop::BufferRef buffer) const {
  const auto id = static_cast<size_t>(buffer.id);
  return buffer.space == loop::Space::Global ? module_.buffers[id].dtype
                                             : kernel_.registers[id].dtype;
}

bool KernelEmitter::is_vector_register(loop::BufferRef buffer) const {
  return vector_registers_[static_cast<size_t>(buffer.id)];
}

std::vector<uint32_t>& KernelEmitter::register_locals(loop::BufferRef buffer) {
  auto& locals = scope_.registers[buffer.id];
  if (locals.empty()) {
    const int64_t size = kernel_.registers[static_cast<size_t>(buffer.id)].size;
    const bool vector = is_vector_register(buffer);
    const int64_t count = vector ? (size + lanes_ - 1) / lanes_ : size;
    const ValType type = vector ? ValType::v128 : wasm_type(dtype_of(buffer)).type;
    for (int64_t i = 0; i < count; ++i) locals.push_back(code().add_local(type));
  }
  return locals;
}

bool KernelEmitter::varies(ExprId id) {
  auto& cached = varies_[static_cast<size_t>(id)];
  if (cached) return *cached;
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  bool result = expr.address.coefficient(fixed_.lane) != 0;
  for (const loop::Guard& guard : expr.guards) {
    result = result || guard.index.coefficient(fixed_.lane) != 0;
  }
  for (int i = 0; i < expr.operand_count(); ++i) {
    result = result || varies(expr.operands[static_cast<size_t>(i)]);
  }
  return *(cached = result);
}

bool KernelEmitter::reload_saved(ExprId id, bool vector) {
  const auto found = saved_.find({id, vector});
  if (found == saved_.end()) return false;
  code().op_index(Opcode::local_get, found->second.second);
  return true;
}

// A value that the statement uses several times is saved in a local.
void KernelEmitter::save(ExprId id, bool vector, ValType type) {
  if (uses_[static_cast<size_t>(id)] < 2) return;
  const uint32_t local = acquire(type);
  saved_[{id, vector}] = {type, local};
  if (saved_in_branch_ != nullptr) saved_in_branch_->push_back({id, vector});
  code().op_index(Opcode::local_tee, local);
}

void KernelEmitter::emit_scalar(ExprId id) {
  if (reload_saved(id, false)) return;
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  switch (expr.kind) {
    case ExprKind::Constant:
      return scalar_constant(expr.constant);
    case ExprKind::Index:
      push_index(expr.address);
      break;
    case ExprKind::Load:
      scalar_load(expr);
      break;
    case ExprKind::Apply:
      scalar_apply(expr);
      break;
    case ExprKind::Cast:
      scalar_cast(expr);
      break;
  }
  save(id, false, wasm_type(expr.dtype).type);
}

void KernelEmitter::emit_vector(ExprId id) {
  if (reload_saved(id, true)) return;
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  if (expr.kind == ExprKind::Constant) return vector_constant(expr.constant);
  if (vector_pairs(id)) return save(id, true, ValType::v128);
  if (!varies(id)) {
    if (const auto hoisted = scope_.splats.find(id); hoisted != scope_.splats.end()) {
      code().op_index(Opcode::local_get, hoisted->second);
      return;
    }
    emit_splat(id);
  } else {
    switch (expr.kind) {
      case ExprKind::Constant:
        break;
      case ExprKind::Index:
        vector_index(expr);
        break;
      case ExprKind::Load:
        vector_load(expr);
        break;
      case ExprKind::Apply:
        vector_apply(expr);
        break;
      case ExprKind::Cast:
        vector_cast(expr);
        break;
    }
  }
  save(id, true, ValType::v128);
}

void KernelEmitter::scalar_constant(const loop::Number& number) {
  switch (wasm_type(number.dtype).type) {
    case ValType::f32:
      code().f32_const(number.f);
      return;
    case ValType::f64:
      code().f64_const(number.d);
      return;
    case ValType::i64:
      code().i64_const(number.i);
      return;
    default:
      code().i32_const(static_cast<int32_t>(number.i));
      return;
  }
}

void KernelEmitter::vector_constant(const loop::Number& number) {
  vector_constant(vector_of(number));
}

void KernelEmitter::vector_constant(const wasm::V128& bytes) {
  if (const auto local = scope_.constants.find(bytes); local != scope_.constants.end()) {
    code().op_index(Opcode::local_get, local->second);
  } else {
    code().v128_const(bytes);
  }
}

bool KernelEmitter::is_zero(ExprId id) const {
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  return expr.kind == ExprKind::Constant && half_of_vector(expr.constant) == 0;
}

// Registers are initialized with a zero that engines do not see as a constant: SpiderMonkey would
// allocate a separate register for that constant, across the following loops, for zeros after them.
void KernelEmitter::computed_zero() {
  code().v128_const(repeat_64_bits(~uint64_t{0})).op(Opcode::v128_not);
}

void KernelEmitter::scalar_load(const Expr& expr) {
  const auto lookup = look_up(expr.buffer, expr.lookup, expr.operands[0]);
  scalar_load(expr, lookup);
  release(ValType::i32, lookup);
}

void KernelEmitter::scalar_load(const Expr& expr, std::optional<uint32_t> lookup) {
  const std::optional<bool> cached = push_guards(expr.guards);
  if (cached == false) return scalar_constant(loop::Number::from(expr.dtype, 0));
  if (cached) return scalar_load_unguarded(expr, lookup);
  code().if_(wasm_type(expr.dtype).type);
  scalar_load_unguarded(expr, lookup);
  code().else_();
  scalar_constant(loop::Number::from(expr.dtype, 0));
  code().end();
}

void KernelEmitter::scalar_load_unguarded(const Expr& expr, std::optional<uint32_t> lookup) {
  if (expr.buffer.space == loop::Space::Global) {
    const wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
    code().op_memory(wasm_type(expr.dtype).load, at);
    return;
  }
  const SplitAddress at = split(expr.address, 1);
  auto& locals = register_locals(expr.buffer);
  if (!is_vector_register(expr.buffer)) {
    code().op_index(Opcode::local_get, locals[static_cast<size_t>(at.constant)]);
    return;
  }
  code().op_index(Opcode::local_get, locals[static_cast<size_t>(at.constant / lanes_)]);
  extract_lane_of(expr.dtype, static_cast<uint8_t>(at.constant % lanes_));
}

}  // namespace lathe::emit_wasm
