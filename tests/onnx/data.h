// The inputs and outputs of ONNX's test cases, as files hold them.
#pragma once

#include <string>

#include "lathe/base/result.h"
#include "lathe/import/onnx/trace/run.h"

namespace lathe::onnx {

Result<SharedBytes> read_file(const std::string& path);

// A TensorProto, SequenceProto or OptionalProto, as the type of the port says.
Result<Data> read_data(const SharedBytes& file, const TypeProto& type);

// Why they differ; "" where they are equal: floats as far as `relative` and `absolute` allow.
std::string difference(const Data& expected, const Data& got, double relative, double absolute);

}  // namespace lathe::onnx
