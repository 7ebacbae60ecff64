// The weight data of TensorFlow.js: concatenated tensors, floats optionally quantized, and the
// weight specifications of model.json. Works on bytes, not on files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/formats/safetensors.h"

namespace lathe::formats {

enum class Bits : uint8_t { All, Float16, UInt16, UInt8 };

// x = scale · q + min; float16 needs neither.
struct Quantization {
  Bits bits = Bits::All;
  double scale = 1, min = 0;
};

struct WeightSpec {
  std::string name;
  graph::Shape shape;
  graph::DType dtype = graph::DType::F32;  // F32, I32 or Bool
  std::string group;                       // "optimizer" for optimizer states
  Quantization stored;

  uint64_t stored_bytes() const;
};

// A list of specifications. Errors: one without a name, of an unknown type, of an invalid shape
// or too large; two of the same name.
Result<std::vector<WeightSpec>> read_specs(const Json& json);

// Checks the length of the data; the error names the truncated tensor or the number of excess
// bytes.
Status check_length(std::span<const WeightSpec> specs, uint64_t bytes);

// The tensors in the order of the specifications, which data must fit: see check_length.
Result<std::vector<NamedArray>> decode_weights(std::span<const WeightSpec> specs,
                                               std::span<const std::byte> data);

struct EncodedWeights {
  std::string specs;  // JSON
  std::vector<std::byte> data;
};

// Weights, with floats quantized to these bits, then optimizer states, unquantized. Errors: a
// number that cannot be represented; a type that the format does not support.
Result<EncodedWeights> encode_weights(std::span<const NamedArray> weights,
                                      std::span<const NamedArray> optimizer, Bits bits);

struct ValueRange {
  double minimum = 0, maximum = 0;
};
ValueRange range_of(std::span<const float> values);

// Appends a tensor, or a part of one, quantized to so many bits, to the data; the range is that of
// the entire tensor. Returns the "quantization" of its specification. Errors: as
// encode_weights.
Result<std::string> append_stored(std::string_view name, std::span<const float> values,
                                  ValueRange range, Bits bits, std::vector<std::byte>& to);

// "float16", "uint16" or "uint8"; nothing for another string.
std::optional<Bits> bits_called(std::string_view text);

}  // namespace lathe::formats
