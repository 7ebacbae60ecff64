// The host of layers, losses and metrics that are implemented in another language, asked in JSON as
// described at lathe_use_layer_host.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/result.h"

namespace lathe::api {

// Answers a question.
using QueryHost = Result<std::string> (*)(std::string_view question);

// Registers the host; null removes it.
void use_layer_host(QueryHost query);

}  // namespace lathe::api
