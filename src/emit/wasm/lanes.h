// Lanes of vectors on the stack. All vectors of a kernel have as many lanes as a vector of its
// widest type, four or two. If there are two, types of 32 bits or less use the low 64 bits of a
// vector. Masks, the vectors of bools, have lanes of 32 bits if there are four and of 64 bits if
// there are two.
#pragma once

#include <array>
#include <cstdint>

#include "lathe/emit/wasm/locals.h"
#include "lathe/scalar/op.h"

namespace lathe::emit_wasm {

// Byte indices of a shuffle that selects these lanes, of `size` bytes each, from two vectors. Lanes
// are numbered through both; of lanes of 8 bytes the first two are selected.
wasm::V128 bytes_of_lanes(std::array<uint8_t, 4> lanes, int size);

class LaneEmitter {
 public:
  // `count`: of lanes.
  LaneEmitter(wasm::FunctionBuilder& code, Locals& locals, int count)
      : code_(code), locals_(locals), count_(count) {}

  void extract(scalar::DType dtype, uint8_t lane);  // vector -> scalar
  void replace(scalar::DType dtype, uint8_t lane);  // vector, scalar -> vector
  void splat(scalar::DType dtype);                  // scalar -> vector
  // The first lane replaces the whole vector: scalar -> vector; others: vector, scalar -> vector.
  void insert(scalar::DType dtype, uint8_t lane) {
    lane == 0 ? splat(dtype) : replace(dtype, lane);
  }
  // Widens a mask, which a comparison of this type leaves, to the lanes of the kernel's masks.
  void widen_mask(scalar::DType compared);
  // Narrows the kernel's mask to the lanes of this type.
  void narrow_mask(scalar::DType chosen);
  // Packs the low 32 bits of both 64-bit lanes into the low 64 bits; the high 64 bits repeat them.
  void pack_low_words();
  // address, vector -> (): stores all lanes in consecutive elements.
  void store(scalar::DType dtype, wasm::MemArg at);

 private:
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  const int count_;
};

}  // namespace lathe::emit_wasm
