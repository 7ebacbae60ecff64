// Tensors as ONNX files hold them.
#pragma once

#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// A TensorProto; raw data stays in the bytes of the file. Errors name the tensor: sizes that are
// negative or overflow, more or fewer elements than the shape has, an element type that is not
// there; the last is added to `unknown_types` where these are given, and the tensor has no
// elements.
Result<TensorProto> read_tensor(formats::ProtobufReader in, const SharedBytes& file,
                                std::vector<std::string>* unknown_types = nullptr);
// A SparseTensorProto, as the tensor with all its zeros: they take memory that the file does not,
// so all of a file together may have `room` elements, of which this one takes its own.
Result<TensorProto> read_sparse_tensor(formats::ProtobufReader in, const SharedBytes& file,
                                       int64_t& room);
constexpr int64_t kMostOfSparse = int64_t{1} << 26;

}  // namespace lathe::onnx
