#include "lathe/api/objects.h"

#include "lathe/base/check.h"

namespace lathe::api {

int32_t Objects::next_handle() {
  LATHE_CHECK(last_ < INT32_MAX);
  return ++last_;
}

Objects& objects() {
  static Objects the_objects;
  return the_objects;
}

}  // namespace lathe::api
