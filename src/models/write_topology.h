// A model, as api/lathe.h describes it -> the topology of Keras and TensorFlow.js. Knows no layer.
#pragma once

#include "lathe/base/json.h"
#include "lathe/base/result.h"

namespace lathe::models {

// {class_name, config, …}; a row of layers is a Sequential. `summary` is what the core says of the
// network: names and shapes of layers, and those of models within them. Errors: a layer that no
// file can say.
Result<Json> write_topology(const Json& network, const Json& summary);

}  // namespace lathe::models
