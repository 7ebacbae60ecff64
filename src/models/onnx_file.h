// Saved models as ONNX files, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/models/saved_model.h"

namespace lathe::models {

// A model that predicts: inputs and outputs have the names of the model, the shapes [batch, …], and
// the weights their names and current values, those without a state the initial values of the seed
// (see export/onnx/export.h). `rows` fixes the batch, as models with states between batches do; 0:
// any.
//
// Errors: a state of another shape; what is computed depends on the number of rows in more than
// sizes; those of export_onnx.
Result<std::vector<std::byte>> to_onnx(const SavedModel& saved, int64_t rows = 0);

}  // namespace lathe::models
