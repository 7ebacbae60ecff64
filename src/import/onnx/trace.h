// Writes an ONNX model down as a tensor graph, for inputs of given types.
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

// What an input is called with, or a result is: a tensor of a type and shape, a sequence or map of
// such (of a map its keys and its values), or nothing.
struct Port {
  Value::Kind kind = Value::Kind::None;
  Type type = Type::Float32;
  Shape shape = {};
  // Where the content is known: of strings always. Of inputs: those that `Trace::asked` named.
  std::shared_ptr<const Content> known = {};
  std::vector<Port> elements = {};
  std::string name = {};  // of the graph's input or output; "" where the content is known
  // Axes of a tensor with room for more rows than there are: how many count is the graph's input
  // "count", I32 [], at least 2; see counted_rows.h.
  std::vector<int> counted = {};
};

// Keys and values that a decoder keeps from call to call: what was computed of earlier tokens lies
// in states of a fixed capacity, of which the first `at` rows hold something; `at` is an input of
// the graph, i32[], named "at".
struct CachePair {
  size_t
      input;  // number of the model's input for earlier rows, of shape [batch, heads, rows, size]
  // Number of the output that has them and those of the new tokens; nothing: they stay as they are,
  // and outputs that are they have the name of the state.
  std::optional<size_t> result;
};
// Along this axis of both.
constexpr int kCacheAxis = 2;

// A model written down as far as possible. Where data must tell how it goes on (the sizes of what
// is not zero, which branch) the graph is cut: the caller runs it up to the cut, reads the value
// and has the model written down again, knowing it.
struct Trace {
  graph::Graph graph;
  // The values behind which the graph is cut, in order; the last one is asked for, unless it is
  // whole.
  std::vector<graph::Value> cuts;
  // Numbers of inputs, in the order of their names, whose content must be known first.
  std::vector<size_t> asked;
  bool is_whole = false;
  bool is_mixed = false;                    // the rows of a call are quantised together
  bool is_joined = false;                   // of kept rows: the model has concatenated them
  bool is_sure = false;                     // of kept rows: see Tracer::followed
  std::string why = {};                     // it is not whole: the node and what it must know
  std::vector<Port> inputs, results;        // as given, with names; as the model lists them
  std::vector<const TensorProto*> weights;  // what the inputs "w0"… stand for
};

// Which initialisers are inputs "w0"… of what is written down.
enum class WeightInputs : uint8_t {
  None,
  // What training changes: what products, convolutions and normalisations multiply by or add, but
  // for moments.
  Trained,
  // Those of 16 KiB or more that graphs for other shapes may share.
  Large,
};

struct TraceOptions {
  std::span<const CachePair> cache = {};
  // Of a model that goes by how many rows there are, not by a mask: how many the call adds, so many
  // less of which it is told than the states have room for; see counted_rows.h. 0: by a mask.
  int64_t fresh_rows = 0;
  WeightInputs weights = WeightInputs::None;
  // Names of values that are the results instead of the model's outputs.
  std::span<const std::string> results = {};
};

// `known` is what the values behind the cuts hold, in order. The inputs of `options.cache` are
// states "cache0"… of their shapes, which end with the new rows in them; what comes of them is no
// result. Where a result has all rows of the state and the new ones behind, the model has
// concatenated them: it must be told which rows count by its mask. Where it has as many as the
// state, its operators have put them where they belong. Errors name the node, its operator and what
// is wrong; where several nodes are refused that do not follow from one another, all of them.
Result<Trace> trace(const ModelProto& model, std::span<const Port> inputs,
                    std::span<const Content> known, const TraceOptions& options = {});

// Operators of the model that are not there, with the names of their nodes, or of the first outputs
// of nodes without one.
struct MissingOperator {
  std::string name;  // "com.microsoft.Foo of version 1"
  std::vector<std::string> nodes;
};
std::vector<MissingOperator> missing_operators(const ModelProto& model);
// Whether every operator and element type of the model is there; an error names all that are not,
// with their nodes.
Status check_operators(const ModelProto& model);

}  // namespace lathe::onnx
