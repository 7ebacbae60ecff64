// Topological sorting of nodes.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// The names that a node reads, in its graphs too.
std::vector<std::string_view> reads_of(const NodeProto& node);

// Orders lists of nodes of one model, each once: bodies of loops are unrolled step by step.
class NodeOrders {
 public:
  // Unchanged, if they are sorted. Errors: a cycle; a name that two nodes produce.
  Result<std::span<const NodeProto* const>> sorted(const std::vector<NodeProto>& nodes);

 private:
  std::map<const std::vector<NodeProto>*, std::vector<const NodeProto*>> orders_;
  // Outer values that graphs of attributes read.
  std::map<const GraphProto*, std::vector<std::string_view>> reads_;
};

}  // namespace lathe::onnx
