// Everything of the C++ package. Each header beside this one is a part of it.
#pragma once

#include "lathe/compile.h"
#include "lathe/formats.h"
#include "lathe/graph.h"
#include "lathe/models.h"
#include "lathe/nn.h"
#if __has_include("lathe/onnx.h")  // projects may leave it out: LATHE_ONNX of CMake
#include "lathe/onnx.h"
#endif
#include "lathe/version.h"
#include "lathe/wasm.h"
