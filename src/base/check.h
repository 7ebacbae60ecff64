// LATHE_CHECK aborts on violated invariants, which are defects of this library. Never use it on
// user input.
#pragma once

namespace lathe {

// Never inlined: its code would be there for each check.
[[noreturn, gnu::noinline, gnu::cold]] void check_failed(const char* condition, const char* file,
                                                         int line);

#define LATHE_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::lathe::check_failed(#condition, __FILE__, __LINE__))

}  // namespace lathe
