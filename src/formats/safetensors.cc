#include "lathe/formats/safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "lathe/base/json.h"
#include "lathe/base/json_writer.h"
#include "lathe/base/sort.h"
#include "lathe/base/text.h"

namespace lathe::formats {
namespace {

// The limit of the specification.
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kLengthBytes = 8;

std::string_view type_name(graph::DType dtype) {
  constexpr std::string_view kNames[] = {
#define SAFETENSORS(name_) #name_
#define LATHE_DTYPE(name_, text_, type_, kind_, computed_, wasm_, wgsl_, js_, numpy_, \
                    safetensors_)                                                     \
  safetensors_,
#include "lathe/scalar/dtypes.def"
#undef SAFETENSORS
  };
  return kNames[static_cast<size_t>(dtype)];
}

// Floats of 8 bits, with infinities as in IEEE 754, or without and with NaN as all ones.
struct Float8 {
  std::string_view name;
  int fraction_bits, bias;
  bool has_infinity;
};
constexpr Float8 kFloat8[] = {{"F8_E4M3", 3, 7, false}, {"F8_E5M2", 2, 15, true}};

float value_of(const Float8& type, unsigned bits) {
  const int exponent_bits = 7 - type.fraction_bits;
  const int last = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits & 0x7f) >> type.fraction_bits;
  const int fraction = static_cast<int>(bits) & ((1 << type.fraction_bits) - 1);
  const int one = 1 << type.fraction_bits;
  float value = exponent == 0
                    ? std::ldexp(static_cast<float>(fraction), 1 - type.bias - type.fraction_bits)
                    : std::ldexp(static_cast<float>(one + fraction),
                                 exponent - type.bias - type.fraction_bits);
  if (exponent == last && type.has_infinity) value = fraction == 0 ? INFINITY : NAN;
  if (exponent == last && !type.has_infinity && fraction == one - 1) value = NAN;
  return (bits & 0x80) != 0 ? -value : value;
}

struct Entry {
  std::string name;
  graph::DType dtype = graph::DType::F32;
  const Float8* float8 = nullptr;
  std::string unread = {};
  graph::Shape shape;
  uint64_t from = 0, to = 0;
};

std::unexpected<Error> wrong(std::string_view name, std::string_view what) {
  std::string message = "safetensors: the tensor ";
  append_json(message, name);
  append(message, ' ', what);
  return fail(std::move(message));
}

// A JSON array of non-negative integers, or nothing.
std::optional<std::vector<uint64_t>> read_counts(const Json* json) {
  if (json == nullptr || !json->is_array()) return std::nullopt;
  std::vector<uint64_t> counts;
  for (const Json& each : json->values()) {
    if (!each.is_count()) return std::nullopt;
    counts.push_back(static_cast<uint64_t>(each.number()));
  }
  return counts;
}

Result<Entry> read_entry(const std::string& name, const Json& json) {
  Entry entry;
  entry.name = name;
  if (!json.is_object()) return wrong(name, "must be an object");
  const Json* type = json.find("dtype");
  const auto shape = read_counts(json.find("shape"));
  const auto offsets = read_counts(json.find("data_offsets"));
  bool is_supported = false;
  for (const auto dtype : scalar::kDTypes) {
    if (type == nullptr || !type->is_string() || type->string() != type_name(dtype)) continue;
    entry.dtype = dtype;
    is_supported = true;
  }
  if (type == nullptr || !type->is_string()) return wrong(name, "has no dtype");
  for (const Float8& each : kFloat8) {
    if (type->string() == each.name) entry.float8 = &each;
  }
  if (!is_supported && entry.float8 == nullptr) entry.unread = type->string();
  if (!shape) return wrong(name, "has no shape");
  if (!offsets || offsets->size() != 2) return wrong(name, "has no data_offsets");
  entry.from = offsets->front();
  entry.to = offsets->back();
  auto bytes = entry.float8 != nullptr ? 1 : static_cast<uint64_t>(scalar::size_of(entry.dtype));
  for (const uint64_t length : *shape) {
    if (length > INT32_MAX || (length > 0 && bytes > UINT64_MAX / length)) {
      return wrong(name, "is too large");
    }
    bytes *= length;
    entry.shape.push_back(static_cast<int64_t>(length));
  }
  const bool is_sized = entry.unread.empty();
  if (entry.to < entry.from || (is_sized && entry.to - entry.from != bytes)) {
    return wrong(name, concat("of shape ", bracketed(entry.shape), " has ", bytes,
                              " bytes, but its data_offsets are ", bracketed(*offsets)));
  }
  return entry;
}

