// Networks with null axes in the shapes of their inputs -> the same with sizes there.
#pragma once

#include <cstdint>
#include <span>

#include "lathe/base/json.h"
#include "lathe/base/result.h"

namespace lathe::models {

// How many null axes the inputs have; also those of a nested model that is first in a row.
size_t open_axes(const Json& network);

// The network with these sizes for its null axes, in their order, and with those that come to
// nested models for theirs. Errors: another number of sizes; layers that do not fit.
Result<Json> with_sizes(const Json& network, std::span<const int64_t> sizes);

}  // namespace lathe::models
