// Replacements of parts of the C and C++ libraries for the wasm32 build, so that the module
// needs no imports: running out of memory and every abort become a trap, with its reason stored
// where LATHE_CHECK stores one. Independent of the core.
#include <__verbose_abort>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "lathe/base/decimal.h"
#include "lathe/base/heap.h"

namespace {

constexpr uint64_t kPage = 65536;

uint64_t reach(uint64_t end) {
  const uint64_t pages = __builtin_wasm_memory_size(0), required = (end + kPage - 1) / kPage;
  if (required <= pages) return pages * kPage;
  if (required > UINT32_MAX / kPage) return 0;
  const size_t grown = __builtin_wasm_memory_grow(0, static_cast<size_t>(required - pages));
  return grown == SIZE_MAX ? 0 : required * kPage;
}

}  // namespace

extern "C" {
extern const char* lathe_check_text;
// Where the linker's data ends, at a multiple of 16.
extern std::byte __heap_base;

_Noreturn void abort() { __builtin_trap(); }
[[noreturn]] void __stack_chk_fail() { __builtin_trap(); }
[[noreturn]] void abort_message(const char* format, ...) {
  lathe_check_text = format;
  __builtin_trap();
}
uintptr_t __stack_chk_guard = 0x7a3c91e5;

// Why the module trapped, or null. The host may call this one function after a trap.
__attribute__((export_name("lathe_trap_text"))) const char* lathe_trap_text() {
  return lathe_check_text;
}

// One instruction each, where the C library has loops.
[[gnu::used]] void* memcpy(void* to, const void* from, size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
[[gnu::used]] void* memmove(void* to, const void* from, size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
[[gnu::used]] void* memset(void* to, int value, size_t bytes) {
  return __builtin_memset(to, value, bytes);
}

// For the messages of the JSON library, which are never printed: they have no control characters.
// The one of libc would be as large as a pass; base/text prints numbers.
int snprintf(char*, size_t, const char*, ...) { return 0; }

// As the C library's, but for names of numbers and digits to other bases than ten.
double strtod(const char* text, char** end) {
  const char* end_of_number = text;
  const double number =
      lathe::parse_decimal(text, &end_of_number, std::numeric_limits<double>::digits);
  if (end != nullptr) *end = const_cast<char*>(end_of_number);
  return number;
}
float strtof(const char* text, char** end) {
  const char* end_of_number = text;
  const double number =
      lathe::parse_decimal(text, &end_of_number, std::numeric_limits<float>::digits);
  if (end != nullptr) *end = const_cast<char*>(end_of_number);
  return static_cast<float>(number);
}
long double strtold(const char* text, char** end) { return strtod(text, end); }
// Of digits to base ten.
unsigned long long strtoull(const char* text, char** end, int base) {
  if (base != 10) __builtin_trap();
  unsigned long long number = 0;
  for (; '0' <= *text && *text <= '9'; ++text) {
    const auto digit = static_cast<unsigned long long>(*text - '0');
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, digit, &number)) {
      errno = ERANGE;
    }
  }
  if (end != nullptr) *end = const_cast<char*>(text);
  return number;
}
long long strtoll(const char* text, char** end, int base) {
  const bool is_negative = *text == '-';
  const unsigned long long size = strtoull(text + is_negative, end, base);
  if (size > uint64_t{1} << 63 || (size == uint64_t{1} << 63 && !is_negative)) errno = ERANGE;
  return static_cast<long long>(is_negative ? 0 - size : size);
}
unsigned long strtoul(const char* text, char** end, int base) {
  return static_cast<unsigned long>(strtoull(text, end, base));
}
long strtol(const char* text, char** end, int base) {
  return static_cast<long>(strtoll(text, end, base));
}

// What the C library has for angles of many turns: scalar operations reduce those beyond
// scalar::kLargestAngle themselves, and those of tables are reduced to one turn. Only the library
// itself refers to it.
[[gnu::used]] int __rem_pio2_large(double*, double*, int, int, int) {
  lathe_check_text = "an angle of too many turns";
  __builtin_trap();
}

// A quarter as long as the C library's.
static constinit lathe::Heap heap(&__heap_base, reach);
void* malloc(size_t size) { return heap.allocate(size); }
void free(void* memory) { heap.free(memory); }
void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* const memory = heap.allocate(bytes);
  if (memory != nullptr) memset(memory, 0, bytes);
  return memory;
}
// Only functions that the linker leaves out refer to these.
void* realloc(void*, size_t) { __builtin_trap(); }
void* aligned_alloc(size_t, size_t) { __builtin_trap(); }
int posix_memalign(void**, size_t, size_t) { __builtin_trap(); }

// The module is never torn down, so destructors of globals never run.
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
}

namespace {

void* allocate_or_trap(void* memory) {
  if (memory == nullptr) {
    lathe_check_text = "out of memory";
    __builtin_trap();
  }
  return memory;
}

}  // namespace

[[noreturn, gnu::noinline]] void std::__libcpp_verbose_abort(const char* format, ...) {
  lathe_check_text = format;
  __builtin_trap();
}

void* operator new(size_t size) { return allocate_or_trap(malloc(size)); }
void* operator new[](size_t size) { return allocate_or_trap(malloc(size)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { free(memory); }
