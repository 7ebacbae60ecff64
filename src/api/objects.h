// The objects of the handles of the C interface; the only owner.
#pragma once

#include <cstdint>
#include <map>
#include <variant>

#include "lathe/api/graph_session.h"
#include "lathe/api/session.h"

namespace lathe::api {

// Handles start at 1 and are never reused: a freed one is invalid.
class Objects {
 public:
  template <class T>
  int32_t add(T object) {
    objects_.emplace(next_handle(), std::move(object));
    return last_;
  }
  // Null where there is no such object. It stays where it is until it is removed.
  template <class T>
  T* find(int32_t handle) {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : std::get_if<T>(&found->second);
  }
  void remove(int32_t handle) { objects_.erase(handle); }
  int32_t count() const { return static_cast<int32_t>(objects_.size()); }

 private:
  int32_t next_handle();

  std::map<int32_t, std::variant<Model, GraphSession, Executable>> objects_;
  int32_t last_ = 0;
};

Objects& objects();

}  // namespace lathe::api
