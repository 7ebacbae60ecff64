// Writes the driver of a training module next to it.
#include <span>

#include "lathe.h"
#include "lathe/base/text.h"
#include "lathe/compile/training_driver.h"

namespace lathe::tool {

Outcome<std::string> driver_path(const std::string& module) {
  if (!module.ends_with(".wasm")) {
    return wrong_use(
        "--js requires the name of the module, -o OUT.wasm: the driver is OUT.mjs next to it");
  }
  return module.substr(0, module.size() - 5) + ".mjs";
}

Status write_driver(const std::string& driver, const std::string& module) {
  const std::string text = compile::training_driver(module.substr(module.rfind('/') + 1));
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  return write_file(driver, {bytes, text.size()});
}

}  // namespace lathe::tool
