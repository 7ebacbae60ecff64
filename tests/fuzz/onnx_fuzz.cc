// libFuzzer target over all that happens to an ONNX model before it is compiled. Half of its steps
// change bytes, half fields of messages.
// Run: build/fuzz/tests/fuzz/onnx_fuzz -max_total_time=600 -max_len=20000 SCRATCH_DIR MODELS
#include <cstring>

#include "fuzz/onnx_mutate.h"
#include "fuzz/onnx_survive.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lathe::onnx::survive(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const auto model = lathe::onnx::mutated(std::as_bytes(std::span(data, size)), seed);
  if (model.empty() || model.size() > max_size) return size;
  std::memcpy(data, model.data(), model.size());
  return model.size();
}
