// The messages of ONNX models (onnx.proto, https://github.com/onnx/onnx), read without a
// copy of the weights.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/base/shared_bytes.h"
#include "lathe/import/onnx/value.h"

namespace lathe::onnx {

struct GraphProto;

// Bytes in another file.
struct ExternalData {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1;     // -1: the size of the tensor
  std::string wrong = {};  // an offset or length that is no byte count
};

// A tensor; `content` has its elements unless they are elsewhere.
struct TensorProto {
  std::string name;
  Content content;
  std::shared_ptr<const ExternalData> external = {};
};

// Of a tensor, sequence, optional or map. A size is a number, a name, or -1 if it is unknown.
struct Size {
  int64_t value = -1;
  std::string name = {};
};
struct TypeProto {
  enum class Kind : uint8_t { Unknown, Tensor, SparseTensor, Sequence, Optional, Map };
  Kind kind = Kind::Unknown;
  Type type = Type::Float32;  // of tensors; of a map its keys
  bool has_shape = false;
  std::vector<Size> shape = {};
  std::shared_ptr<const TypeProto> element = {};  // of the other kinds
};

struct ValueInfo {
  std::string name;
  TypeProto type;
};

struct AttributeProto {
  enum class Kind : uint8_t {
    None,
    Float,
    Int,
    String,
    Tensor,
    Graph,
    Floats,
    Ints,
    Strings,
    Tensors,
    Graphs,
    Type
  };
  Kind kind = Kind::None;
  std::string name;
  std::string reference;  // the referenced attribute of the enclosing function
  float number = 0;
  int64_t integer = 0;
  std::string string;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  std::vector<TensorProto> tensors;  // also a single one, and the values of a sparse one
  std::vector<std::shared_ptr<const GraphProto>> graphs;
  std::shared_ptr<const TypeProto> type;
};

struct NodeProto {
  std::string name, op_type, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<AttributeProto> attributes;

  const AttributeProto* attribute(std::string_view name) const;
};

struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

// Versions of operator sets by their domain, "" for ai.onnx.
using OperatorSets = std::map<std::string, int64_t, std::less<>>;

struct FunctionProto {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<AttributeProto> defaults;
  std::vector<NodeProto> nodes;
  OperatorSets sets;
};

struct ModelProto {
  int64_t ir_version = 0;
  std::string producer, domain, description;
  int64_t version = 0;
  OperatorSets sets;
  std::map<std::string, std::string> metadata;
  GraphProto graph;
  std::vector<FunctionProto> functions;
  // Element types that are not there, each with what has it: a sentence each.
  std::vector<std::string> unknown_types;
};

// The functions of a model by what nodes call them; of several of one name the first.
class Functions {
 public:
  explicit Functions(const ModelProto& model);
  const FunctionProto* find(const NodeProto& node) const;

 private:
  using Name = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Name, const FunctionProto*> functions_;
};

// Resolves a reference (`ref_attr_name`) to an attribute of the call.
// An attribute that the call omits gets the kind None.
AttributeProto resolve(const AttributeProto& attribute, const std::vector<AttributeProto>& around);

// Reads a file; weights reference its bytes. Errors: no ONNX model, with the offset. Element
// types that are not supported are no error yet: `check_operators` reports all of them.
Result<ModelProto> read_model(SharedBytes file);
// A single TensorProto, the format of test data.
Result<TensorProto> read_tensor(SharedBytes file);

// The files in which the model's tensors have their data, each once, by any names that it has for
// them: whoever reads them checks that those stay in the folder of the model.
std::vector<std::string> external_files(const ModelProto& model);
// Loads the data of the tensors in this external file.
Status add_external_file(ModelProto& model, std::string_view location, const SharedBytes& file);

// The elements of an external tensor from the bytes of that file. Errors: beyond its end.
Result<Content> external_content(const TensorProto& tensor, const SharedBytes& file);

}  // namespace lathe::onnx