Result<Json> read_header(std::span<const std::byte> file, uint64_t& length) {
  if (file.size() < kLengthBytes) return fail("safetensors: the file has less than 8 bytes");
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeader || length > file.size() - kLengthBytes) {
    return fail(concat("safetensors: the header of ", length, " bytes is longer than the file"));
  }
  const char* text = reinterpret_cast<const char*>(file.data()) + kLengthBytes;
  auto header = Json::parse({text, static_cast<size_t>(length)});
  if (header && header->is_object()) return header;
  return fail(concat("safetensors: the header is no JSON object",
                     header ? "" : concat(": ", header.error().message)));
}

}  // namespace

Status check_read(const NamedArray& tensor) {
  if (tensor.unread.empty()) return {};
  std::string supported;
  for (const auto dtype : scalar::kDTypes) append(supported, type_name(dtype), ", ");
  return wrong(tensor.name, concat("has the type ", json_string(tensor.unread), "; supported: ",
                                   supported, kFloat8[0].name, ", ", kFloat8[1].name));
}

std::vector<std::byte> write_safetensors(std::span<const NamedArray> tensors) {
  JsonWriter json;
  json.begin_object().key("__metadata__").begin_object().member("format", "tensorlathe");
  json.end_object();
  size_t end = 0;
  for (const auto& [name, array, unread] : tensors) {
    const size_t begin = std::exchange(end, end + array.data.size());
    json.key(name).begin_object().member("dtype", type_name(array.dtype));
    json.member("shape", array.shape).key("data_offsets");
    json.begin_array().value(begin).value(end).end_array().end_object();
  }
  std::string header = json.end_object().release();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::vector<std::byte> file(kLengthBytes + length);
  std::memcpy(file.data(), &length, kLengthBytes);
  std::memcpy(file.data() + kLengthBytes, header.data(), length);
  for (const auto& [name, array, unread] : tensors) {
    file.insert(file.end(), array.data.begin(), array.data.end());
  }
  return file;
}

Result<std::vector<NamedArray>> read_safetensors(std::span<const std::byte> file) {
  uint64_t length = 0;
  LATHE_ASSIGN_OR_RETURN(const Json header, read_header(file, length));
  std::vector<Entry> entries;
  for (size_t i = 0; i < header.keys().size(); ++i) {
    if (header.keys()[i] == "__metadata__") continue;
    LATHE_ASSIGN_OR_RETURN(Entry entry, read_entry(header.keys()[i], header.values()[i]));
    entries.push_back(std::move(entry));
  }
  sort_by(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });

  const auto data = file.subspan(kLengthBytes + length);
  std::vector<NamedArray> tensors;
  uint64_t end = 0;
  for (Entry& entry : entries) {
    if (entry.from != end) {
      return wrong(entry.name, concat("begins at byte ", entry.from, " of the data, not ", end));
    }
    end = entry.to;
    if (end > data.size()) {
      return wrong(entry.name, concat("ends at byte ", end, ", the data at ", data.size()));
    }
    const auto bytes = data.subspan(entry.from, entry.to - entry.from);
    NamedArray tensor = {
        std::move(entry.name), {entry.dtype, std::move(entry.shape), {}}, std::move(entry.unread)};
    if (entry.float8 != nullptr) {
      std::vector<float> values;
      for (const std::byte each : bytes) {
        values.push_back(value_of(*entry.float8, static_cast<unsigned>(each)));
      }
      tensor.array = graph::Array::of(tensor.array.shape, values);
    } else if (tensor.unread.empty()) {
      tensor.array.data.assign(bytes.begin(), bytes.end());
    }
    tensors.push_back(std::move(tensor));
  }
  if (end != data.size()) {
    return fail(concat("safetensors: ", data.size() - end, " bytes belong to no tensor"));
  }
  return tensors;
}

}  // namespace lathe::formats
