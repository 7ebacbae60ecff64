// Networks with null axes in the shapes of their inputs -> the same with sizes there.
#pragma once

#include <cstdint>
#include <span>

#include "lathe/base/json.h"
#include "lathe/base/result.h"

namespace lathe::models {

// How many null axes the inputs have; also those of a nested model that is the first layer.
size_t count_null_axes(const Json& network);

// The network with its null axes bound to these sizes, in order, and those of
// nested models to the resulting sizes. Errors: another number of sizes; layers that do not fit.
Result<Json> bind_null_axes(const Json& network, std::span<const int64_t> sizes);

}  // namespace lathe::models
