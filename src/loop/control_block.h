// The constants of control_block.def.
#pragma once

#include <cstdint>

namespace lathe::loop {

#define LATHE_CONTROL(group_, constant_, name_, value_) inline constexpr int32_t constant_ = value_;
#include "lathe/loop/control_block.def"

}  // namespace lathe::loop
