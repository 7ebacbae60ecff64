// ONNX files whose weights have fewer bits; what is computed keeps its type.
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

// How float32 weights, initialisers or what Constant nodes give, are stored, and what makes them
// float32 again:
//   Float16  Cast, of all large ones
//   Int8     DequantizeLinear per channel (before operator set 13 Cast and Mul), of weights of
//            products, convolutions, recurrent layers and of tables that rows are gathered from
//   Int4     com.microsoft.MatMulNBits, blocks of 32, of constant matrices that MatMul has on its
//   right
enum class WeightBits : uint8_t { Float16, Int8, Int4 };
std::optional<WeightBits> weight_bits_called(std::string_view name);  // "float16", "int8", "int4"

struct FewerBits {
  std::vector<std::byte> file;
  int64_t tensors = 0;  // that have fewer bits now; all others are as they were
  int64_t bytes_before = 0, bytes_after = 0;  // of these
};

// The model of `path` in one file, with what it has in files beside it; fields that nobody here
// knows are copied. Errors: as load_model; an operator set before 7; more than protobuf's 2 GiB.
Result<FewerBits> with_fewer_bits(const std::string& path, WeightBits bits);
// The same of a file whose content is known; its other files lie beside `path`.
Result<FewerBits> with_fewer_bits(const SharedBytes& file, const std::string& path,
                                  WeightBits bits);

}  // namespace lathe::onnx
