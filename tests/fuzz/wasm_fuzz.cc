// libFuzzer target over the decoder, validator, encoder and printer.
// Run: build/fuzz/tests/fuzz/wasm_fuzz -max_total_time=600 SCRATCH_DIR tests/fuzz/corpus/wasm
#include "fuzz/wasm_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lathe::wasm::round_trip({data, size});
  return 0;
}
