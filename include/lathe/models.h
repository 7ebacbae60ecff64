// Saved models: loaded, saved, made one module or an ONNX file (lathe::models).
#pragma once

#include "lathe/base/standard.h"
#include "lathe/models/onnx_file.h"
#include "lathe/models/saved_model.h"
