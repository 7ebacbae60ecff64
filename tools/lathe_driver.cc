// Writes the driver of a training module beside it.
#include <span>

#include "lathe.h"
#include "lathe/base/text.h"
#include "lathe/compile/training_driver.h"

namespace lathe::tool {

Result<std::string> write_driver(const std::string& module) {
  if (!module.ends_with(".wasm")) {
    return fail("--js wants the name of the module, -o OUT.wasm: the driver is OUT.mjs beside it");
  }
  const std::string path = module.substr(0, module.size() - 5) + ".mjs";
  const std::string text = compile::training_driver(module.substr(module.rfind('/') + 1));
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  LATHE_TRY(write_file(path, {bytes, text.size()}));
  return path;
}

}  // namespace lathe::tool
