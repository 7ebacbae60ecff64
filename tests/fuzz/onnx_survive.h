// What must hold for any bytes that claim to be an ONNX model: reading, tracing and running it on
// small inputs ends, with results or an error, and the core takes the graph that comes of it.
#pragma once

#include <cstddef>
#include <span>

namespace lathe::onnx {

void survive(std::span<const std::byte> file);

}  // namespace lathe::onnx
