// Protobuf's wire format (protobuf.dev/programming-guides/encoding): fields of messages, read from
// possibly corrupt bytes, and written. Independent of message types and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"

namespace lathe::formats {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// The fields of one message in the order of its bytes, which must outlive the reader:
//
//   while (reader.next()) {
//     if (reader.number() == 1) name = reader.string();
//     if (reader.number() == 2) reader.append_to(dims);
//   }
//   LATHE_TRY(reader.status());
//
// A field whose value is not read is skipped. The first error ends the reading: truncated values,
// lengths beyond the message, varints over 64 bits, groups, or a field read as another wire type.
// Then next() is false, values are zero or empty, and status() has the offset in the file. Results
// need no more memory than the message.
class ProtobufReader {
 public:
  // `start` is the offset of the first byte in the file, for errors.
  explicit ProtobufReader(std::span<const std::byte> message, size_t start = 0)
      : message_(message), start_(start) {}

  bool next();
  bool ok() const { return error_.empty(); }
  Status status() const;
  // Records the error "protobuf: byte 12: field 3: what" unless there is one.
  void fail(std::string_view what);

  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  // The offset of the field in the file.
  size_t offset() const { return start_ + field_; }

  // The value as the declared type; int32, enumerations and bool are varints truncated to
  // their lowest bits.
  uint64_t uint64() { return expect(WireType::Varint) ? bits_ : 0; }
  int64_t int64() { return static_cast<int64_t>(uint64()); }
  int32_t int32() { return static_cast<int32_t>(uint64()); }
  bool boolean() { return uint64() != 0; }
  float float32();
  double float64();
  std::span<const std::byte> bytes();
  std::string_view string();  // not checked to be UTF-8
  ProtobufReader message();

  // Repeated numbers: all of a packed field, or the one of a field that is not.
  void append_to(std::vector<int64_t>& out);
  void append_to(std::vector<uint64_t>& out);
  void append_to(std::vector<int32_t>& out);
  void append_to(std::vector<float>& out);
  void append_to(std::vector<double>& out);

 private:
  bool expect(WireType type);
  uint64_t varint();
  uint64_t fixed(size_t size);
  template <class T>
  void append_varints(std::vector<T>& out);
  template <class T>
  void append_fixed(std::vector<T>& out, WireType type);

  std::span<const std::byte> message_;
  size_t start_;
  size_t at_ = 0, field_ = 0;
  uint32_t number_ = 0;
  WireType type_ = WireType::Varint;
  uint64_t bits_ = 0;
  std::span<const std::byte> bytes_;
  std::string error_;
};

// A message, field by field. `borrowed` fields are copied once, by bytes().
class ProtobufWriter {
 public:
  void varint(uint32_t number, uint64_t value);  // int64, int32 (with its sign), enumerations, bool
  void float32(uint32_t number, float value);
  void float64(uint32_t number, double value);
  void string(uint32_t number, std::string_view value);
  void packed(uint32_t number, std::span<const int64_t> values);
  void packed(uint32_t number, std::span<const float> values);
  void borrowed(uint32_t number, std::span<const std::byte> bytes);  // must outlive the writers
  void message(uint32_t number, const ProtobufWriter& inner);

  size_t size() const { return bytes_.size() + borrowed_size_; }
  std::vector<std::byte> bytes() const;

 private:
  struct Piece {
    size_t at;  // offset in bytes_ at which it is inserted
    std::span<const std::byte> bytes;
  };

  void number_of(uint32_t number, WireType type);
  void append_varint(uint64_t value);
  void append_fixed(uint64_t bits, size_t size);

  std::vector<std::byte> bytes_;
  std::vector<Piece> pieces_;
  size_t borrowed_size_ = 0;
};

}  // namespace lathe::formats
