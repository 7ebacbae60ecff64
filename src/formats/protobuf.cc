// Tags, varints, fixed and length-delimited values (protobuf.dev/programming-guides/encoding).
#include "lathe/formats/protobuf.h"

#include <bit>
#include <type_traits>

#include "lathe/base/text.h"

namespace lathe::formats {

namespace {

constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

template <class T>
T float_of(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    return std::bit_cast<double>(bits);
  }
}

}  // namespace

void ProtobufReader::fail(std::string_view what) {
  if (!ok()) return;
  append(error_, "protobuf: byte ", offset(), ": ");
  if (number_ != 0) append(error_, "field ", number_, ": ");
  append(error_, what);
}

Status ProtobufReader::status() const {
  if (!ok()) return lathe::fail(error_);
  return {};
}

uint64_t ProtobufReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == message_.size()) {
      fail("the message ends within a number");
      return 0;
    }
    const auto part = static_cast<uint64_t>(message_[at_++]);
    if (shift == 63 && part > 1) break;
    value |= (part & 0x7f) << shift;
    if (part < 0x80) return value;
  }
  fail("a varint has more than 64 bits");
  return 0;
}

uint64_t ProtobufReader::fixed(size_t size) {
  if (message_.size() - at_ < size) {
    fail("the message ends within a number");
    return 0;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(message_[at_++]) << (8 * i);
  return value;
}

bool ProtobufReader::next() {
  if (!ok() || at_ == message_.size()) return false;
  field_ = at_;
  number_ = 0;
  const uint64_t tag = varint();
  if (!ok()) return false;
  if (tag >> 3 == 0 || tag >> 3 > kMaxFieldNumber) {
    fail(concat("no field has the number ", tag >> 3));
    return false;
  }
  number_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  bytes_ = {};
  switch (tag & 7) {
    case 0:
      bits_ = varint();
      break;
    case 1:
      bits_ = fixed(8);
      break;
    case 2: {
      const uint64_t size = varint();
      if (ok() && size > message_.size() - at_) {
        fail(concat("has ", size, " bytes, but the message ends after ", message_.size() - at_));
      }
      if (!ok()) break;
      bytes_ = message_.subspan(at_, static_cast<size_t>(size));
      at_ += bytes_.size();
      break;
    }
    case 5:
      bits_ = fixed(4);
      break;
    default:
      fail(concat("has the wire type ", tag & 7, "; groups are not read"));
  }
  return ok();
}

bool ProtobufReader::expect(WireType type) {
  if (ok() && type_ != type) {
    fail(concat("has the wire type ", static_cast<int>(type_), ", not ", static_cast<int>(type)));
  }
  return ok();
}

float ProtobufReader::float32() { return expect(WireType::Fixed32) ? float_of<float>(bits_) : 0; }

double ProtobufReader::float64() { return expect(WireType::Fixed64) ? float_of<double>(bits_) : 0; }

std::span<const std::byte> ProtobufReader::bytes() {
  return expect(WireType::Bytes) ? bytes_ : std::span<const std::byte>();
}

std::string_view ProtobufReader::string() {
  const auto value = bytes();
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

ProtobufReader ProtobufReader::message() {
  const auto value = bytes();
  ProtobufReader inner(value, start_ + at_ - value.size());
  inner.error_ = error_;
  return inner;
}

template <class T>
void ProtobufReader::append_varints(std::vector<T>& out) {
  if (type_ != WireType::Bytes) {
    const uint64_t value = uint64();
    if (ok()) out.push_back(static_cast<T>(value));
    return;
  }
  ProtobufReader packed = message();
  packed.number_ = number_;
  while (packed.ok() && packed.at_ < packed.message_.size()) {
    packed.field_ = packed.at_;
    const uint64_t value = packed.varint();
    if (packed.ok()) out.push_back(static_cast<T>(value));
  }
  error_ = packed.error_;
}

template <class T>
void ProtobufReader::append_fixed(std::vector<T>& out, WireType type) {
  if (type_ != WireType::Bytes) {
    if (expect(type)) out.push_back(float_of<T>(bits_));
    return;
  }
  ProtobufReader packed = message();
  if (packed.message_.size() % sizeof(T) != 0) {
    fail(concat("has ", packed.message_.size(), " bytes, no multiple of ", sizeof(T)));
  }
  if (!ok()) return;
  out.reserve(out.size() + packed.message_.size() / sizeof(T));
  while (packed.at_ < packed.message_.size()) {
    out.push_back(float_of<T>(packed.fixed(sizeof(T))));
  }
}

void ProtobufReader::append_to(std::vector<int64_t>& out) { append_varints(out); }
void ProtobufReader::append_to(std::vector<uint64_t>& out) { append_varints(out); }
void ProtobufReader::append_to(std::vector<int32_t>& out) { append_varints(out); }
void ProtobufReader::append_to(std::vector<float>& out) { append_fixed(out, WireType::Fixed32); }
void ProtobufReader::append_to(std::vector<double>& out) { append_fixed(out, WireType::Fixed64); }

void ProtobufWriter::append_varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
  bytes_.push_back(static_cast<std::byte>(value));
}

void ProtobufWriter::append_fixed(uint64_t bits, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

void ProtobufWriter::number_of(uint32_t number, WireType type) {
  append_varint(uint64_t{number} << 3 | static_cast<uint64_t>(type));
}

void ProtobufWriter::varint(uint32_t number, uint64_t value) {
  number_of(number, WireType::Varint);
  append_varint(value);
}

void ProtobufWriter::float32(uint32_t number, float value) {
  number_of(number, WireType::Fixed32);
  append_fixed(std::bit_cast<uint32_t>(value), 4);
}

void ProtobufWriter::float64(uint32_t number, double value) {
  number_of(number, WireType::Fixed64);
  append_fixed(std::bit_cast<uint64_t>(value), 8);
}

void ProtobufWriter::string(uint32_t number, std::string_view value) {
  number_of(number, WireType::Bytes);
  append_varint(value.size());
  const auto bytes = std::as_bytes(std::span(value));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void ProtobufWriter::packed(uint32_t number, std::span<const int64_t> values) {
  ProtobufWriter inner;
  for (const int64_t value : values) inner.append_varint(static_cast<uint64_t>(value));
  message(number, inner);
}

void ProtobufWriter::packed(uint32_t number, std::span<const float> values) {
  ProtobufWriter inner;
  for (const float value : values) inner.append_fixed(std::bit_cast<uint32_t>(value), 4);
  message(number, inner);
}

void ProtobufWriter::borrowed(uint32_t number, std::span<const std::byte> bytes) {
  number_of(number, WireType::Bytes);
  append_varint(bytes.size());
  pieces_.push_back({bytes_.size(), bytes});
  borrowed_size_ += bytes.size();
}

void ProtobufWriter::message(uint32_t number, const ProtobufWriter& inner) {
  number_of(number, WireType::Bytes);
  append_varint(inner.size());
  for (const Piece& piece : inner.pieces_)
    pieces_.push_back({bytes_.size() + piece.at, piece.bytes});
  bytes_.insert(bytes_.end(), inner.bytes_.begin(), inner.bytes_.end());
  borrowed_size_ += inner.borrowed_size_;
}

std::vector<std::byte> ProtobufWriter::bytes() const {
  std::vector<std::byte> out;
  out.reserve(size());
  auto from = bytes_.begin();
  for (const Piece& piece : pieces_) {
    const auto to = bytes_.begin() + static_cast<std::ptrdiff_t>(piece.at);
    out.insert(out.end(), from, to);
    out.insert(out.end(), piece.bytes.begin(), piece.bytes.end());
    from = to;
  }
  out.insert(out.end(), from, bytes_.end());
  return out;
}

}  // namespace lathe::formats
