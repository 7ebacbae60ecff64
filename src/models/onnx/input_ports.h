// Input types of a model with its symbolic sizes bound by the caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

struct InputBindings {
  std::map<std::string, Shape> shapes = {};   // of inputs, by their names
  std::map<std::string, int64_t> sizes = {};  // by the names that the model has for them
  // Values of integer inputs that become constants, by the names of the
  // inputs.
  std::map<std::string, std::vector<int64_t>> values = {};
};

// The types of the inputs, in order; optional ones are absent. Errors: names that the
// model does not have, shapes that its inputs do not have or that contradict one another,
// all unbound sizes; inputs that are no numeric tensors.
Result<std::vector<Port>> ports_of(const ModelProto& model, const InputBindings& bindings);

// "[1,3,height,?]", "any shape".
std::string shape_text(const TypeProto& type);
// "float32 [1,3,height,?]", "sequence of int64 [?]".
std::string type_text(const TypeProto& type);

}  // namespace lathe::onnx
