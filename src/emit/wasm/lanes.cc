// SIMD loads, stores and shuffles. All vectors of a kernel have as many lanes as a vector of its
// widest type, four or two. If there are two, types of 32 bits or less use the low 64 bits of a
// vector. Masks, the vectors of bools, have lanes of 32 bits if there are four and of 64 bits if
// there are two.
#include <algorithm>
#include <array>
#include <utility>

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

// Byte indices of a shuffle that selects these lanes, of `size` bytes each, from two vectors. Lanes
// are numbered through both; of lanes of 8 bytes the first two are selected.
wasm::V128 bytes_of_lanes(std::array<uint8_t, 4> lanes, int size) {
  wasm::V128 bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto width = static_cast<size_t>(size);
    bytes[i] = static_cast<uint8_t>(width * lanes[i / width] + i % width);
  }
  return bytes;
}

// Byte indices of a shuffle that packs the lowest `size` bytes of each lane of `lane_bytes` bytes.
// The packed bytes are repeated to fill the vector.
wasm::V128 low_bytes_of_lanes(int size, int lane_bytes) {
  wasm::V128 bytes;
  for (int i = 0; i < 16; ++i) {
    const int at = i % (16 / lane_bytes * size);
    bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(at / size * lane_bytes + at % size);
  }
  return bytes;
}

}  // namespace

void KernelEmitter::extract_lane_of(DType dtype, uint8_t lane) {
  if (dtype != DType::Bool) {
    code().op_lane(wasm_type(dtype).extract_lane, lane);
    return;
  }
  if (lanes_ == 4) {
    code().op_lane(Opcode::i32x4_extract_lane, lane);
  } else {
    code().op_lane(Opcode::i64x2_extract_lane, lane).op(Opcode::i32_wrap_i64);
  }
  code().i32_const(1).op(Opcode::i32_and);
}

void KernelEmitter::replace_lane_of(DType dtype, uint8_t lane) {
  if (dtype != DType::Bool) {
    code().op_lane(wasm_type(dtype).replace_lane, lane);
    return;
  }
  code().i32_const(-1).op(Opcode::i32_mul);
  if (lanes_ == 4) {
    code().op_lane(Opcode::i32x4_replace_lane, lane);
  } else {
    code().op(Opcode::i64_extend_i32_s).op_lane(Opcode::i64x2_replace_lane, lane);
  }
}

void KernelEmitter::splat_scalar(DType dtype) {
  if (dtype != DType::Bool) {
    code().op(wasm_type(dtype).splat);
  } else if (lanes_ == 4) {
    code().op(Opcode::i32x4_splat).op(Opcode::i32x4_neg);
  } else {
    code().op(Opcode::i64_extend_i32_u).op(Opcode::i64x2_splat).op(Opcode::i64x2_neg);
  }
}

// Widens the mask on the stack, which a comparison of this type leaves, to the lanes of the
// kernel's masks.
void KernelEmitter::widen_mask(DType compared) {
  if (lane_size(compared) * lanes_ < 16) code().op(Opcode::i64x2_extend_low_i32x4_s);
}

// Narrows the kernel's mask on the stack to the lanes of this type.
void KernelEmitter::narrow_mask(DType chosen) {
  if (chosen != DType::Bool && lane_size(chosen) * lanes_ < 16) pack_low_words();
}

// Packs the low 32 bits of both 64-bit lanes into the low 64 bits; the high 64 bits repeat them.
void KernelEmitter::pack_low_words() {
  const uint32_t wide = acquire(ValType::v128);
  code().op_index(Opcode::local_tee, wide).op_index(Opcode::local_get, wide);
  code().shuffle(bytes_of_lanes({0, 2, 0, 2}, 4));
  release(ValType::v128, wide);
}

// Calls emit(lane) for each lane, with the Vector loop's variable fixed at the lane's value.
template <class Emit>
void KernelEmitter::for_each_lane(const Emit& emit) {
  const loop::VarId var = std::exchange(fixed_.lane, -1);
  for (int lane = 0; lane < lanes_; ++lane) {
    fixed_.values[var] = fixed_.first_lane + lane;
    emit(static_cast<uint8_t>(lane));
  }
  fixed_.values.erase(var);
  fixed_.lane = var;
}

