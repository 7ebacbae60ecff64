// Damages ONNX models without losing their form: what is changed is a field of a message, and the
// result is a whole protobuf again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lathe::onnx {

// The model with a few fields changed, removed, repeated, or taken from elsewhere in it; always the
// same for a seed. What is no protobuf stays as it is.
std::vector<std::byte> mutated(std::span<const std::byte> model, uint64_t seed);

}  // namespace lathe::onnx
