// LEB128 with the length and range checks of core specification 5.2.2, and UTF-8 checks of 5.2.4.
#include "lathe/wasm/byte_reader.h"

#include "lathe/base/text.h"

namespace lathe::wasm {

bool is_utf8(std::string_view text) {
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const uint8_t first = byte_at(i);
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || length > text.size() - i) return false;
    uint32_t code = length == 1 ? first : first & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      if ((byte_at(i + k) & 0xc0) != 0x80) return false;
      code = code << 6 | (byte_at(i + k) & 0x3fu);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (overlong || surrogate || code > 0x10ffff) return false;
    i += length;
  }
  return true;
}

std::unexpected<Error> ByteReader::fail(std::string_view message, size_t at) const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (size_t rest = at; rest != 0 || hex.empty(); rest >>= 4) {
    hex.insert(hex.begin(), kDigits[rest & 15]);
  }
  return lathe::fail(concat("at offset 0x", hex, ": ", message));
}

Status ByteReader::expect_end() const {
  if (!at_end()) return fail(concat(remaining(), " bytes too many in this section"));
  return {};
}

Result<uint8_t> ByteReader::byte() {
  if (at_end()) return fail("unexpected end");
  return bytes_[position_++];
}

Result<uint64_t> ByteReader::unsigned_leb(int bits) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (shift >= bits) return fail("integer representation too long");
    LATHE_ASSIGN_OR_RETURN(const uint8_t part, byte());
    const int remaining_bits = bits - shift;
    if (remaining_bits < 7 && (part & 0x7f) >> remaining_bits != 0)
      return fail("integer too large");
    value |= static_cast<uint64_t>(part & 0x7f) << shift;
    if ((part & 0x80) == 0) return value;
  }
}

Result<int64_t> ByteReader::signed_leb(int bits) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (shift >= bits) return fail("integer representation too long");
    LATHE_ASSIGN_OR_RETURN(const uint8_t part, byte());
    const int remaining_bits = bits - shift;
    if (remaining_bits < 7) {
      // The bits above the sign bit must repeat it.
      const int excess = (part & 0x7f) >> (remaining_bits - 1);
      if (excess != 0 && excess != 0x7f >> (remaining_bits - 1)) return fail("integer too large");
    }
    value |= static_cast<uint64_t>(part & 0x7f) << shift;
    if ((part & 0x80) != 0) continue;
    const int used = shift + 7;
    if (used < 64 && (part & 0x40) != 0) value |= ~uint64_t{0} << used;
    return static_cast<int64_t>(value);
  }
}

Result<uint32_t> ByteReader::u32() {
  LATHE_ASSIGN_OR_RETURN(const uint64_t value, unsigned_leb(32));
  return static_cast<uint32_t>(value);
}

Result<uint64_t> ByteReader::u64() { return unsigned_leb(64); }

Result<int32_t> ByteReader::s32() {
  LATHE_ASSIGN_OR_RETURN(const int64_t value, signed_leb(32));
  return static_cast<int32_t>(value);
}

Result<int64_t> ByteReader::s33() { return signed_leb(33); }
Result<int64_t> ByteReader::s64() { return signed_leb(64); }

Result<uint64_t> ByteReader::fixed(size_t size) {
  LATHE_ASSIGN_OR_RETURN(const std::span<const uint8_t> parts, bytes(size));
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(parts[i]) << (8 * i);
  return value;
}

Result<std::span<const uint8_t>> ByteReader::bytes(size_t size) {
  if (size > remaining()) return fail("unexpected end: length out of bounds");
  const std::span<const uint8_t> part = bytes_.subspan(position_, size);
  position_ += size;
  return part;
}

Result<std::string> ByteReader::name() {
  LATHE_ASSIGN_OR_RETURN(const uint32_t size, u32());
  LATHE_ASSIGN_OR_RETURN(const std::span<const uint8_t> part, bytes(size));
  std::string text(part.begin(), part.end());
  if (!is_utf8(text)) return fail("malformed UTF-8 encoding");
  return text;
}

Result<ByteReader> ByteReader::sub_reader(size_t size) {
  const size_t start = offset();
  LATHE_ASSIGN_OR_RETURN(const std::span<const uint8_t> part, bytes(size));
  return ByteReader(part, start);
}

Result<uint32_t> ByteReader::count() {
  LATHE_ASSIGN_OR_RETURN(const uint32_t value, u32());
  if (value > remaining()) return fail("unexpected end: count out of bounds");
  return value;
}

}  // namespace lathe::wasm
