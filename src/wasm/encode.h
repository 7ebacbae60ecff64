// Module to bytes (core specification, chapter 5). Canonical: every integer has its shortest
// form.
#pragma once

#include "lathe/wasm/module.h"

namespace lathe::wasm {

// The positions of the instructions of the defined functions: offsets[function][instruction] from
// the start of the module.
struct CodeOffsets {
  std::vector<std::vector<uint32_t>> offsets;
};

std::vector<uint8_t> encode(const Module& module);
std::vector<uint8_t> encode(const Module& module, CodeOffsets& offsets);

// A module without its data section, which would begin at offset `data_at`: for callers that fill
// the memory themselves, and need no copy of large segments.
struct Encoded {
  std::vector<uint8_t> bytes;
  size_t data_at = 0;
};

Encoded encode_without_data(const Module& module);
// The complete module, as encode() writes it.
std::vector<uint8_t> with_data(const Encoded& encoded, std::span<const Data> data);

}  // namespace lathe::wasm
