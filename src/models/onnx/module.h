// ONNX models as graphs and as standalone modules.
#pragma once

#include <span>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/compile/compile.h"
#include "lathe/graph/graph.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

// The model for what its inputs are called with (ports_of), as the graph "run" whose inputs and
// outputs have the model's names; elements of sequences are "NAME/0"…. Inputs whose content is
// constant are constants of the graph. Errors: all unsupported operators; errors
// of nodes; data-dependent sizes, with the node: such models are run in parts (onnx::run, or the
// package), no graph of fixed shapes is all of them; results without numbers.
Result<graph::Graph> graph_of(const ModelProto& model, std::span<const Port> inputs);

// A module with the entry `run` that needs nothing else: the weights are in it. Errors: as
// graph_of and compile::compile.
Result<compile::Executable> compile_module(const ModelProto& model, std::span<const Port> inputs,
                                           const compile::Options& options = {});

}  // namespace lathe::onnx
