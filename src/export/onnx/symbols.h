// Models of one function for several sizes -> one model with names for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lathe/export/onnx/model.h"

namespace lathe::onnx_export {

// The models as sample_sizes has them. Nothing where they differ in more than integers that follow
// from the sizes by sums, products and quotients, which are then computed from the shapes of the
// inputs, and in pads that auto_pad computes.
std::optional<Graph> with_symbols(const std::vector<Graph>& models,
                                  const std::vector<std::vector<int64_t>>& sizes,
                                  const std::vector<std::string>& symbols);

}  // namespace lathe::onnx_export
