#include "lathe/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lathe {

#ifdef __wasm__
// The wasm build has no stdio: the text travels to the host through this import-free hook.
extern "C" {
const char* lathe_check_text = nullptr;
int lathe_check_line = 0;
}
// Never inlined: its code would be there for each check.
[[gnu::noinline]] void check_failed(const char* condition, const char*, int line) {
  lathe_check_text = condition;
  lathe_check_line = line;
  __builtin_trap();
}
#else
void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: LATHE_CHECK(%s)\n", file, line, condition);
  std::abort();
}
#endif

}  // namespace lathe
