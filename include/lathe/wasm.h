// WebAssembly modules: assembled instruction by instruction, encoded, decoded, validated, printed
// (lathe::wasm).
#pragma once

#include "lathe/base/standard.h"
#include "lathe/wasm/assembler.h"
#include "lathe/wasm/decode.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/handles.h"
#include "lathe/wasm/print.h"
#include "lathe/wasm/validate.h"
