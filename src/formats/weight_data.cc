#include "lathe/formats/weight_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/scalar/number.h"

namespace lathe::formats {
namespace {

struct StoredType {
  std::string_view text;
  Bits bits;
  size_t bytes;
};
constexpr StoredType kStored[] = {
    {"float16", Bits::Float16, 2}, {"uint16", Bits::UInt16, 2}, {"uint8", Bits::UInt8, 1}};

struct PlainType {
  std::string_view text;
  graph::DType dtype;
};
constexpr PlainType kPlain[] = {
    {"float32", graph::DType::F32}, {"int32", graph::DType::I32}, {"bool", graph::DType::Bool}};

constexpr double kMaxElements = 4294967296;  // what a module can address

std::unexpected<Error> invalid_tensor(std::string_view name, std::string_view what) {
  std::string message = "the tensor ";
  append_json(message, name.substr(0, 100));
  append(message, ' ', what);
  return fail(std::move(message));
}

// A JSON value as errors print it, truncated.
std::string excerpt(const Json* json) {
  constexpr size_t kMaxLength = 40;
  std::string text = json == nullptr ? "nothing" : json->dump();
  if (text.size() <= kMaxLength) return text;
  size_t end = kMaxLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

Result<Quantization> read_quantization(const std::string& name, const Json& json) {
  const Json* type = json.find("dtype");
  const auto row = type != nullptr ? std::ranges::find(kStored, type->string(), &StoredType::text)
                                   : std::end(kStored);
  if (row == std::end(kStored)) {
    return invalid_tensor(
        name, concat("is stored as ", excerpt(type), "; supported: float16, uint16, uint8"));
  }
  Quantization stored{row->bits};
  if (row->bits == Bits::Float16) return stored;
  const Json* scale = json.find("scale");
  const Json* min = json.find("min");
  if (scale == nullptr || !scale->is_number() || min == nullptr || !min->is_number()) {
    return invalid_tensor(name, concat("is stored as ", row->text, " without scale and min"));
  }
  stored.scale = scale->number();
  stored.min = min->number();
  return stored;
}

Result<WeightSpec> read_spec(const Json& json) {
  WeightSpec spec;
  const Json* name = json.find("name");
  const Json* shape = json.find("shape");
  const Json* type = json.find("dtype");
  const Json* group = json.find("group");
  const Json* stored = json.find("quantization");
  if (name == nullptr || !name->is_string()) return fail("a tensor has no name that is a string");
  spec.name = name->string();
  if (shape == nullptr || !shape->is_array() ||
      !std::ranges::all_of(shape->values(), &Json::is_count)) {
    return invalid_tensor(spec.name, concat("has no shape, but ", excerpt(shape)));
  }
  double elements = 1;
  for (const Json& size : shape->values()) {
    elements *= size.number();
    if (size.number() > INT32_MAX || elements > kMaxElements) {
      return invalid_tensor(spec.name, "is too large");
    }
    spec.shape.push_back(static_cast<int64_t>(size.number()));
  }
  const auto row = type != nullptr ? std::ranges::find(kPlain, type->string(), &PlainType::text)
                                   : std::end(kPlain);
  if (row == std::end(kPlain)) {
    return invalid_tensor(
        spec.name, concat("has the dtype ", excerpt(type), "; supported: float32, int32, bool"));
  }
  spec.dtype = row->dtype;
  if (group != nullptr && group->is_string()) spec.group = group->string();
  if (stored != nullptr) {
    LATHE_ASSIGN_OR_RETURN(spec.stored, read_quantization(spec.name, *stored));
  }
  return spec;
}

int32_t nearest_int(double value) {
  return static_cast<int32_t>(
      std::clamp(std::floor(value + 0.5), double{INT32_MIN}, double{INT32_MAX}));
}

// Dequantizes each stored element.
template <class Stored, class Value, class Read>
void widen(std::span<const std::byte> bytes, std::span<std::byte> to, Read read) {
  for (size_t i = 0; i < to.size() / sizeof(Value); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    const Value value = read(stored);
    std::memcpy(to.data() + i * sizeof(Value), &value, sizeof(Value));
  }
}

template <class Stored, class ValueOf>
void widen_to(graph::DType dtype, std::span<const std::byte> bytes, std::span<std::byte> to,
              ValueOf value_of) {
  if (dtype == graph::DType::I32) {
    widen<Stored, int32_t>(bytes, to, [&](Stored each) { return nearest_int(value_of(each)); });
  } else {
    widen<Stored, float>(bytes, to,
                         [&](Stored each) { return static_cast<float>(value_of(each)); });
  }
}

graph::Array widened(const WeightSpec& spec, std::span<const std::byte> bytes) {
  const auto count = static_cast<size_t>(graph::element_count(spec.shape));
  const bool is_int = spec.dtype == graph::DType::I32;
  graph::Array array{is_int ? graph::DType::I32 : graph::DType::F32, spec.shape,
                     std::vector<std::byte>(count * sizeof(float))};
  const auto [bits, scale, min] = spec.stored;
  const auto of_step = [scale, min](auto step) { return step * scale + min; };
  if (bits == Bits::Float16) {
    widen_to<scalar::Half>(spec.dtype, bytes, array.data,
                           [](scalar::Half half) { return double{scalar::value_of(half)}; });
  } else if (bits == Bits::UInt16) {
    widen_to<uint16_t>(spec.dtype, bytes, array.data, of_step);
  } else {
    widen_to<uint8_t>(spec.dtype, bytes, array.data, of_step);
  }
  return array;
}

// Linear quantization of the range; zero is exact if the range includes it.
Quantization steps_for(ValueRange range, Bits bits) {
  const double max_step = bits == Bits::UInt8 ? 255 : 65535;
  const double width = range.maximum - range.minimum;
  const double scale = width > 0 ? width / max_step : 1;
  const bool has_zero = range.minimum <= 0 && range.maximum >= 0;
  const double below = 0 - std::floor(-range.minimum / scale + 0.5) * scale;
  return {bits, scale, has_zero ? below : range.minimum};
}

Status append_tensor(const NamedArray& tensor, std::string_view group, Bits bits, JsonWriter& specs,
                     std::vector<std::byte>& to) {
  const auto& [name, array, unread] = tensor;
  const auto row = std::ranges::find(kPlain, array.dtype, &PlainType::dtype);
  if (row == std::end(kPlain)) {
    return invalid_tensor(
        name, concat("is ", scalar::text(array.dtype), ", which the format does not have"));
  }
  specs.begin_object().member("name", name).member("shape", array.shape);
  specs.member("dtype", row->text);
  if (!group.empty()) specs.member("group", group);
  if (bits == Bits::All || array.dtype != graph::DType::F32) {
    to.insert(to.end(), array.data.begin(), array.data.end());
  } else {
    const std::span values(reinterpret_cast<const float*>(array.data.data()),
                           array.data.size() / sizeof(float));
    LATHE_ASSIGN_OR_RETURN(const std::string stored,
                           append_stored(name, values, range_of(values), bits, to));
    specs.key("quantization").raw(stored);
  }
  specs.end_object();
  return {};
}

}  // namespace

uint64_t WeightSpec::stored_bytes() const {
  const auto row = std::ranges::find(kStored, stored.bits, &StoredType::bits);
  const size_t each =
      row == std::end(kStored) ? static_cast<size_t>(scalar::size_of(dtype)) : row->bytes;
  return static_cast<uint64_t>(graph::element_count(shape)) * each;
}

ValueRange range_of(std::span<const float> values) {
  if (values.empty()) return {};
  ValueRange range{values[0], values[0]};
  for (const float value : values) {
    range.minimum = std::min(range.minimum, double{value});
    range.maximum = std::max(range.maximum, double{value});
  }
  return range;
}

Result<std::string> append_stored(std::string_view name, std::span<const float> values,
                                  ValueRange range, Bits bits, std::vector<std::byte>& to) {
  const double max_step = bits == Bits::UInt8 ? 255 : 65535;
  const Quantization stored = bits == Bits::Float16 ? Quantization{bits} : steps_for(range, bits);
  const auto& type = *std::ranges::find(kStored, bits, &StoredType::bits);
  to.reserve(to.size() + values.size() * type.bytes);
  for (const float value : values) {
    if (!std::isfinite(value)) {
      return fail(concat("the tensor ", name, " has NaN or infinities, which ", type.text,
                         " cannot represent"));
    }
    uint16_t step = 0;
    if (bits == Bits::Float16) {
      if (std::abs(value) >= 65520) {
        return fail(
            concat("the tensor ", name, " has ", value, ", which float16 cannot represent"));
      }
      step = scalar::half_of(value).bits;
    } else {
      const double nearest = std::floor((value - stored.min) / stored.scale + 0.5);
      step = static_cast<uint16_t>(std::clamp(nearest, 0.0, max_step));
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&step);
    to.insert(to.end(), bytes, bytes + type.bytes);
  }
  JsonWriter json;
  json.begin_object().member("dtype", type.text);
  if (bits != Bits::Float16) json.member("scale", stored.scale).member("min", stored.min);
  return json.member("original_dtype", "float32").end_object().release();
}

Result<std::vector<WeightSpec>> read_specs(const Json& json) {
  if (!json.is_array()) return fail("weight specifications are missing");
  std::vector<WeightSpec> specs;
  std::set<std::string_view> names;
  for (const Json& each : json.values()) {
    LATHE_ASSIGN_OR_RETURN(WeightSpec spec, read_spec(each));
    if (!names.insert(each.find("name")->string()).second) {
      return invalid_tensor(spec.name, "occurs twice");
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

Status check_length(std::span<const WeightSpec> specs, uint64_t bytes) {
  uint64_t end = 0;
  for (const WeightSpec& spec : specs) {
    const uint64_t length = spec.stored_bytes();
    if (length > bytes - end) {
      return fail(concat("it ends after ", bytes, " bytes, within the tensor ", spec.name,
                         ", which ends at byte ", end + length));
    }
    end += length;
  }
  if (end == bytes) return {};
  return fail(concat("it has ", bytes, " bytes, but its tensors have ", end));
}

Result<std::vector<NamedArray>> decode_weights(std::span<const WeightSpec> specs,
                                               std::span<const std::byte> data) {
  LATHE_TRY(check_length(specs, data.size()));
  std::vector<NamedArray> tensors;
  for (const WeightSpec& spec : specs) {
    const auto bytes = data.first(spec.stored_bytes());
    data = data.subspan(bytes.size());
    if (spec.stored.bits == Bits::All) {
      tensors.push_back({spec.name, {spec.dtype, spec.shape, {bytes.begin(), bytes.end()}}});
    } else {
      tensors.push_back({spec.name, widened(spec, bytes)});
    }
  }
  return tensors;
}

Result<EncodedWeights> encode_weights(std::span<const NamedArray> weights,
                                      std::span<const NamedArray> optimizer, Bits bits) {
  JsonWriter specs;
  specs.begin_array();
  std::vector<std::byte> data;
  for (const NamedArray& tensor : weights) LATHE_TRY(append_tensor(tensor, "", bits, specs, data));
  for (const NamedArray& tensor : optimizer) {
    LATHE_TRY(append_tensor(tensor, "optimizer", Bits::All, specs, data));
  }
  return EncodedWeights{specs.end_array().release(), std::move(data)};
}

std::optional<Bits> bits_called(std::string_view text) {
  const auto row = std::ranges::find(kStored, text, &StoredType::text);
  if (row == std::end(kStored)) return std::nullopt;
  return row->bits;
}

}  // namespace lathe::formats
