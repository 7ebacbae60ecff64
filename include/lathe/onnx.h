// ONNX models: read and described, written down as tensor graphs for given sizes, compiled, run
// slowly, stored with fewer bits (lathe::onnx); graphs written as them (lathe::onnx_export).
//
//   LATHE_ASSIGN_OR_RETURN(auto model, lathe::onnx::load_model("model.onnx"));
//   LATHE_ASSIGN_OR_RETURN(auto ports, lathe::onnx::ports_of(model, {.sizes = {{"batch", 1}}}));
//   LATHE_ASSIGN_OR_RETURN(auto executable, lathe::onnx::compile_module(model, ports));
#pragma once

#include "lathe/base/standard.h"
#include "lathe/export/onnx/export.h"
#include "lathe/import/onnx/model.h"
#include "lathe/import/onnx/trace/run.h"
#include "lathe/import/onnx/trace/trace.h"
#include "lathe/models/onnx/input_ports.h"
#include "lathe/models/onnx/js_wrapper.h"
#include "lathe/models/onnx/model_file.h"
#include "lathe/models/onnx/module.h"
#include "lathe/models/onnx/quantize_weights.h"
#include "lathe/models/onnx/summary.h"
