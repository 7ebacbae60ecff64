// Traces an ONNX model: converts it to a tensor graph for inputs of fixed types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"
#include "lathe/import/onnx/model.h"
#include "lathe/import/onnx/value.h"

namespace lathe::onnx {

// The type of an input or result: a tensor of an element type and shape, a sequence or map of such
// (of a map its keys and its values), or nothing.
struct Port {
  Value::Kind kind = Value::Kind::None;
  Type type = Type::Float32;
  Shape shape = {};
  // The content, if it is constant: always for strings, for inputs those that
  // `Trace::required_inputs` named.
  std::shared_ptr<const Content> constant = {};
  std::vector<Port> elements = {};
  std::string name = {};  // of the graph's input or output; "" for constants
  // Axes of a tensor that are padded; their valid length is the graph's input "count", I32 [], at
  // least 2; see padded_axes.h.
  std::vector<int> padded_axes = {};
};

// An input of a decoder that is a state of the graph. The rows of past tokens, such as keys or
// values, have a fixed capacity, of which the first `at` are valid; `at` is an input of the graph,
// i32[], named "at".
struct CachePair {
  size_t input;  // index of the model's input
  // Index of the output that is the next content. Nothing: the state is constant, and outputs that
  // return it have the name of the state.
  std::optional<size_t> result = {};
  // The axis of both to which the output appends rows. Nothing: the output replaces the content, as
  // that of a recurrence does.
  std::optional<int> axis = {};
};

// A model traced as far as possible. Where tracing depends on run-time data (the output size of
// NonZero, the branch of an If) the graph has a break: the caller runs it up to there, reads the
// value and has the model traced once more with it.
struct Trace {
  graph::Graph graph;
  // The values at which the graph breaks, in order; the last one is to be read, unless the trace is
  // complete.
  std::vector<graph::Value> graph_breaks;
  // Indices of inputs, in the order of their names, whose content tracing requires first.
  std::vector<size_t> required_inputs;
  bool is_complete = false;
  bool quantizes_jointly = false;           // the rows of a call share quantization parameters
  bool concatenates_cache = false;          // the model itself concatenates past and new rows
  bool is_capacity_independent = false;     // of caches: see Tracer::cache_dependence_of
  std::string why = {};                     // if incomplete: the node and what it depends on
  std::vector<Port> inputs, results;        // as passed, with names; in the order of the model
  std::vector<const TensorProto*> weights;  // the tensors of inputs "w0"…
};

// Which initializers become inputs "w0"… of the graph.
enum class WeightInputs : uint8_t {
  None,
  // Trainable ones: operands of products, convolutions and normalizations, except moments.
  Trained,
  // Those of 16 KiB or more, which graphs for other shapes can share.
  Large,
};

struct TraceOptions {
  std::span<const CachePair> cache = {};
  // Rows that a call appends to caches, for models without an attention mask: these see capacity -
  // new_rows past rows; see padded_axes.h. 0: the model has a mask.
  int64_t new_rows = 0;
  // Index of the input that is the attention mask of past and new rows.
  std::optional<size_t> mask = {};
  WeightInputs weights = WeightInputs::None;
  // Names of values to return instead of the model's outputs.
  std::span<const std::string> results = {};
};

// `break_values` are the contents of the values at the graph breaks, in order. The inputs of
// `options.cache` become states "cache0"… of their shapes, updated with the new content; their
// outputs are no results. A result of capacity + new rows means that the model concatenates them:
// it must mask the invalid rows. A result of capacity rows means that the model writes the new rows
// to their positions. Errors name the node, its operator and the cause; of several independent
// nodes, all.
Result<Trace> trace(const ModelProto& model, std::span<const Port> inputs,
                    std::span<const Content> break_values, const TraceOptions& options = {});

// For each result of a trace the indices of the inputs whose elements it depends on, ascending.
// Sequences and maps have none.
std::vector<std::vector<size_t>> result_dependencies(const Trace& trace);

// Operators of the model that are not supported, with the names of their nodes, or of the first
// outputs of nodes without a name.
struct MissingOperator {
  std::string name;  // "com.microsoft.Foo of version 1"
  std::vector<std::string> nodes;
};
std::vector<MissingOperator> missing_operators(const ModelProto& model);
// Checks that every operator and element type of the model is supported; the error names all that
// are not, with their nodes.
Status check_operators(const ModelProto& model);

}  // namespace lathe::onnx
