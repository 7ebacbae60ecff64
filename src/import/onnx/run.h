// Runs a model slowly, by the meaning of its graph: the oracle of compiled ones.
#pragma once

#include <span>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// A tensor whose elements are known, or a sequence or map of such, or nothing.
using Data = Value;

// The results, as the model lists them. Error: it has more than `most` elements to compute, the
// products of contractions and each step of a loop counted.
Result<std::vector<Data>> run(const ModelProto& model, std::span<const Data> inputs,
                              double most = 1e12);

}  // namespace lathe::onnx
