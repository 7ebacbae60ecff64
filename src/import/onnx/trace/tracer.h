// Traces a model: scopes of names, loop bodies, constant evaluation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/import/onnx/order.h"
#include "lathe/import/onnx/problems.h"
#include "lathe/import/onnx/trace/call.h"
#include "lathe/import/onnx/trace/padded_axes.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

// The number of rows of caches; 0: there are none.
int64_t capacity_of(std::span<const Port> inputs, std::span<const CachePair> cache);
// Error: the caches do not fit the model and its inputs.
Status check_caches(const ModelProto& model, std::span<const Port> inputs,
                    const TraceOptions& options);

class Tracer {
 public:
  Tracer(const ModelProto& model, std::span<const Content> break_values,
         const TraceOptions& options);

  Result<Trace> run(std::span<const Port> inputs);

  // The builder that operations are added to: of the innermost body, or the graph.
  graph::Builder& builder() { return bodies_.empty() ? graph_ : bodies_.back()->builder; }
  // A value as a tensor of builder(). It must be a numeric tensor.
  Tensor tensor(const Value& value);
  // Its content, if it can be computed from constants and values at graph breaks.
  std::optional<Content> peek(const Value& value);
  // The same. Error: it cannot; then the graph breaks there, see Call::content.
  Result<Content> content(const Value& value);
  // The same of integers that may depend on the valid length, see padded_axes.h.
  Result<LinearIntegers> linear_integers(const Value& value);

  // The padded axes of a model that has some; null for others, and inside bodies.
  PaddedAxes* padded_axes() { return padded_axes_ && bodies_.empty() ? &*padded_axes_ : nullptr; }
  // The rows of a call share quantization parameters.
  void mark_joint_quantization() { trace_.quantizes_jointly = true; }
  // Whether a tensor's sizes or content depend on the valid length, also inside bodies.
  bool depends_on_length(const Value& x) const {
    return padded_axes_ && padded_axes_->is_tracked(x.tensor);
  }
  // Sets what linear_integers() returns for a length-dependent tensor.
  void assume(Tensor x, const LinearIntegers& content);

  // Traces the graph of an attribute inline for these values of its inputs; its outputs.
  Result<Values> inlined(const GraphProto& graph, Values arguments);
  // Operations added from here to `end_body` form the body of a loop. Values of outer scopes are
  // captured: they become further inputs, after those added by the caller.
  void begin_body();
  struct Body {
    graph::Graph graph;
    std::vector<Tensor> captures;  // outer tensors of the further inputs
  };
  Result<Body> end_body(std::span<const Tensor> outputs);
  void drop_body();
  // Whether a body required run-time data since the last call: then it cannot become a loop node,
  // and must be unrolled.
  bool must_unroll() { return std::exchange(must_unroll_, false); }
  // The error of a body that must be unrolled.
  std::unexpected<Error> unroll(std::string_view why);
  bool is_inside_body() const { return !bodies_.empty(); }

  // Calls a node's operator, of the opset of the current model or function.
  Result<Values> call_operator(const NodeProto& node, Values operands);

  // Limits of the cost of tracing, also for small files. A step is about one iteration of a loop
  // over names, elements or strings. Errors: the limit is exceeded.
  static constexpr int64_t kMaxSteps = int64_t{1} << 26;  // about two seconds
  static constexpr int64_t kMaxStringBytes = int64_t{1} << 28;
  // Subtracts steps from those left.
  Status spend(int64_t steps);
  // Checks, before they are allocated, that `strings` more std::string objects with `bytes` bytes
  // of text in all fit the bytes left. Subtracts nothing: that happens once a node's results are
  // known.
  Status claim(int64_t strings, int64_t bytes);
  int64_t& steps_left() { return steps_left_; }

