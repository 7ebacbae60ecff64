// Weight-only quantization of ONNX files; the types of computed values do not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/base/shared_bytes.h"

namespace lathe::onnx {

// The storage of float32 weights (initializers and Constant nodes), and the node that makes them
// float32:
//   Float16  Cast, of all large ones
//   Int8     DequantizeLinear per channel (before operator set 13 Cast and Mul), of weights of
//            products, convolutions, recurrent layers and of tables that rows are gathered from
//   Int4     com.microsoft.MatMulNBits, blocks of 32, of constant matrices that MatMul has on its
//   right
enum class WeightBits : uint8_t { Float16, Int8, Int4 };
std::optional<WeightBits> parse_weight_bits(std::string_view name);  // "float16", "int8", "int4"

struct QuantizedModel {
  std::vector<std::byte> file;
  int64_t tensors = 0;                        // that were quantized; all others are unchanged
  int64_t bytes_before = 0, bytes_after = 0;  // of these
};

// The model of `path` in one file, external data included; unknown fields
// are copied. Errors: as load_model; an operator set before 7; more than protobuf's 2 GiB.
Result<QuantizedModel> quantize_weights(const std::string& path, WeightBits bits);
// The same for the content of a file; external data is read relative to `path`.
Result<QuantizedModel> quantize_weights(const SharedBytes& file, const std::string& path,
                                        WeightBits bits);

}  // namespace lathe::onnx
