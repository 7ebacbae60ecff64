#include "lathe/base/file_name.h"

#include <algorithm>
#include <string>

#include "lathe/base/text.h"

namespace lathe {
namespace {

constexpr int kMaxDecodings = 4;

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The byte that an escape at the beginning of `rest` encodes, -1 where there is none.
int escaped(std::string_view rest) {
  if (rest.size() < 3 || rest[0] != '%') return -1;
  const int high = hex_digit(rest[1]), low = hex_digit(rest[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Decodes the ASCII characters among the escapes once; whether there were any.
bool decode(std::string& name) {
  std::string decoded;
  for (size_t i = 0; i < name.size(); ++i) {
    const int code = escaped(std::string_view(name).substr(i));
    const bool is_ascii = code >= 0 && code < 0x80;
    decoded += is_ascii ? static_cast<char>(code) : name[i];
    if (is_ascii) i += 2;
  }
  const bool is_changed = decoded.size() != name.size();
  name = std::move(decoded);
  return is_changed;
}

// Of '.', '/' and '\', in more bytes than UTF-8 allows; some servers decode them.
bool has_overlong_escape(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    const int first = escaped(name.substr(i));
    const int second = escaped(name.substr(std::min(i + 3, name.size())));
    if ((first == 0xc0 || first == 0xc1 || first == 0xe0 || first == 0xf0) && second >= 0x80 &&
        second < (first == 0xe0   ? 0xa0
                  : first == 0xf0 ? 0x90
                                  : 0xc0)) {
      return true;
    }
  }
  return false;
}

// "..", also between spaces, which Windows drops, and before parameters, which servers drop.
bool is_parent(std::string_view part) {
  part = part.substr(0, part.find_first_of(";?#"));
  std::string dots;
  for (const char c : part) {
    if (c != ' ') dots += c;
  }
  return dots == "..";
}

// The part of a name in front of a query.
std::string_view path_of(std::string_view name) { return name.substr(0, name.find('?')); }

// "https:", "C:".
bool has_scheme(std::string_view name) {
  while (name.starts_with("./")) {
    name.remove_prefix(std::min(name.find_first_not_of('/', 1), name.size()));
  }
  const size_t end = name.find_first_of(":/?");
  return end != name.npos && end > 0 && name[end] == ':';
}

}  // namespace

bool stays_in_folder(std::string_view name) {
  if (has_scheme(name)) return false;
  std::string decoded(path_of(name));
  const auto slashes = std::ranges::count(decoded, '/');
  for (int passes = 0; decode(decoded); ++passes) {
    if (passes == kMaxDecodings) return false;
  }
  // Servers treat an escaped slash as a slash.
  if (std::ranges::count(decoded, '/') != slashes) return false;
  decoded.assign(name);
  for (int passes = 0; decode(decoded); ++passes) {
    if (passes == kMaxDecodings) return false;
  }
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\';
  };
  if (std::ranges::any_of(decoded, is_control) || has_overlong_escape(decoded)) return false;
  const std::string_view path = path_of(decoded);
  if (path.starts_with('/') || path.starts_with('#')) return false;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.empty() || file == ".") return false;
  for (size_t start = 0; start <= decoded.size();) {
    const size_t end = std::min(decoded.find('/', start), decoded.size());
    if (is_parent(std::string_view(decoded).substr(start, end - start))) return false;
    start = end + 1;
  }
  return true;
}

}  // namespace lathe
