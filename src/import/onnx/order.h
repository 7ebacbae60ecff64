// Nodes in an order in which each comes behind those that give what it reads.
#pragma once

#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// The names that a node reads, in its graphs too.
std::vector<std::string_view> reads_of(const NodeProto& node);

// As they stand, where that is such an order. Errors: a cycle; a name that two nodes give.
Result<std::vector<const NodeProto*>> in_order(const std::vector<NodeProto>& nodes);

}  // namespace lathe::onnx
