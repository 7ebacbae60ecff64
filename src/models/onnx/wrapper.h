// What calls a stand-alone module of an ONNX model in Node and pages, with nothing but an engine.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/result.h"
#include "lathe/compile/compile.h"

namespace lathe::onnx {

// A JavaScript module to lie beside the module of this name, "net.wasm": `load()` gives
// {run(values)}, which takes and gives typed arrays by name; `inputs` and `outputs` say of what
// types and shapes. `types` is its declaration file. Of halves the arrays hold the bits.
struct Wrapper {
  std::string code, types;
};
// Error: the module is for threads, whose memory comes from outside.
Result<Wrapper> wrapper_of(const compile::Executable& executable, std::string_view module_name);

}  // namespace lathe::onnx
