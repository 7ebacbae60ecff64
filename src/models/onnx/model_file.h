// ONNX models as files, with external tensor data in files next to them.
#pragma once

#include <string>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// The model of a file with external data, all of it in memory. External files must be in its
// folder, or in that of the target if it is a link. Errors name the file: one that
// cannot be read, is missing or leaves the folder; what is no ONNX model.
Result<ModelProto> load_model(const std::string& path);

// Loads the external data of the model's tensors from files next to `path`.
Status load_external_files(ModelProto& model, const std::string& path);

// The content of a file. Error: that of the system.
Result<SharedBytes> read_file_bytes(const std::string& path);

}  // namespace lathe::onnx
