#include "lathe/base/heap.h"

#include <bit>

namespace lathe {
namespace {

constexpr uint32_t kFree = uint32_t{1} << 31;  // a bit of Block::size
constexpr size_t kMaxBytes = 0xf0000000;       // of a request
constexpr int kTries = 64;                     // blocks of the first list that are tried

}  // namespace

// Units are numbered from 1: 0 is none.
Heap::Block& Heap::at(uint32_t unit) const {
  return *reinterpret_cast<Block*>(start_ + size_t{unit} * kUnit - kUnit / 2);
}

uint32_t Heap::size_at(uint32_t unit) const { return at(unit).size & ~kFree; }

bool Heap::is_free(uint32_t unit) const { return (at(unit).size & kFree) != 0; }

uint32_t Heap::list_of(uint32_t size) {
  if (size < kSteps) return size;
  const auto shift = static_cast<uint32_t>(std::bit_width(size / kSteps)) - 1;
  return (shift << 4) + (size >> shift);
}

void Heap::resize(uint32_t unit, uint32_t size) {
  at(unit).size = size;
  at(unit + size).before = size;
}

// Adds a free block to its list.
void Heap::link(uint32_t unit, uint32_t size) {
  const uint32_t list = list_of(size), next = first_[list];
  resize(unit, size);
  Block& block = at(unit);
  block.size |= kFree;
  block.next = next;
  block.previous = 0;
  if (next != 0) at(next).previous = unit;
  first_[list] = unit;
  filled_[list / 32] |= uint32_t{1} << list % 32;
}

// Removes a free block from its list.
void Heap::unlink(uint32_t unit) {
  Block& block = at(unit);
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
  const uint32_t first_list = list_of(size);
  int tries = kTries;
  for (uint32_t unit = first_[first_list]; unit != 0 && tries-- > 0; unit = at(unit).next) {
    if (size_at(unit) >= size) return unit;
  }
  // Every block of the following lists is large enough.
  uint32_t mask = ~uint32_t{1} << first_list % 32;
  for (uint32_t word = first_list / 32; word < kLists / 32; ++word) {
    const uint32_t filled = filled_[word] & mask;
    if (filled != 0) return first_[word * 32 + static_cast<uint32_t>(std::countr_zero(filled))];
    mask = ~uint32_t{0};
  }
  return 0;
}

// A block of at least this size at the end, in no list; 0: the region cannot grow.
uint32_t Heap::grow(uint32_t size) {
  uint32_t unit = 1;
  if (end_ != 0) {
    const uint32_t last = end_ - at(end_).before;
    unit = is_free(last) ? last : end_;
  }
  const auto start = reinterpret_cast<uintptr_t>(start_);
  const uint64_t end = reach_(start + (uint64_t{unit} + size) * kUnit);
  if (end == 0) return 0;
  if (end_ == 0) at(unit).before = 0;
  if (unit < end_) unlink(unit);
  end_ = static_cast<uint32_t>((end - start) / kUnit);
  at(end_).size = 0;
  resize(unit, end_ - unit);
  return unit;
}

void* Heap::allocate(size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  const auto size = static_cast<uint32_t>((bytes + kUnit / 2 + kUnit - 1) / kUnit);
  uint32_t unit = find(size);
  if (unit != 0) {
    unlink(unit);
  } else {
    unit = grow(size);
    if (unit == 0) return nullptr;
  }
  const uint32_t rest = at(unit).size - size;
  if (rest != 0) {
    resize(unit, size);
    link(unit + size, rest);
  }
  return start_ + size_t{unit} * kUnit;
}

void Heap::free(void* memory) {
  if (memory == nullptr) return;
  auto unit = static_cast<uint32_t>((static_cast<std::byte*>(memory) - start_) / kUnit);
  uint32_t size = at(unit).size;
  if (const uint32_t next = unit + size; is_free(next)) {
    size += size_at(next);
    unlink(next);
  }
  // The first block precedes itself, and is not free.
  if (const uint32_t before = unit - at(unit).before; is_free(before)) {
    size += size_at(before);
    unlink(before);
    unit = before;
  }
  link(unit, size);
}

}  // namespace lathe
