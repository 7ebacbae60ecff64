// Module to bytes (core specification, chapter 5). Canonical: every integer takes its shortest
// form.
#pragma once

#include "wasm/module.h"

namespace lathe::wasm {

// Where the instructions of the defined functions lie: offsets[function][instruction] from the
// start of the module.
struct CodeOffsets {
  std::vector<std::vector<uint32_t>> offsets;
};

std::vector<uint8_t> encode(const Module& module);
std::vector<uint8_t> encode(const Module& module, CodeOffsets& offsets);

}  // namespace lathe::wasm
