// JavaScript that runs a standalone module of an ONNX model in Node and pages without a runtime
// library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/compile/compile.h"

namespace lathe::onnx {

// A JavaScript module to be stored next to the module of this name, "net.wasm": `load()` returns
// {run(values)}, which maps typed arrays by name to typed arrays by name; `inputs` and `outputs`
// list their types and shapes. `types` is its declaration file. Arrays of float16 contain the bits.
struct Wrapper {
  std::string code, types;
};
// Error: the module is for threads, whose memory is imported.
Result<Wrapper> wrapper_of(const compile::Executable& executable, std::string_view module_name);

// The members of an interface of TypeScript: the typed array of each tensor.
std::string members_of(const std::vector<compile::Buffer>& buffers, std::string_view indent);

}  // namespace lathe::onnx
