// Models as JSON, in the form that api/lathe.h describes. Not how they are trained.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/nn/model.h"

namespace lathe::network {

Result<nn::Model> parse_model(std::string_view json);

// {"class", "config", "host"} of a layer; `path` is where it is in errors.
Result<nn::LayerPtr> parse_layer(const Json& json, const std::string& path);

// Layers, calls, weights and shapes of a model.
std::string summary(const nn::Model& model);

}  // namespace lathe::network
