// Mutates fields of the messages of ONNX models; the result is a well-formed protobuf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lathe::onnx {

// The model with a few fields changed, removed, repeated, or copied from elsewhere in it;
// deterministic for a seed. An invalid protobuf is returned unchanged.
std::vector<std::byte> mutated(std::span<const std::byte> model, uint64_t seed);

}  // namespace lathe::onnx
