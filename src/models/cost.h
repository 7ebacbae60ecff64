// What one prediction of a model costs: multiply-adds and bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"
#include "lathe/nn/model.h"

namespace lathe::models {

struct Cost {
  // Of one example: products that are added up, by the name of the layer, those of nested models as
  // "MODEL/LAYER". Layers without any are absent; elementwise operations do not count.
  std::map<std::string, double> multiply_adds;
  double all_multiply_adds = 0;
  // Of a module that predicts one example.
  uint64_t weight_bytes = 0;
  uint64_t activation_bytes = 0;  // what layers hand on, at its peak
  uint64_t memory_bytes = 0;      // all that the module has
  uint64_t module_bytes = 0;      // its file without the weights
};

// Errors: as nn::build_program and compile::compile.
Result<Cost> cost_of(const nn::Model& model);

// Of one call of a graph, those of loops as often as they may run.
double multiply_adds(const graph::Graph& graph);

}  // namespace lathe::models
