// Layers that are called on tensors, as programs.
#pragma once

#include <string>
#include <string_view>

#include "lathe/api/graph_session.h"

namespace lathe::api {

struct LayerGraph {
  GraphSession session;
  std::string ports;  // "inputs":[{"name","dtype","shape"}…],"outputs":[…]
};

// `json` as lathe_layer_graph reads it.
Result<LayerGraph> layer_graph(std::string_view json);

}  // namespace lathe::api
