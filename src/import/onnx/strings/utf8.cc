#include "lathe/import/onnx/strings/utf8.h"

namespace lathe::onnx {

namespace {

// Capital letters from `first` to `last` whose small ones are `distance` later; 1: alternating.
struct Letters {
  char32_t first, last, distance;
};
constexpr Letters kLetters[] = {
    {U'A', U'Z', 32},   {0xC0, 0xD6, 32},    {0xD8, 0xDE, 32},    {0x100, 0x12E, 1},
    {0x132, 0x136, 1},  {0x139, 0x147, 1},   {0x14A, 0x176, 1},   {0x179, 0x17D, 1},
    {0x386, 0x386, 38}, {0x388, 0x38A, 37},  {0x391, 0x3A1, 32},  {0x3A3, 0x3AB, 32},
    {0x400, 0x40F, 80}, {0x410, 0x42F, 32},  {0x460, 0x480, 1},   {0x48A, 0x4BE, 1},
    {0x4D0, 0x52E, 1},  {0x1E00, 0x1E94, 1}, {0x1EA0, 0x1EFE, 1},
};

}  // namespace

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> points;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t more = first >= 0xF0 && first < 0xF8 ? 3
                        : first >= 0xE0               ? 2
                        : first >= 0xC2               ? 1
                                                      : 0;
    char32_t point = more == 0 || first >= 0xF8 ? first : first & (0x3Fu >> more);
    size_t length = 1;
    bool is_valid = first < 0xF8 && at + more < text.size();
    for (size_t k = 1; is_valid && k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[at + k]);
      is_valid = (next & 0xC0) == 0x80;
      point = point << 6 | (next & 0x3Fu);
    }
    if (is_valid) length += more;
    points.push_back(is_valid ? point : first);
    at += length;
  }
  return points;
}

void append_utf8(std::string& text, char32_t point) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  add((0xFF00u >> (more + 1) & 0xFF) | point >> 6 * more);
  for (int k = more; k-- > 0;) add(0x80 | (point >> 6 * k & 0x3F));
}

char32_t lower_case(char32_t point) {
  for (const auto& [first, last, distance] : kLetters) {
    if (point < first || point > last) continue;
    if (distance == 1 && (point - first) % 2 != 0) return point;
    return point + distance;
  }
  return point == 0x178 ? 0xFF : point;
}

char32_t upper_case(char32_t point) {
  for (const auto& [first, last, distance] : kLetters) {
    if (point < first + distance || point > last + distance) continue;
    if (distance == 1 && (point - first) % 2 == 0) return point;
    return point - distance;
  }
  if (point == 0x3C2) return 0x3A3;
  return point == 0xFF ? 0x178 : point;
}

}  // namespace lathe::onnx
