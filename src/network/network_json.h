// Models as JSON, in the form that api/lathe.h describes. Not how they are trained.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/result.h"
#include "lathe/nn/model.h"

namespace lathe::network {

Result<nn::Model> parse_model(std::string_view json);

// Layers, calls, weights and shapes of a model.
std::string summary(const nn::Model& model);

}  // namespace lathe::network
