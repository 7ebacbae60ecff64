// The writer of a model: names and what they stand for, bodies of loops, what must be known.
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
#include "lathe/import/onnx/call.h"
#include "lathe/import/onnx/counted_rows.h"
#include "lathe/import/onnx/order.h"
#include "lathe/import/onnx/problems.h"
#include "lathe/import/onnx/trace.h"

namespace lathe::onnx {

class Tracer {
 public:
  Tracer(const ModelProto& model, std::span<const Content> known, const TraceOptions& options);

  Result<Trace> run(std::span<const Port> inputs);

  // What operations are added to: the innermost body, or the graph.
  graph::Builder& builder() { return bodies_.empty() ? graph_ : bodies_.back()->builder; }
  // A value as a tensor of what is being written. It must be a tensor of numbers.
  Tensor tensor(const Value& value);
  // What it holds, where that follows from constants and what is known.
  std::optional<Content> peek(const Value& value);
  // The same. An error where nobody knows: the graph is then cut, see Call::content.
  Result<Content> content(const Value& value);
  // The same of integers that may follow from how many rows there are.
  Result<Counted> counted(const Value& value);

  // What is known of kept rows, for models that go by how many there are; nothing of others, and
  // inside bodies.
  CountedRows* rows() { return rows_ && bodies_.empty() ? &*rows_ : nullptr; }
  // The rows of a call are quantised together.
  void mix_rows() { trace_.is_mixed = true; }
  // Whether a tensor's sizes or content follow from how many rows there are, also inside bodies.
  bool goes_by_rows(const Value& x) const { return rows_ && rows_->is_marked(x.tensor); }
  // What a tensor holds that follows from how many rows there are, as `counted` gives it from now
  // on.
  void assume(Tensor x, const Counted& counted);

  // The graph of an attribute, written down here for these values of its inputs; its outputs.
  Result<Values> inlined(const GraphProto& graph, Values given);
  // What is added from here to `end_body` is the body of a loop. It reads what is around it through
  // inputs of its own, which come after those that are added first.
  void begin_body();
  struct Body {
    graph::Graph graph;
    std::vector<Tensor> captures;  // what its other inputs stand for
  };
  Result<Body> end_body(std::span<const Tensor> outputs);
  void drop_body();
  // Whether a body asked for what only data tells since this was asked last: then no loop can hold
  // it, and each step must be written down alone.
  bool must_unroll() { return std::exchange(must_unroll_, false); }
  // The error of a body that no loop can hold.
  std::unexpected<Error> unroll(std::string_view why);
  bool is_inside_body() const { return !bodies_.empty(); }

  // A node's operator from the set of the model or function at work.
  Result<Values> apply(const NodeProto& node, Values operands);

  // What tracing may cost, however small the file is. `spend` counts steps of loops over its names,
  // elements and strings; `claim` says, before they are made, whether so many strings that follow
  // from it still fit. Errors: there are more.
  static constexpr int64_t kMaxSteps = int64_t{1} << 26;  // about two seconds
  static constexpr int64_t kMaxStringBytes = int64_t{1} << 28;
  Status spend(int64_t steps);
  Status claim(int64_t strings, int64_t bytes);
  int64_t& steps_left() { return steps_left_; }

 private:
  struct Scope {
    const Scope* outer;
    std::map<std::string, Value, std::less<>> names;
  };
  struct OpenBody {
    graph::Builder builder{"body"};
    std::map<graph::Value, Tensor> inputs = {};  // by what they stand for outside
    std::vector<Tensor> captures = {};
    std::map<graph::Value, Tensor> outside = {};  // what the inputs stand for
  };
  // What is being written: a model's graph, or a function with attributes that nodes refer to.
  struct Unit {
    const OperatorSets& sets;
    const std::vector<AttributeProto>& attributes;
  };

  Result<Values> nodes(const std::vector<NodeProto>& nodes, Scope& scope);
  // Those of the model itself: what is wrong with each.
  Status model_nodes(Scope& scope);
  Status node(const NodeProto& node, Scope& scope);
  Result<Values> function(const FunctionProto& function, const NodeProto& node, Values operands);
  Result<Values> outputs(const GraphProto& graph, const Scope& scope);
  Status initializers(const GraphProto& graph, Scope& scope);
  const Value* find(const Scope& scope, std::string_view name);
  static std::string named(const NodeProto& node, std::string_view why);
  std::unexpected<Error> failed(const NodeProto& node, std::string_view why) const;
  // Counts what a node reads and has.
  Status spend(const NodeProto& node, const Values& operands);
  Status check_strings(const Call& call, const Values& results);
  Value input(const Port& given, Port& named);
  Value cached(const Port& given, size_t number);
  bool is_kept(size_t result) const;
  Status follow_rows();
  // Whether an operand has room for more rows than count.
  bool has_rooms(const Call& call) const;
  Status check_rows(const Call& call, const Values& results);
  Result<Values> wanted(const Scope& scope);
  std::set<const NodeProto*> needed_nodes() const;
  void add_weights(Scope& scope);
  Status keep_rows(const Values& results);
  uint8_t followed(const NodeProto& node, const Values& operands);
  Port result(const Value& value);
  Tensor captured(Tensor x, size_t depth);
  graph::Builder& builder_at(size_t depth);
  // Evaluates what follows from constants and what is known.
  std::optional<graph::Array> evaluated(graph::Builder& builder, graph::Value value);
  Result<Content> ask(const Value& value);

  const ModelProto& model_;
  Functions functions_;
  NodeOrders orders_;
  std::span<const Content> known_;
  std::span<const CachePair> cache_;
  int64_t fresh_rows_;
  Tensor earlier_rows_;  // I32 []: where rows are kept, or how many there are in inputs
  std::optional<CountedRows> rows_;
  WeightInputs weights_;
  std::span<const std::string> wanted_;
  graph::Builder graph_;
  std::vector<std::unique_ptr<OpenBody>> bodies_;
  const Scope* scope_ = nullptr;  // the innermost
  const Unit* unit_ = nullptr;
  Trace trace_;
  bool is_asking_ = false, must_unroll_ = false;
  size_t inputs_ = 0, results_ = 0;   // names given
  int64_t nodes_ = 0, computed_ = 0;  // written down, and elements computed for it
  int64_t steps_left_ = kMaxSteps, bytes_left_ = kMaxStringBytes;
  int depth_ = 0;  // of functions and graphs of attributes in each other
  // What is known; and the same if one row more were kept than is said.
  std::map<std::pair<const graph::Builder*, graph::Value>, graph::Array> arrays_, arrays_of_more_;
  struct Spelled {
    std::shared_ptr<const Content> content;  // lives as long as the tensor may be asked for
    Tensor tensor;
  };
  std::map<std::pair<const graph::Builder*, const Content*>, Spelled> constants_;
  // Of graphs of attributes: each step of a loop has the same.
  std::map<const TensorProto*, std::shared_ptr<const Content>> initializers_;
};

}  // namespace lathe::onnx
