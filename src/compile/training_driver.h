// The JavaScript driver of a standalone training module, for Node and pages, without a runtime
// library.
#pragma once

#include <string>
#include <string_view>

namespace lathe::compile {

// A JavaScript module to be stored next to the module of this name, "net.wasm". `load()`
// instantiates it, with train, test, predict and its weights; and `node net.mjs TRAIN.csv` trains
// it (`node net.mjs` prints its usage). Its API: docs/training_module.md.
std::string training_driver(std::string_view module_name);

}  // namespace lathe::compile
