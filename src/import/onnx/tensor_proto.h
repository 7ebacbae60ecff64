// Reads TensorProto messages.
#pragma once

#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// A TensorProto; raw data stays in the bytes of the file. Errors name the tensor: sizes that are
// negative or overflow, more or fewer elements than the shape has, an element type that is not
// supported; the last is added to `unknown_types`, if not null, and the tensor has no
// elements.
Result<TensorProto> read_tensor(formats::ProtobufReader in, const SharedBytes& file,
                                std::vector<std::string>* unknown_types = nullptr);
// A SparseTensorProto, as a dense tensor: its zeros need memory that the file does not,
// so all of a file together have a `budget` of elements, from which this one is subtracted.
Result<TensorProto> read_sparse_tensor(formats::ProtobufReader in, const SharedBytes& file,
                                       int64_t& budget);
constexpr int64_t kMaxSparseElements = int64_t{1} << 26;

}  // namespace lathe::onnx
