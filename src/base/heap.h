// A heap in one region of memory that grows at its end: two-level segregated fit (Masmano, Ripoll,
// Crespo, Real: "TLSF: a new dynamic memory allocator for real-time systems", ECRTS 2004), but that
// a request looks through the list of its own size first. Knows nothing of who uses it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lathe {

class Heap {
 public:
  // Makes the region reach at least to this address; gives where it ends, 0 if it cannot.
  using Reach = uint64_t (*)(uint64_t end);

  // A region that begins here, at a multiple of 16. What the heap grows to, it must have for
  // itself.
  constexpr Heap(std::byte* start, Reach reach) : start_(start), reach_(reach) {}

  // At a multiple of 16; null if there is no room.
  void* allocate(size_t bytes);
  // What `allocate` gave, or null.
  void free(void* memory);

 private:
  static constexpr uint32_t kUnit = 16;   // bytes; sizes and places of blocks count them
  static constexpr uint32_t kSteps = 16;  // lists between a power of two and the next
  static constexpr uint32_t kLists = 26 * kSteps;

  // Lies in front of what the block holds, which begins at a whole unit. Behind the last block lies
  // one of no size.
  struct Block {
    uint32_t size;    // with this
    uint32_t before;  // the size of the block in front, 0 of the first
    // Of those that are free: of the lists.
    uint32_t next, previous;
  };

  Block& at(uint32_t place) const;
  uint32_t size_at(uint32_t place) const;
  bool is_free(uint32_t place) const;
  static uint32_t list_of(uint32_t size);
  uint32_t find(uint32_t size) const;
  uint32_t grow(uint32_t size);
  void put(uint32_t place, uint32_t size);
  void take(uint32_t place);
  void resize(uint32_t place, uint32_t size);

  std::byte* start_;
  Reach reach_;
  uint32_t end_ = 0;  // the block of no size
  uint32_t first_[kLists] = {};
  uint32_t filled_[kLists / 32] = {};
};

}  // namespace lathe
