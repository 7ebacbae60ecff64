// Sizes that a model leaves open, from those that somebody says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/trace.h"

namespace lathe::onnx {

struct GivenSizes {
  std::map<std::string, Shape> shapes = {};   // of inputs, by their names
  std::map<std::string, int64_t> sizes = {};  // by the names that the model has for them
  // Elements of inputs of whole numbers that are constants from here on, by the names of the
  // inputs.
  std::map<std::string, std::vector<int64_t>> values = {};
};

// What the inputs are called with, in order; those that may be absent are. Errors: names that the
// model does not have, shapes that its inputs do not take or that contradict one another, sizes
// that nobody says, all of them; inputs that are no tensors of numbers.
Result<std::vector<Port>> ports_of(const ModelProto& model, const GivenSizes& given);

// "[1,3,height,?]", "any shape".
std::string shape_text(const TypeProto& type);
// "float32 [1,3,height,?]", "sequence of int64 [?]".
std::string type_text(const TypeProto& type);

}  // namespace lathe::onnx
