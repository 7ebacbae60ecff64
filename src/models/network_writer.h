// A model as JSON for network::parse_model, with every option of its layers, and as a Keras
// topology.
#pragma once

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/nn/model.h"

namespace lathe::models {

// A layer of a custom class has its class, its name and "isCustom": true.
Json write_network(const nn::Model& model);

// As in write_topology.h. Error: a layer of a custom class.
Result<Json> write_topology(const nn::Model& model);

}  // namespace lathe::models
