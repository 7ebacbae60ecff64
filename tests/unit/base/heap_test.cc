#include "lathe/base/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace lathe {
namespace {

constexpr size_t kPage = 4096;
// Bytes of a region with one block that are not the block's.
constexpr size_t kOverhead = 24;
alignas(16) std::byte region[1024 * kPage];
size_t pages = 0;

uint64_t reach(uint64_t end) {
  const auto start = reinterpret_cast<uintptr_t>(region);
  const uint64_t needed = (end - start + kPage - 1) / kPage;
  if (needed > sizeof(region) / kPage) return 0;
  pages = std::max(pages, static_cast<size_t>(needed));
  return start + pages * kPage;
}

Heap fresh_heap() {
  std::memset(region, 0xa5, sizeof(region));
  pages = 0;
  return Heap(region, reach);
}

struct Allocation {
  std::byte* memory;
  size_t bytes;
  std::byte mark;
};

bool is_intact(const Allocation& allocation) {
  return std::all_of(allocation.memory, allocation.memory + allocation.bytes,
                     [&](std::byte each) { return each == allocation.mark; });
}

TEST(Heap, AllocationsDoNotOverlap) {
  std::mt19937 random(3);
  Heap heap = fresh_heap();
  std::vector<Allocation> all;
  for (int step = 0; step < 200'000; ++step) {
    if (random() % 2 == 0 && all.size() < 500) {
      const size_t bytes = random() % (size_t{1} << random() % 14);
      auto* memory = static_cast<std::byte*>(heap.allocate(bytes));
      ASSERT_NE(memory, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % 16, 0U);
      ASSERT_LE(memory + bytes, region + pages * kPage);
      all.push_back({memory, bytes, static_cast<std::byte>(random())});
      std::memset(memory, static_cast<int>(all.back().mark), bytes);
    } else if (!all.empty()) {
      std::swap(all[random() % all.size()], all.back());
      ASSERT_TRUE(is_intact(all.back())) << step;
      heap.free(all.back().memory);
      all.pop_back();
    }
  }
  for (const Allocation& allocation : all) {
    EXPECT_TRUE(is_intact(allocation));
    heap.free(allocation.memory);
  }
  // Everything is merged into one block.
  const size_t before = pages;
  EXPECT_NE(heap.allocate(before * kPage - kOverhead), nullptr);
  EXPECT_EQ(pages, before);
}

TEST(Heap, ReusesFreedBlocks) {
  Heap heap = fresh_heap();
  for (size_t bytes = 1; bytes < 3'000'000; bytes = bytes * 5 / 4 + 1) {
    void* const first = heap.allocate(bytes);
    ASSERT_NE(first, nullptr);
    void* const next = heap.allocate(1);
    heap.free(first);
    EXPECT_EQ(heap.allocate(bytes), first) << bytes;
    heap.free(next);
    heap.free(first);
  }
}

TEST(Heap, GrowsByWhatIsMissingAtItsEnd) {
  Heap heap = fresh_heap();
  heap.free(heap.allocate(100 * kPage));
  EXPECT_NE(heap.allocate(150 * kPage), nullptr);
  EXPECT_EQ(pages, 151U);
}

TEST(Heap, ReturnsNullWhenFullAndGoesOn) {
  Heap heap = fresh_heap();
  EXPECT_EQ(heap.allocate(sizeof(region)), nullptr);
  EXPECT_EQ(heap.allocate(SIZE_MAX), nullptr);
  void* const largest = heap.allocate(sizeof(region) - kOverhead);
  EXPECT_NE(largest, nullptr);
  EXPECT_EQ(heap.allocate(0), nullptr);
  heap.free(largest);
  heap.free(nullptr);
  EXPECT_NE(heap.allocate(0), nullptr);
}

}  // namespace
}  // namespace lathe
