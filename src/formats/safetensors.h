// The safetensors format: a JSON header, then the bytes of named tensors. Knows bytes, no files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/evaluate.h"

namespace lathe::formats {

struct NamedArray {
  std::string name;
  graph::Array array;
  // The type where it cannot be read; then the array has no elements.
  std::string unread = {};
};

// Error: the tensor is of a type that cannot be read.
Status check_read(const NamedArray& tensor);

std::vector<std::byte> write_safetensors(std::span<const NamedArray> tensors);

// The tensors in the order of their bytes; float8 becomes F32, other types that are not ours stay
// unread. Errors name the tensor: a damaged header, a shape of another size, gaps and overlaps,
// missing or extra bytes.
Result<std::vector<NamedArray>> read_safetensors(std::span<const std::byte> file);

}  // namespace lathe::formats
