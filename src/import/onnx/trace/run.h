// Runs a model by graph::evaluate: the slow reference for compiled ones.
#pragma once

#include <span>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// A constant tensor, or a sequence or map of such, or nothing.
using Data = Value;

// The results in the order of the model. Error: more than `max_work` elements to compute, the
// products of contractions and each step of a loop included.
Result<std::vector<Data>> run(const ModelProto& model, std::span<const Data> inputs,
                              double max_work = 1e12);

}  // namespace lathe::onnx
