// A model -> what api::parse_model reads, with every option of its layers, and its topology.
#pragma once

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/nn/model.h"

namespace lathe::models {

// A layer whose class the program has made itself has its class, its name and "isOwn": true.
Json spell_network(const nn::Model& model);

// As write_topology.h has it. Error: a layer whose class the program has made itself.
Result<Json> write_topology(const nn::Model& model);

}  // namespace lathe::models
