// Tensors as ONNX files hold them.
#pragma once

#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// A TensorProto; raw data stays in the bytes of the file. Errors name the tensor: sizes that are
// negative or overflow, more or fewer elements than the shape has.
Result<TensorProto> read_tensor(formats::ProtobufReader in, const SharedBytes& file);
// A SparseTensorProto, as the tensor with all its zeros.
Result<TensorProto> read_sparse_tensor(formats::ProtobufReader in, const SharedBytes& file);

}  // namespace lathe::onnx
