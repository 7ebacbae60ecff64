// Which thread accessed which element: detects data races of threads between two barriers.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace lathe::loop {

class Accesses {
 public:
  // False where another thread has accessed the element and one of the two stores it.
  bool note(int32_t buffer, int64_t element, int64_t thread, bool stored) {
    const auto [entry, fresh] = touched_[buffer].try_emplace(element, Touch{thread, stored});
    Touch& before = entry->second;
    if (fresh) return true;
    if (before.thread == thread) {
      before.stored |= stored;
      return true;
    }
    before.thread = kSeveral;
    return !stored && !before.stored;
  }

  // At a barrier: all stores become visible.
  void clear() { touched_.clear(); }

 private:
  static constexpr int64_t kSeveral = -1;
  struct Touch {
    int64_t thread;
    bool stored;
  };

  std::unordered_map<int32_t, std::unordered_map<int64_t, Touch>> touched_;
};

}  // namespace lathe::loop
