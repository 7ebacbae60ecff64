#include "lathe/emit/wasm/lanes.h"

#include "lathe/emit/wasm/instruction_selection.h"

namespace lathe::emit_wasm {

using scalar::DType;
using wasm::Opcode;
using wasm::ValType;

namespace {

// Byte indices of a shuffle that packs the lowest `size` bytes of each lane of `lane_bytes` bytes.
// The packed bytes are repeated to fill the vector.
wasm::V128 low_bytes_of_lanes(int size, int lane_bytes) {
  wasm::V128 bytes;
  for (int i = 0; i < 16; ++i) {
    const int at = i % (16 / lane_bytes * size);
    bytes[i] = static_cast<uint8_t>(at / size * lane_bytes + at % size);
  }
  return bytes;
}

}  // namespace

wasm::V128 bytes_of_lanes(std::array<uint8_t, 4> lanes, int size) {
  wasm::V128 bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto width = static_cast<size_t>(size);
    bytes[i] = static_cast<uint8_t>(width * lanes[i / width] + i % width);
  }
  return bytes;
}

void LaneEmitter::extract(DType dtype, uint8_t lane) {
  if (dtype != DType::Bool) {
    code_.op_lane(wasm_type(dtype).extract_lane, lane);
    return;
  }
  if (count_ == 4) {
    code_.op_lane(Opcode::i32x4_extract_lane, lane);
  } else {
    code_.op_lane(Opcode::i64x2_extract_lane, lane).op(Opcode::i32_wrap_i64);
  }
  code_.i32_const(1).op(Opcode::i32_and);
}

void LaneEmitter::replace(DType dtype, uint8_t lane) {
  if (dtype != DType::Bool) {
    code_.op_lane(wasm_type(dtype).replace_lane, lane);
    return;
  }
  code_.i32_const(-1).op(Opcode::i32_mul);
  if (count_ == 4) {
    code_.op_lane(Opcode::i32x4_replace_lane, lane);
  } else {
    code_.op(Opcode::i64_extend_i32_s).op_lane(Opcode::i64x2_replace_lane, lane);
  }
}

void LaneEmitter::splat(DType dtype) {
  if (dtype != DType::Bool) {
    code_.op(wasm_type(dtype).splat);
  } else if (count_ == 4) {
    code_.op(Opcode::i32x4_splat).op(Opcode::i32x4_neg);
  } else {
    code_.op(Opcode::i64_extend_i32_u).op(Opcode::i64x2_splat).op(Opcode::i64x2_neg);
  }
}

void LaneEmitter::widen_mask(DType compared) {
  if (lane_size(compared) * count_ < 16) code_.op(Opcode::i64x2_extend_low_i32x4_s);
}

void LaneEmitter::narrow_mask(DType chosen) {
  if (chosen != DType::Bool && lane_size(chosen) * count_ < 16) pack_low_words();
}

void LaneEmitter::pack_low_words() {
  const uint32_t wide = locals_.acquire(ValType::v128);
  code_.op_index(Opcode::local_tee, wide).op_index(Opcode::local_get, wide);
  code_.shuffle(bytes_of_lanes({0, 2, 0, 2}, 4));
  locals_.release(ValType::v128, wide);
}

void LaneEmitter::store(DType dtype, wasm::MemArg at) {
  const int size = scalar::size_of(dtype);
  const int lane_bytes = dtype == DType::Bool ? 16 / count_ : lane_size(dtype);
  at.align = static_cast<uint32_t>(size);
  if (size < lane_bytes) {
    const uint32_t value = locals_.acquire(ValType::v128);
    code_.op_index(Opcode::local_tee, value).op_index(Opcode::local_get, value);
    code_.shuffle(low_bytes_of_lanes(size, lane_bytes));
    locals_.release(ValType::v128, value);
  }
  if (dtype == DType::Bool) {
    // Bytes 0xff or 0 become 1 or 0.
    code_.op_lane(Opcode::i32x4_extract_lane, 0).i32_const(0x01010101).op(Opcode::i32_and);
    code_.op_memory(count_ == 4 ? Opcode::i32_store : Opcode::i32_store16, at);
    return;
  }
  switch (size * count_) {
    case 16:
      code_.op_memory(Opcode::v128_store, at);
      return;
    case 8:
      code_.op_memory_lane(Opcode::v128_store64_lane, at, 0);
      return;
    case 4:
      code_.op_memory_lane(Opcode::v128_store32_lane, at, 0);
      return;
    default:  // two lanes of one byte
      code_.op_memory_lane(Opcode::v128_store16_lane, at, 0);
  }
}

}  // namespace lathe::emit_wasm
