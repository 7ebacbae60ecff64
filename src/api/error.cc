#include "lathe/api/error.h"

#include <cstdlib>

#include "lathe/api/lathe.h"
#include "lathe/base/text.h"

namespace lathe::api {

std::string& last_error() {
  static std::string the_error;
  return the_error;
}

SharedBytes adopt_bytes(void* data, size_t size) {
  return {{static_cast<const std::byte*>(data), [data](auto*) { lathe_free(data); }},
          data == nullptr ? 0 : size};
}

}  // namespace lathe::api

extern "C" {

void* lathe_alloc(size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    lathe::api::last_error() = lathe::concat("out of memory: no ", size, " bytes left");
  }
  return memory;
}

void lathe_free(void* memory) { std::free(memory); }

const char* lathe_error() { return lathe::api::last_error().c_str(); }

}  // extern "C"
