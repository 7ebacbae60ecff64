#include "lathe/compile/training_driver.h"

#include "lathe/base/text.h"

namespace lathe::compile {

std::string training_driver(std::string_view module_name) {
  std::string name;
  append_json(name, module_name);
  return concat(
#include "lathe/compile/training_driver.inc"
      , "const at = new URL(encodeURIComponent(", name, "), import.meta.url);\n",
      "const isFile = at.protocol === 'file:';\n"
      "const { readFile } = isFile ? process.getBuiltinModule('node:fs/promises') : {};\n"
      "/** The module next to this file, instantiated. */\n"
      "export const load = () => loadTrainingModule(isFile ? readFile(at) : fetch(at));\n"
      "if (isFile) await runCommand(import.meta.url, at);\n");
}

}  // namespace lathe::compile