 private:
  struct Scope {
    const Scope* outer;
    std::map<std::string, Value, std::less<>> names;
  };
  struct OpenBody {
    graph::Builder builder{"body"};
    std::map<graph::Value, Tensor> inputs = {};  // by captured tensor
    std::vector<Tensor> captures = {};
    std::map<graph::Value, Tensor> outside = {};  // captured tensors by input
  };
  // What is being traced: a model's graph, or a function with attributes that nodes refer to.
  struct Unit {
    const OperatorSets& sets;
    const std::vector<AttributeProto>& attributes;
  };

  Result<Values> nodes(const std::vector<NodeProto>& nodes, Scope& scope);
  // The nodes of the model's graph. The error lists what is wrong with each.
  Status model_nodes(Scope& scope);
  Status node(const NodeProto& node, Scope& scope);
  Result<Values> function(const FunctionProto& function, const NodeProto& node, Values operands);
  Result<Values> outputs(const GraphProto& graph, const Scope& scope);
  Status initializers(const GraphProto& graph, Scope& scope);
  const Value* find(const Scope& scope, std::string_view name);
  static std::string named(const NodeProto& node, std::string_view why);
  std::unexpected<Error> failed(const NodeProto& node, std::string_view why) const;
  // Counts a node's operands and attributes.
  Status spend(const NodeProto& node, const Values& operands);
  Status check_strings(const Call& call, const Values& results);
  Value input(const Port& port, Port& named);
  Value cache_state(const Port& port, size_t index);
  // The cache whose next content is this output, or nullptr.
  const CachePair* cache_of_output(size_t result) const;
  Status propagate_padding();
  // Whether an operand has a padded axis.
  bool has_padded_operand(const Call& call) const;
  Status check_padding(const Call& call, const Values& results);
  Result<Values> requested_results(const Scope& scope);
  std::set<const NodeProto*> needed_nodes() const;
  void add_weights(Scope& scope);
  Status update_caches(const Values& results);
  uint8_t cache_dependence_of(const NodeProto& node, const Values& operands);
  Port result(const Value& value);
  Tensor captured(Tensor x, size_t depth);
  graph::Builder& builder_at(size_t depth);
  // Evaluates a value that depends only on constants and values at graph breaks.
  std::optional<graph::Array> evaluated(graph::Builder& builder, graph::Value value);
  Result<Content> break_graph(const Value& value);

  const ModelProto& model_;
  Functions functions_;
  NodeOrders orders_;
  std::span<const Content> break_values_;
  std::span<const CachePair> cache_;
  int64_t new_rows_;
  std::optional<size_t> mask_;
  Tensor past_length_;  // I32 []: valid rows of caches, or of padded inputs
  std::optional<PaddedAxes> padded_axes_;
  WeightInputs weights_;
  std::span<const std::string> requested_;
  graph::Builder graph_;
  std::vector<std::unique_ptr<OpenBody>> bodies_;
  const Scope* scope_ = nullptr;  // the innermost
  const Unit* unit_ = nullptr;
  Trace trace_;
  bool has_stopped_ = false, must_unroll_ = false;
  size_t inputs_ = 0, results_ = 0;   // counters of their names
  int64_t nodes_ = 0, computed_ = 0;  // traced nodes, and elements evaluated
  int64_t steps_left_ = kMaxSteps, bytes_left_ = kMaxStringBytes;
  int depth_ = 0;  // nesting of functions and graphs of attributes
  // Evaluated values, at the nominal length and at one row more.
  std::map<std::pair<const graph::Builder*, graph::Value>, graph::Array> arrays_,
      arrays_of_next_length_;
  struct ConstantNode {
    std::shared_ptr<const Content> content;  // retained: its address is the key
    Tensor tensor;
  };
  std::map<std::pair<const graph::Builder*, const Content*>, ConstantNode> constants_;
  // Of graphs of attributes: each step of a loop has the same.
  std::map<const TensorProto*, std::shared_ptr<const Content>> initializers_;
};

}  // namespace lathe::onnx
