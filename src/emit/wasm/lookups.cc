#include "lathe/emit/wasm/lookups.h"

#include "lathe/emit/wasm/expressions.h"

namespace lathe::emit_wasm {

using loop::ExprId;
using loop::Lookup;
using wasm::Opcode;
using wasm::ValType;

int64_t LookupEmitter::bytes_of(loop::BufferRef buffer, const Lookup& lookup) const {
  return lookup.scale * scalar::size_of(context_.dtype_of(buffer));
}

LookupEmitter::Key LookupEmitter::key_of(loop::BufferRef buffer, const Lookup& lookup,
                                         ExprId index) const {
  return {index, lookup.extent, bytes_of(buffer, lookup)};
}

// Whether a mask bounds the index to 0..extent - 1.
bool LookupEmitter::is_inside(ExprId index, int64_t extent) const {
  const loop::Expr& expr = context_.expr(index);
  if (expr.kind != loop::ExprKind::Apply || expr.op != loop::Op::BitAnd) return false;
  const loop::Expr& mask = context_.operand(expr, 1);
  return mask.kind == loop::ExprKind::Constant && mask.constant.i >= 0 && mask.constant.i < extent;
}

// Clamps the index on the stack to 0..extent - 1, unless it is inside, and converts it to bytes.
uint32_t LookupEmitter::save(loop::BufferRef buffer, const Lookup& lookup, bool inside) {
  const uint32_t local = locals_.acquire(ValType::i32);
  const auto extent = static_cast<int32_t>(lookup.extent);
  if (!inside) {
    code_.op_index(Opcode::local_tee, local).op_index(Opcode::local_get, local);
    code_.i32_const(31).op(Opcode::i32_shr_s).i32_const(-1).op(Opcode::i32_xor);
    code_.op(Opcode::i32_and).op_index(Opcode::local_tee, local).i32_const(extent - 1);
    code_.op_index(Opcode::local_get, local).i32_const(extent).op(Opcode::i32_lt_s);
    code_.op(Opcode::select);
  }
  code_.i32_const(static_cast<int32_t>(bytes_of(buffer, lookup))).op(Opcode::i32_mul);
  code_.op_index(Opcode::local_set, local);
  return local;
}

std::optional<uint32_t> LookupEmitter::look_up(loop::BufferRef buffer, const Lookup& lookup,
                                               ExprId index) {
  if (!lookup) return std::nullopt;
  const auto cached = hoisted_.find(key_of(buffer, lookup, index));
  if (cached != hoisted_.end()) return cached->second;
  expressions_.emit_scalar(index);
  return save(buffer, lookup, is_inside(index, lookup.extent));
}

std::optional<uint32_t> LookupEmitter::lane_indices(const Lookup& lookup, ExprId index) {
  if (!lookup || !values_.varies(index)) return std::nullopt;
  const uint32_t local = locals_.acquire(ValType::v128);
  expressions_.emit_vector(index);
  code_.op_index(Opcode::local_set, local);
  return local;
}

std::optional<uint32_t> LookupEmitter::look_up_lane(loop::BufferRef buffer, const Lookup& lookup,
                                                    ExprId index, std::optional<uint32_t> indices,
                                                    uint8_t lane) {
  if (!indices) return look_up(buffer, lookup, index);
  code_.op_index(Opcode::local_get, *indices).op_lane(Opcode::i32x4_extract_lane, lane);
  return save(buffer, lookup, is_inside(index, lookup.extent));
}

void LookupEmitter::release(ValType type, std::optional<uint32_t> local) {
  if (!local) return;
  for (const auto& [key, hoisted] : hoisted_) {
    if (hoisted == *local) return;
  }
  locals_.release(type, *local);
}

void LookupEmitter::hoist(loop::BufferRef buffer, const Lookup& lookup, ExprId index) {
  const uint32_t local = *look_up(buffer, lookup, index);
  hoisted_[key_of(buffer, lookup, index)] = local;
}

bool LookupEmitter::is_hoisted(loop::BufferRef buffer, const Lookup& lookup, ExprId index) const {
  return hoisted_.contains(key_of(buffer, lookup, index));
}

void LookupEmitter::release_hoisted() {
  for (const auto& [key, local] : hoisted_) locals_.release(ValType::i32, local);
  hoisted_.clear();
}

}  // namespace lathe::emit_wasm
