// A heap in one region of memory that grows at its end: two-level segregated fit (Masmano, Ripoll,
// Crespo, Real: "TLSF: a new dynamic memory allocator for real-time systems", ECRTS 2004), but that
// a request searches the list of its size class first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lathe {

class Heap {
 public:
  // Grows the region to at least this address; returns its end, 0 if it cannot.
  using Reach = uint64_t (*)(uint64_t end);

  // A region that begins at `start`, a multiple of 16. The heap must own all memory that it grows
  // to.
  constexpr Heap(std::byte* start, Reach reach) : start_(start), reach_(reach) {}

  // Aligned to 16 bytes; null if there is not enough memory.
  void* allocate(size_t bytes);
  // `memory` is a result of `allocate`, or null.
  void free(void* memory);

 private:
  static constexpr uint32_t kUnit = 16;   // bytes; sizes and positions of blocks are in units
  static constexpr uint32_t kSteps = 16;  // lists between a power of two and the next
  static constexpr uint32_t kLists = 26 * kSteps;

  // The header in front of the block's contents, which begin at a multiple of kUnit. An empty block
  // follows the last one.
  struct Block {
    uint32_t size;    // in units, with this header
    uint32_t before;  // size of the preceding block, 0 for the first
    // Links of the free list, where the block is free.
    uint32_t next, previous;
  };

  Block& at(uint32_t unit) const;
  uint32_t size_at(uint32_t unit) const;
  bool is_free(uint32_t unit) const;
  static uint32_t list_of(uint32_t size);
  uint32_t find(uint32_t size) const;
  uint32_t grow(uint32_t size);
  void link(uint32_t unit, uint32_t size);
  void unlink(uint32_t unit);
  void resize(uint32_t unit, uint32_t size);

  std::byte* start_;
  Reach reach_;
  uint32_t end_ = 0;  // the empty block at the end
  uint32_t first_[kLists] = {};
  uint32_t filled_[kLists / 32] = {};
};

}  // namespace lathe