void KernelEmitter::vector_load(const Expr& expr) {
  const int64_t lane_stride = expr.address.coefficient(fixed_.lane);
  if (expr.buffer.space == loop::Space::Register && expr.guards.empty()) {
    const SplitAddress at = split(expr.address, 1);
    if (lane_stride == 1) return contiguous_vector(expr.buffer, at.constant);
    LATHE_CHECK(lane_stride == loop::kLanes);
    if (lanes_ == 4) return transposed_vector(expr.buffer, at.constant);
    return vector_load_by_lane(expr);
  }
  const bool by_lane = std::ranges::any_of(expr.guards, [this](const loop::Guard& guard) {
    return guard.index.coefficient(fixed_.lane) != 0;
  });
  const bool global = expr.buffer.space == loop::Space::Global;
  const bool scattered = expr.lookup && varies(expr.operands[0]);
  if (lane_stride != 1 || by_lane || !global || scattered) return vector_load_by_lane(expr);
  const auto lookup = look_up(expr.buffer, expr.lookup, expr.operands[0]);
  const std::optional<bool> decided = push_guards(expr.guards);
  if (decided == false) {
    vector_constant(loop::Number::from(expr.dtype, 0));
  } else if (decided) {
    vector_load_unguarded(expr, lookup);
  } else {
    code().if_(ValType::v128);
    vector_load_unguarded(expr, lookup);
    code().else_();
    vector_constant(loop::Number::from(expr.dtype, 0));
    code().end();
  }
  release(ValType::i32, lookup);
}

void KernelEmitter::vector_load_unguarded(const Expr& expr, std::optional<uint32_t> lookup) {
  wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
  const int size = scalar::size_of(expr.dtype);
  at.align = static_cast<uint32_t>(size);
  const bool is_signed = scalar::is_signed(expr.dtype);
  if (size == 2 && lanes_ == loop::kLanes) {
    code().op_memory(is_signed ? Opcode::v128_load16x4_s : Opcode::v128_load16x4_u, at);
    return;
  }
  switch (size * lanes_) {
    case 16:
      code().op_memory(Opcode::v128_load, at);
      break;
    case 8:
      code().op_memory(Opcode::v128_load64_zero, at);
      break;
    case 4:
      code().op_memory(Opcode::v128_load32_zero, at);
      break;
    default:  // two lanes of one byte
      code().op_memory(Opcode::i32_load16_u, at).op(Opcode::i32x4_splat);
  }
  if (size == 1) {
    code().op(is_signed ? Opcode::i16x8_extend_low_i8x16_s : Opcode::i16x8_extend_low_i8x16_u);
  }
  if (size < 4) {
    code().op(is_signed ? Opcode::i32x4_extend_low_i16x8_s : Opcode::i32x4_extend_low_i16x8_u);
  }
  if (expr.dtype != DType::Bool) return;
  code().op(Opcode::i32x4_neg);
  if (lanes_ == 2) code().op(Opcode::i64x2_extend_low_i32x4_s);
}

void KernelEmitter::store_vector(DType dtype, wasm::MemArg at) {
  const int size = scalar::size_of(dtype);
  const int lane_bytes = dtype == DType::Bool ? 16 / lanes_ : lane_size(dtype);
  at.align = static_cast<uint32_t>(size);
  if (size < lane_bytes) {
    const uint32_t value = acquire(ValType::v128);
    code().op_index(Opcode::local_tee, value).op_index(Opcode::local_get, value);
    code().shuffle(low_bytes_of_lanes(size, lane_bytes));
    release(ValType::v128, value);
  }
  if (dtype == DType::Bool) {
    // Bytes 0xff or 0 become 1 or 0.
    code().op_lane(Opcode::i32x4_extract_lane, 0).i32_const(0x01010101).op(Opcode::i32_and);
    code().op_memory(lanes_ == 4 ? Opcode::i32_store : Opcode::i32_store16, at);
    return;
  }
  switch (size * lanes_) {
    case 16:
      code().op_memory(Opcode::v128_store, at);
      return;
    case 8:
      code().op_memory_lane(Opcode::v128_store64_lane, at, 0);
      return;
    case 4:
      code().op_memory_lane(Opcode::v128_store32_lane, at, 0);
      return;
    default:  // two lanes of one byte
      code().op_memory_lane(Opcode::v128_store16_lane, at, 0);
  }
}

void KernelEmitter::store_global_lanes(const loop::Stmt& stmt) {
  const DType dtype = dtype_of(stmt.buffer);
  const uint32_t value = acquire(ValType::v128);
  emit_vector(stmt.value);
  code().op_index(Opcode::local_set, value);
  const auto indices = lane_indices(stmt.lookup, stmt.index);
  for_each_lane([&](uint8_t lane) {
    const auto lookup = look_up_lane(stmt.buffer, stmt.lookup, stmt.index, indices, lane);
    const wasm::MemArg at = push_address(stmt.buffer, stmt.address, lookup);
    code().op_index(Opcode::local_get, value);
    extract_lane_of(dtype, lane);
    code().op_memory(wasm_type(dtype).store, at);
    release(ValType::i32, lookup);
  });
  release(ValType::v128, indices);
  release(ValType::v128, value);
}

