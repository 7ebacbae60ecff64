// The invariant of the ONNX fuzzer, for arbitrary bytes: reading, tracing and running them as a
// model on small inputs terminates, with results or an error, and the core accepts the traced
// graph.
#pragma once

#include <cstddef>
#include <span>

namespace lathe::onnx {

void survive(std::span<const std::byte> file);

}  // namespace lathe::onnx
