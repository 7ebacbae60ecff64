#include "api/objects.h"

#include "base/check.h"

namespace lathe::api {

int32_t Objects::next_handle() {
  CHECK(last_ < INT32_MAX);
  return ++last_;
}

Objects& objects() {
  static Objects the_objects;
  return the_objects;
}

}  // namespace lathe::api