// A row of a 4x4 transpose: lane first % 4 of each of the four vectors from first / 4 on. Two
// shuffles interleave 32-bit lanes of two vectors each, a third joins 64-bit halves of both. The
// first two are the same for rows 0 and 1 and for rows 2 and 3, where engines compute them once.
void KernelEmitter::transposed_vector(loop::BufferRef buffer, int64_t first) {
  const auto& locals = register_locals(buffer);
  const auto lane = static_cast<uint8_t>(first % 4);
  const auto local = [&](int64_t i) { return locals[static_cast<size_t>(first / 4 + i)]; };
  const auto shuffle = [&](std::array<uint8_t, 4> lanes) {
    code().shuffle(bytes_of_lanes(lanes, 4));
  };
  const uint8_t half = lane / 2 * 2;
  for (int64_t pair : {0, 2}) {
    code().op_index(Opcode::local_get, local(pair)).op_index(Opcode::local_get, local(pair + 1));
    shuffle({half, static_cast<uint8_t>(half + 4), static_cast<uint8_t>(half + 1),
             static_cast<uint8_t>(half + 5)});
  }
  const uint8_t odd = lane % 2 * 2;
  shuffle({odd, static_cast<uint8_t>(odd + 1), static_cast<uint8_t>(odd + 4),
           static_cast<uint8_t>(odd + 5)});
}

// The elements of a vector register from `first` on: one of its vectors, or the end of one and the
// beginning of the next.
void KernelEmitter::contiguous_vector(loop::BufferRef buffer, int64_t first) {
  const auto& locals = register_locals(buffer);
  const auto vector = static_cast<size_t>(first / lanes_);
  const auto lane = static_cast<uint8_t>(first % lanes_);
  code().op_index(Opcode::local_get, locals[vector]);
  if (lane == 0) return;
  code().op_index(Opcode::local_get, locals[vector + 1]);
  const auto next = [&](int i) { return static_cast<uint8_t>(lane + i); };
  if (lanes_ == 4) {
    code().shuffle(bytes_of_lanes({lane, next(1), next(2), next(3)}, 4));
    return;
  }
  const DType dtype = dtype_of(buffer);
  const int size = dtype == DType::Bool ? 8 : lane_size(dtype);
  code().shuffle(size == 8 ? bytes_of_lanes({1, 2}, 8) : bytes_of_lanes({1, 4, 1, 4}, 4));
}

void KernelEmitter::vector_load_by_lane(const Expr& expr) {
  const bool global = expr.buffer.space == loop::Space::Global;
  if (global && expr.guards.empty() && scalar::size_of(expr.dtype) >= 4) return gather(expr);
  const auto indices = lane_indices(expr.lookup, expr.operands[0]);
  for_each_lane([&](uint8_t lane) {
    const auto lookup = look_up_lane(expr.buffer, expr.lookup, expr.operands[0], indices, lane);
    scalar_load(expr, lookup);
    release(ValType::i32, lookup);
    if (lane == 0) {
      splat_scalar(expr.dtype);
    } else {
      replace_lane_of(expr.dtype, lane);
    }
  });
  release(ValType::v128, indices);
}

// Loads lanes from several addresses, directly into the vector.
void KernelEmitter::gather(const Expr& expr) {
  const bool wide = lane_size(expr.dtype) == 8;
  const auto indices = lane_indices(expr.lookup, expr.operands[0]);
  const uint32_t gathered = acquire(ValType::v128);
  for_each_lane([&](uint8_t lane) {
    const auto lookup = look_up_lane(expr.buffer, expr.lookup, expr.operands[0], indices, lane);
    wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
    release(ValType::i32, lookup);
    at.align = 2;  // bytes: a hint, less than the actual alignment of 4 or 8
    if (lane == 0) {
      code().op_memory(wide ? Opcode::v128_load64_zero : Opcode::v128_load32_zero, at);
    } else {
      code().op_index(Opcode::local_get, gathered);
      code().op_memory_lane(wide ? Opcode::v128_load64_lane : Opcode::v128_load32_lane, at, lane);
    }
    if (lane + 1 < lanes_) code().op_index(Opcode::local_set, gathered);
  });
  release(ValType::v128, gathered);
  release(ValType::v128, indices);
}

void KernelEmitter::emit_splat(ExprId id) {
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  const int size = scalar::size_of(expr.dtype);
  const bool plain_load = expr.kind == ExprKind::Load && expr.guards.empty() &&
                          expr.buffer.space == loop::Space::Global && size >= 4;
  if (plain_load) {
    const auto lookup = look_up(expr.buffer, expr.lookup, expr.operands[0]);
    const wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
    code().op_memory(size == 8 ? Opcode::v128_load64_splat : Opcode::v128_load32_splat, at);
    return release(ValType::i32, lookup);
  }
  emit_scalar(id);
  splat_scalar(expr.dtype);
}

void KernelEmitter::vector_index(const Expr& expr) {
  push_index(expr.address);
  code().op(Opcode::i32x4_splat);
  vector_constant(steps_of_lanes(expr.address.coefficient(fixed_.lane)));
  code().op(Opcode::i32x4_add);
}

wasm::V128 steps_of_lanes(int64_t step) {
  wasm::V128 steps;
  for (uint32_t i = 0; i < 16; ++i) {
    steps[i] = static_cast<uint8_t>(i / 4 * static_cast<uint32_t>(step) >> i % 4 * 8);
  }
  return steps;
}

}  // namespace lathe::emit_wasm
