// What is in an ONNX model: operators, parameters, what is not supported, and what it costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

// Nodes of the model, of the graphs inside its nodes and of its functions, once each.
struct OperatorCount {
  std::string name;     // "Conv", "com.microsoft.Gelu"
  int64_t version = 0;  // of the operator set
  int64_t nodes = 0;
  bool is_function = false;  // of the model
  bool is_missing = false;
};

// Initializers and constants, by their element type; bytes as stored in files.
struct ParameterCount {
  Type type = Type::Float32;
  int64_t tensors = 0, elements = 0, bytes = 0;
};

struct Summary {
  std::vector<OperatorCount> operators;  // by name
  std::vector<ParameterCount> parameters;
  std::vector<MissingOperator> missing;
};
Summary summary_of(const ModelProto& model);

// Of one call with these inputs.
struct Cost {
  double multiply_adds = 0;        // of contractions; loops as often as they may run
  uint64_t constant_bytes = 0;     // weights as the module has them
  uint64_t temporary_bytes = 0;    // what nodes hand on, at its peak
  uint64_t memory_bytes = 0;       // all that the module has
  uint64_t module_bytes = 0;       // its file
  std::vector<ValueInfo> outputs;  // with their shapes
};
// Errors: as compile_module.
Result<Cost> cost_of(const ModelProto& model, std::span<const Port> inputs);

}  // namespace lathe::onnx
