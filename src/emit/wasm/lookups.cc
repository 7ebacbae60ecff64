// Addresses that an index from a buffer moves: what the lookup adds, in bytes, as a local.
#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit_wasm {

using loop::ExprId;
using loop::Lookup;
using wasm::Opcode;
using wasm::ValType;

int64_t KernelEmitter::bytes_of(loop::BufferRef buffer, const Lookup& lookup) const {
  return lookup.scale * scalar::size_of(dtype_of(buffer));
}

// Whether a mask bounds the index to 0..extent - 1.
bool KernelEmitter::is_inside(ExprId index, int64_t extent) const {
  const loop::Expr& expr = kernel_.exprs[static_cast<size_t>(index)];
  if (expr.kind != loop::ExprKind::Apply || expr.op != loop::Op::BitAnd) return false;
  const loop::Expr& mask = kernel_.exprs[static_cast<size_t>(expr.operands[1])];
  return mask.kind == loop::ExprKind::Constant && mask.constant.i >= 0 && mask.constant.i < extent;
}

// Clamps the index on the stack to 0..extent - 1, unless it is inside, and converts it to bytes.
uint32_t KernelEmitter::save_lookup(loop::BufferRef buffer, const Lookup& lookup, bool inside) {
  const uint32_t local = acquire(ValType::i32);
  const auto extent = static_cast<int32_t>(lookup.extent);
  if (!inside) {
    code().op_index(Opcode::local_tee, local).op_index(Opcode::local_get, local);
    code().i32_const(31).op(Opcode::i32_shr_s).i32_const(-1).op(Opcode::i32_xor);
    code().op(Opcode::i32_and).op_index(Opcode::local_tee, local).i32_const(extent - 1);
    code().op_index(Opcode::local_get, local).i32_const(extent).op(Opcode::i32_lt_s);
    code().op(Opcode::select);
  }
  code().i32_const(static_cast<int32_t>(bytes_of(buffer, lookup))).op(Opcode::i32_mul);
  code().op_index(Opcode::local_set, local);
  return local;
}

std::optional<uint32_t> KernelEmitter::look_up(loop::BufferRef buffer, const Lookup& lookup,
                                               ExprId index) {
  if (!lookup) return std::nullopt;
  const auto cached = scope_.lookups.find({index, lookup.extent, bytes_of(buffer, lookup)});
  if (cached != scope_.lookups.end()) return cached->second;
  emit_scalar(index);
  return save_lookup(buffer, lookup, is_inside(index, lookup.extent));
}

std::optional<uint32_t> KernelEmitter::lane_indices(const Lookup& lookup, ExprId index) {
  if (!lookup || !varies(index)) return std::nullopt;
  const uint32_t local = acquire(ValType::v128);
  emit_vector(index);
  code().op_index(Opcode::local_set, local);
  return local;
}

std::optional<uint32_t> KernelEmitter::look_up_lane(loop::BufferRef buffer, const Lookup& lookup,
                                                    ExprId index, std::optional<uint32_t> indices,
                                                    uint8_t lane) {
  if (!indices) return look_up(buffer, lookup, index);
  code().op_index(Opcode::local_get, *indices).op_lane(Opcode::i32x4_extract_lane, lane);
  return save_lookup(buffer, lookup, is_inside(index, lookup.extent));
}

void KernelEmitter::release(ValType type, std::optional<uint32_t> local) {
  if (!local) return;
  for (const auto& [key, hoisted] : scope_.lookups) {
    if (hoisted == *local) return;
  }
  release(type, *local);
}

}  // namespace lathe::emit_wasm
