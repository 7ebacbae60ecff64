// A model -> the topology of Keras and TensorFlow.js.
#pragma once

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/nn/model.h"

namespace lathe::models {

// {class_name, config, …}; a row of layers is a Sequential. Error: a layer whose class the program
// has made itself, which no file can say.
Result<Json> write_topology(const nn::Model& model);

}  // namespace lathe::models
