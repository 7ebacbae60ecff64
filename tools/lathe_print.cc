// What the command prints. Names, paths and errors come from files of strangers, so nothing reaches
// the terminal here that moves its cursor, hides or reorders characters, or begins a line;
// lathe_run.mjs has the same rule in JavaScript.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "lathe.h"
#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

struct Range {
  uint32_t first, last;
};

// Unicode 15: general categories Cc, Cf, Zl, Zp, and Default_Ignorable_Code_Point. Sorted.
constexpr Range kHidden[] = {
    {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

constexpr uint32_t kInvalid = ~0u;

bool is_hidden(uint32_t point) {
  const auto range = std::ranges::lower_bound(kHidden, point, {}, &Range::last);
  return range != std::end(kHidden) && range->first <= point;
}

// The code point at the beginning of a nonempty text and its bytes in UTF-8; kInvalid for a byte
// that begins none.
std::pair<uint32_t, size_t> first_point(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc0 || lead > 0xf4 || text.size() < size) return {kInvalid, 1};
  uint32_t point = lead & (0x7f >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return {kInvalid, 1};
    point = point << 6 | (byte & 0x3f);
  }
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kLeast[size] || point > 0x10ffff || is_surrogate) return {kInvalid, 1};
  return {point, size};
}

std::string hexadecimal(uint32_t number, int digits) {
  char text[9];
  return {text, static_cast<size_t>(std::snprintf(text, sizeof text, "%0*x", digits, number))};
}

// \n, \x1b or \u{202e}; a byte that is no UTF-8 as \xff.
std::string escaped(uint32_t point, uint8_t byte) {
  if (point == '\n') return "\\n";
  if (point == '\r') return "\\r";
  if (point == '\t') return "\\t";
  if (point == kInvalid || point < 0x80) return concat("\\x", hexadecimal(byte, 2));
  return concat("\\u{", hexadecimal(point, 1), '}');
}

// In a string of JSON: a pair of surrogates beyond 16 bits; invalid UTF-8 cannot be represented.
std::string escaped_json(uint32_t point) {
  if (point == kInvalid) return "\\ufffd";
  if (point < 0x10000) return concat("\\u", hexadecimal(point, 4));
  const uint32_t rest = point - 0x10000;
  return concat("\\u", hexadecimal(0xd800 + (rest >> 10), 4), "\\u",
                hexadecimal(0xdc00 + (rest & 0x3ff), 4));
}

template <class Escape>
void print_with(std::string_view text, std::FILE* to, const Escape& escape) {
  std::string out;
  while (!text.empty()) {
    const auto [point, size] = first_point(text);
    if (point == kInvalid || is_hidden(point)) {
      out += escape(point, static_cast<uint8_t>(text[0]));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  std::fwrite(out.data(), 1, out.size(), to);
}

}  // namespace

void print_line(std::string_view text, std::FILE* to) {
  print_with(text, to, escaped);
  std::fputc('\n', to);
}

void print_text(std::string_view text, std::FILE* to) {
  print_with(text, to, [](uint32_t point, uint8_t byte) {
    return point == '\n' ? "\n" : point == '\t' ? "\t" : escaped(point, byte);
  });
}

void print_json_line(std::string_view json) {
  print_with(json, stdout, [](uint32_t point, uint8_t) { return escaped_json(point); });
  std::fputc('\n', stdout);
}

void warn(std::string_view text) { print_line(concat("lathe: ", text), stderr); }

}  // namespace lathe::tool
