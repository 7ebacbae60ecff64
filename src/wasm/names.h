// The "name" custom section (core specification, appendix "Custom Sections").
#pragma once

#include "lathe/wasm/module.h"

namespace lathe::wasm {

std::vector<uint8_t> encode_names(const Names& names);
// nullopt if the bytes are not well formed or contain more than Names can represent.
std::optional<Names> decode_names(std::span<const uint8_t> bytes);

}  // namespace lathe::wasm
