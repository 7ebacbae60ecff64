// From graphs to the bytes of one WebAssembly module, or to shaders (lathe::compile).
#pragma once

#include "lathe/base/standard.h"
#include "lathe/compile/compile.h"
#include "lathe/compile/sized.h"
#include "lathe/compile/training_driver.h"
#include "lathe/compile/tune.h"
