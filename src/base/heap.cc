#include "lathe/base/heap.h"

#include <bit>

namespace lathe {
namespace {

constexpr uint32_t kFree = uint32_t{1} << 31;  // beside the size
constexpr size_t kMost = 0xf0000000;           // bytes of a request
constexpr int kTries = 64;                     // of blocks that may be too small

}  // namespace

// Places count from 1: 0 is none.
Heap::Block& Heap::at(uint32_t place) const {
  return *reinterpret_cast<Block*>(start_ + size_t{place} * kUnit - kUnit / 2);
}

uint32_t Heap::size_at(uint32_t place) const { return at(place).size & ~kFree; }

bool Heap::is_free(uint32_t place) const { return (at(place).size & kFree) != 0; }

uint32_t Heap::list_of(uint32_t size) {
  if (size < kSteps) return size;
  const auto shift = static_cast<uint32_t>(std::bit_width(size / kSteps)) - 1;
  return (shift << 4) + (size >> shift);
}

void Heap::resize(uint32_t place, uint32_t size) {
  at(place).size = size;
  at(place + size).before = size;
}

// Adds a free block to its list.
void Heap::put(uint32_t place, uint32_t size) {
  const uint32_t list = list_of(size), next = first_[list];
  resize(place, size);
  Block& block = at(place);
  block.size |= kFree;
  block.next = next;
  block.previous = 0;
  if (next != 0) at(next).previous = place;
  first_[list] = place;
  filled_[list / 32] |= uint32_t{1} << list % 32;
}

// Takes a free block out of its list.
void Heap::take(uint32_t place) {
  Block& block = at(place);
  block.size &= ~kFree;
  const uint32_t list = list_of(block.size);
  if (block.next != 0) at(block.next).previous = block.previous;
  if (block.previous != 0) {
    at(block.previous).next = block.next;
  } else {
    first_[list] = block.next;
    if (block.next == 0) filled_[list / 32] &= ~(uint32_t{1} << list % 32);
  }
}

// A free block of at least this size; 0: there is none.
uint32_t Heap::find(uint32_t size) const {
  const uint32_t own = list_of(size);
  int tries = kTries;
  for (uint32_t place = first_[own]; place != 0 && tries-- > 0; place = at(place).next) {
    if (size_at(place) >= size) return place;
  }
  // All of the lists behind are large enough.
  uint32_t mask = ~uint32_t{1} << own % 32;
  for (uint32_t word = own / 32; word < kLists / 32; ++word) {
    const uint32_t filled = filled_[word] & mask;
    if (filled != 0) return first_[word * 32 + static_cast<uint32_t>(std::countr_zero(filled))];
    mask = ~uint32_t{0};
  }
  return 0;
}

// A block of at least this size at the end, in no list; 0: the region cannot grow.
uint32_t Heap::grow(uint32_t size) {
  uint32_t place = 1;
  if (end_ != 0) {
    const uint32_t last = end_ - at(end_).before;
    place = is_free(last) ? last : end_;
  }
  const auto start = reinterpret_cast<uintptr_t>(start_);
  const uint64_t end = reach_(start + (uint64_t{place} + size) * kUnit);
  if (end == 0) return 0;
  if (end_ == 0) at(place).before = 0;
  if (place < end_) take(place);
  end_ = static_cast<uint32_t>((end - start) / kUnit);
  at(end_).size = 0;
  resize(place, end_ - place);
  return place;
}

void* Heap::allocate(size_t bytes) {
  if (bytes > kMost) return nullptr;
  const auto size = static_cast<uint32_t>((bytes + kUnit / 2 + kUnit - 1) / kUnit);
  uint32_t place = find(size);
  if (place != 0) {
    take(place);
  } else {
    place = grow(size);
    if (place == 0) return nullptr;
  }
  const uint32_t rest = at(place).size - size;
  if (rest != 0) {
    resize(place, size);
    put(place + size, rest);
  }
  return start_ + size_t{place} * kUnit;
}

void Heap::free(void* memory) {
  if (memory == nullptr) return;
  auto place = static_cast<uint32_t>((static_cast<std::byte*>(memory) - start_) / kUnit);
  uint32_t size = at(place).size;
  if (const uint32_t next = place + size; is_free(next)) {
    size += size_at(next);
    take(next);
  }
  // The first lies behind itself, and is not free.
  if (const uint32_t before = place - at(place).before; is_free(before)) {
    size += size_at(before);
    take(before);
    place = before;
  }
  put(place, size);
}

}  // namespace lathe
