// A model -> what api::parse_model reads, with every option of its layers.
#pragma once

#include "lathe/base/json.h"
#include "lathe/nn/model.h"

namespace lathe::models {

// A layer whose class the program has made itself has its class, its name and "isOwn": true.
Json spell_network(const nn::Model& model);

}  // namespace lathe::models
