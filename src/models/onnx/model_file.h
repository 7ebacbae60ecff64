// ONNX models as files, with the data of their tensors in files beside them.
#pragma once

#include <string>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// The model of a file with what it has in others, all of it in memory. Those must lie in its
// folder, or in that of the file that a link in its place leads to. Errors name the file: one that
// cannot be read, is missing or leaves the folder; what is no ONNX model.
Result<ModelProto> load_model(const std::string& path);

// The data of the model's tensors that are in other files, from those beside `path`.
Status load_external_files(ModelProto& model, const std::string& path);

// A file whole. Error: what the system says.
Result<SharedBytes> read_whole(const std::string& path);

}  // namespace lathe::onnx
