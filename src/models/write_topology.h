// A model, as api/lathe.h describes it -> the topology of Keras and TensorFlow.js. Independent of
// layers.
#pragma once

#include "lathe/base/json.h"
#include "lathe/base/result.h"

namespace lathe::models {

// {class_name, config, …}; a chain of layers is a Sequential. `summary` is the core's summary of
// the network: names and shapes of layers, and those of models within them. Errors: a layer that
// cannot be stored.
Result<Json> write_topology(const Json& network, const Json& summary);

}  // namespace lathe::models
