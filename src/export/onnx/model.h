// An ONNX model in memory (onnx.ai/onnx/repo-docs/IR.html): nodes, constants and ports by name, and
// its file. Knows nothing of graphs of ours but their types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/base/shared_bytes.h"
#include "lathe/graph/graph.h"

namespace lathe::onnx_export {

using graph::DType;
using graph::element_count;
using graph::Shape;

inline constexpr int64_t kOpset = 18;  // of ai.onnx
inline constexpr int64_t kIrVersion = 8;

struct Graph;

using AttributeValue =
    std::variant<int64_t, std::string, std::vector<int64_t>, std::shared_ptr<Graph>>;

struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, AttributeValue> attributes;
  bool same_upper = false;  // its pads are those of auto_pad SAME_UPPER
};

struct Constant {
  std::string name;
  DType dtype;
  Shape shape;
  SharedBytes data;         // all elements, little-endian
  std::string weight = {};  // the name of the weight that it is; preserved
};

struct Port {
  std::string name;
  DType dtype;
  Shape shape;
  std::vector<std::string> symbols = {};  // of each axis, empty where it has a size
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // what they read comes before them
  std::vector<Constant> constants;
  std::vector<Port> inputs, outputs;
};

// TensorProto.DataType.
int element_type(DType dtype);

// Removes nodes and constants that nothing reads.
void drop_unread(Graph& graph);
// Small constants that are equal become one.
void join_equal(Graph& graph);

// The file of a model with embedded weights. Error: it has 2 GiB or more, which no protobuf
// has.
Result<std::vector<std::byte>> encode(const Graph& graph, std::string_view producer_version);

}  // namespace lathe::onnx_export
