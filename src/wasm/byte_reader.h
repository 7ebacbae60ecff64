// Reads the basic values of the binary format (core specification 5.2) and reports the offset of an
// error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"

namespace lathe::wasm {

bool is_utf8(std::string_view text);

class ByteReader {
 public:
  // `start` is the offset of the first byte in the module, for messages.
  explicit ByteReader(std::span<const uint8_t> bytes, size_t start = 0)
      : bytes_(bytes), start_(start) {}

  size_t offset() const { return start_ + position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return remaining() == 0; }
  // The error "at offset 0x1f: message".
  std::unexpected<Error> fail(std::string_view message) const { return fail(message, offset()); }
  std::unexpected<Error> fail(std::string_view message, size_t at) const;
  Status expect_end() const;

  Result<uint8_t> byte();
  Result<uint32_t> u32();
  Result<uint64_t> u64();
  Result<int32_t> s32();
  Result<int64_t> s33();
  Result<int64_t> s64();
  Result<uint64_t> fixed(size_t size);
  Result<std::span<const uint8_t>> bytes(size_t size);
  Result<std::string> name();
  // A reader of the next `size` bytes, which this one skips.
  Result<ByteReader> sub_reader(size_t size);
  // A count of items of at least one byte each.
  Result<uint32_t> count();

 private:
  Result<uint64_t> unsigned_leb(int bits);
  Result<int64_t> signed_leb(int bits);

  std::span<const uint8_t> bytes_;
  size_t start_;
  size_t position_ = 0;
};

}  // namespace lathe::wasm
