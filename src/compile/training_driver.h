// What drives a stand-alone module that trains, in Node and in pages, with nothing but an engine.
#pragma once

#include <string>
#include <string_view>

namespace lathe::compile {

// A JavaScript module to lie beside the module of this name, "net.wasm". `load()` gives it running,
// with train, test, predict and its weights; and `node net.mjs TRAIN.csv` trains it: `node net.mjs`
// says how. docs/training_module.md tells what it has.
std::string training_driver(std::string_view module_name);

}  // namespace lathe::compile
