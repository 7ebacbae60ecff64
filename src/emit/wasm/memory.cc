#include "lathe/emit/wasm/memory.h"

#include <algorithm>

#include "lathe/base/check.h"
#include "lathe/emit/wasm/expressions.h"
#include "lathe/emit/wasm/instruction_selection.h"

namespace lathe::emit_wasm {

using loop::DType;
using loop::Expr;
using wasm::Opcode;
using wasm::ValType;

void MemoryEmitter::load_scalar(const Expr& load) {
  const auto lookup = lookups_.look_up(load.buffer, load.lookup, load.operands[0]);
  load_scalar(load, lookup);
  lookups_.release(ValType::i32, lookup);
}

void MemoryEmitter::load_scalar(const Expr& load, std::optional<uint32_t> lookup) {
  const std::optional<bool> decided = addresses_.push_guards(load.guards);
  if (decided == false) return push_scalar(code_, loop::Number::from(load.dtype, 0));
  if (decided) return load_scalar_unguarded(load, lookup);
  code_.if_(wasm_type(load.dtype).type);
  load_scalar_unguarded(load, lookup);
  code_.else_();
  push_scalar(code_, loop::Number::from(load.dtype, 0));
  code_.end();
}

void MemoryEmitter::load_scalar_unguarded(const Expr& load, std::optional<uint32_t> lookup) {
  if (load.buffer.space != loop::Space::Global) {
    return registers_.push(load.buffer, addresses_.split(load.address, 1).constant);
  }
  const wasm::MemArg at = addresses_.push_address(load.buffer, load.address, lookup);
  code_.op_memory(wasm_type(load.dtype).load, at);
}

void MemoryEmitter::load_vector(const Expr& load) {
  const int64_t lane_stride = load.address.coefficient(addresses_.lane());
  if (load.buffer.space == loop::Space::Register && load.guards.empty()) {
    const SplitAddress at = addresses_.split(load.address, 1);
    if (lane_stride == 1) return registers_.push_vector(load.buffer, at.constant);
    LATHE_CHECK(lane_stride == kVectorLanes);
    if (context_.lanes == 4) return registers_.push_transposed_vector(load.buffer, at.constant);
    return load_vector_by_lane(load);
  }
  const bool by_lane = std::ranges::any_of(load.guards, [this](const loop::Guard& guard) {
    return guard.index.coefficient(addresses_.lane()) != 0;
  });
  const bool global = load.buffer.space == loop::Space::Global;
  const bool scattered = load.lookup && values_.varies(load.operands[0]);
  if (lane_stride != 1 || by_lane || !global || scattered) return load_vector_by_lane(load);
  const auto lookup = lookups_.look_up(load.buffer, load.lookup, load.operands[0]);
  const std::optional<bool> decided = addresses_.push_guards(load.guards);
  if (decided == false) {
    constants_.push(loop::Number::from(load.dtype, 0));
  } else if (decided) {
    load_vector_unguarded(load, lookup);
  } else {
    code_.if_(ValType::v128);
    load_vector_unguarded(load, lookup);
    code_.else_();
    constants_.push(loop::Number::from(load.dtype, 0));
    code_.end();
  }
  lookups_.release(ValType::i32, lookup);
}

void MemoryEmitter::load_vector_unguarded(const Expr& load, std::optional<uint32_t> lookup) {
  wasm::MemArg at = addresses_.push_address(load.buffer, load.address, lookup);
  const int size = scalar::size_of(load.dtype);
  at.align = static_cast<uint32_t>(size);
  const bool is_signed = scalar::is_signed(load.dtype);
  if (size == 2 && context_.lanes == kVectorLanes) {
    code_.op_memory(is_signed ? Opcode::v128_load16x4_s : Opcode::v128_load16x4_u, at);
    return;
  }
  switch (size * context_.lanes) {
    case 16:
      code_.op_memory(Opcode::v128_load, at);
      break;
    case 8:
      code_.op_memory(Opcode::v128_load64_zero, at);
      break;
    case 4:
      code_.op_memory(Opcode::v128_load32_zero, at);
      break;
    default:  // two lanes of one byte
      code_.op_memory(Opcode::i32_load16_u, at).op(Opcode::i32x4_splat);
  }
  if (size == 1) {
    code_.op(is_signed ? Opcode::i16x8_extend_low_i8x16_s : Opcode::i16x8_extend_low_i8x16_u);
  }
  if (size < 4) {
    code_.op(is_signed ? Opcode::i32x4_extend_low_i16x8_s : Opcode::i32x4_extend_low_i16x8_u);
  }
  if (load.dtype != DType::Bool) return;
  code_.op(Opcode::i32x4_neg);
  if (context_.lanes == 2) code_.op(Opcode::i64x2_extend_low_i32x4_s);
}

void MemoryEmitter::load_vector_by_lane(const Expr& load) {
  const bool global = load.buffer.space == loop::Space::Global;
  if (global && load.guards.empty() && scalar::size_of(load.dtype) >= 4) return gather(load);
  const auto indices = lookups_.lane_indices(load.lookup, load.operands[0]);
  addresses_.for_each_lane([&](uint8_t lane) {
    const auto lookup =
        lookups_.look_up_lane(load.buffer, load.lookup, load.operands[0], indices, lane);
    load_scalar(load, lookup);
    lookups_.release(ValType::i32, lookup);
    lanes_.insert(load.dtype, lane);
  });
  lookups_.release(ValType::v128, indices);
}

// Loads lanes from several addresses, directly into the vector.
void MemoryEmitter::gather(const Expr& load) {
  const bool wide = lane_size(load.dtype) == 8;
  const auto indices = lookups_.lane_indices(load.lookup, load.operands[0]);
  const uint32_t gathered = locals_.acquire(ValType::v128);
  addresses_.for_each_lane([&](uint8_t lane) {
    const auto lookup =
        lookups_.look_up_lane(load.buffer, load.lookup, load.operands[0], indices, lane);
    wasm::MemArg at = addresses_.push_address(load.buffer, load.address, lookup);
    lookups_.release(ValType::i32, lookup);
    at.align = 2;  // bytes: a hint, less than the actual alignment of 4 or 8
    if (lane == 0) {
      code_.op_memory(wide ? Opcode::v128_load64_zero : Opcode::v128_load32_zero, at);
    } else {
      code_.op_index(Opcode::local_get, gathered);
      code_.op_memory_lane(wide ? Opcode::v128_load64_lane : Opcode::v128_load32_lane, at, lane);
    }
    if (lane + 1 < context_.lanes) code_.op_index(Opcode::local_set, gathered);
  });
  locals_.release(ValType::v128, gathered);
  lookups_.release(ValType::v128, indices);
}

void MemoryEmitter::scatter(const loop::Stmt& stmt) {
  const DType dtype = context_.dtype_of(stmt.buffer);
  const uint32_t value = locals_.acquire(ValType::v128);
  expressions_.emit_vector(stmt.value);
  code_.op_index(Opcode::local_set, value);
  const auto indices = lookups_.lane_indices(stmt.lookup, stmt.index);
  addresses_.for_each_lane([&](uint8_t lane) {
    const auto lookup = lookups_.look_up_lane(stmt.buffer, stmt.lookup, stmt.index, indices, lane);
    const wasm::MemArg at = addresses_.push_address(stmt.buffer, stmt.address, lookup);
    code_.op_index(Opcode::local_get, value);
    lanes_.extract(dtype, lane);
    code_.op_memory(wasm_type(dtype).store, at);
    lookups_.release(ValType::i32, lookup);
  });
  lookups_.release(ValType::v128, indices);
  locals_.release(ValType::v128, value);
}

bool MemoryEmitter::load_splat(const Expr& load) {
  const int size = scalar::size_of(load.dtype);
  if (!load.guards.empty() || load.buffer.space != loop::Space::Global || size < 4) return false;
  const auto lookup = lookups_.look_up(load.buffer, load.lookup, load.operands[0]);
  const wasm::MemArg at = addresses_.push_address(load.buffer, load.address, lookup);
  code_.op_memory(size == 8 ? Opcode::v128_load64_splat : Opcode::v128_load32_splat, at);
  lookups_.release(ValType::i32, lookup);
  return true;
}

void MemoryEmitter::store_register(const loop::Stmt& stmt) {
  const SplitAddress at = addresses_.split(stmt.address, 1);
  const uint32_t local = registers_.local_of(stmt.buffer, at.constant);
  if (!context_.is_vector_register(stmt.buffer)) {
    expressions_.emit_scalar(stmt.value);
  } else if (addresses_.has_lanes()) {
    LATHE_CHECK(at.lane_coefficient == 1 && at.constant % context_.lanes == 0);
    if (is_zero(context_.expr(stmt.value))) {
      constants_.push_computed_zero();
    } else {
      expressions_.emit_vector(stmt.value);
    }
  } else {
    code_.op_index(Opcode::local_get, local);
    expressions_.emit_scalar(stmt.value);
    const auto lane = static_cast<uint8_t>(at.constant % context_.lanes);
    lanes_.replace(context_.dtype_of(stmt.buffer), lane);
  }
  code_.op_index(Opcode::local_set, local);
}

void MemoryEmitter::store_global(const loop::Stmt& stmt) {
  const bool is_vector = addresses_.has_lanes();
  const bool varies_by_lane = is_vector && stmt.lookup && values_.varies(stmt.index);
  if (is_vector && (stmt.address.coefficient(addresses_.lane()) != 1 || varies_by_lane)) {
    return scatter(stmt);
  }
  const DType dtype = context_.dtype_of(stmt.buffer);
  const auto lookup = lookups_.look_up(stmt.buffer, stmt.lookup, stmt.index);
  const wasm::MemArg at = addresses_.push_address(stmt.buffer, stmt.address, lookup);
  if (is_vector) {
    expressions_.emit_vector(stmt.value);
    lookups_.release(ValType::i32, lookup);
    return lanes_.store(dtype, at);
  }
  expressions_.emit_scalar(stmt.value);
  code_.op_memory(wasm_type(dtype).store, at);
  lookups_.release(ValType::i32, lookup);
}

}  // namespace lathe::emit_wasm
