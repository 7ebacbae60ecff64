// Reads the text form of loop programs.
#pragma once

#include <string_view>

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// Any text is safe to parse; errors name the line. A parsed module refers only to what it declares,
// but only verify() checks whether it is valid.
Result<Module> parse(std::string_view text);

}  // namespace lathe::loop
