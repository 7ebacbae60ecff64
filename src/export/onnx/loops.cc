// Loops as Loop: the body captures invariant operands from the outer scope and slices others by the
// step index.
#include <algorithm>
#include <limits>
#include <set>

#include "lathe/export/onnx/emitter.h"
#include "lathe/export/onnx/maps.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

using graph::Repetition;
using scalar::Number;

namespace {

// Writes one loop and its body.
class LoopWriter {
 public:
  LoopWriter(Emitter& around, const graph::Node& node)
      : around_(around),
        node_(node),
        repetition_(node.repetition),
        body_(std::make_shared<Graph>()),
        inside_(around.shared, *node.body, *body_),
        inputs_(graph::inputs_of(*node.body)) {}

  // The results, one for each output of the body.
  Result<std::vector<Tensor>> run() {
    begin();
    LATHE_TRY(emit_nodes(inside_));
    end();
    return results();
  }

 private:
  bool ends_early() const {
    return repetition_.has_condition() && !repetition_.is_sliced(repetition_.condition);
  }
  bool chooses_steps() const { return repetition_.has_condition() && !ends_early(); }

  void begin() {
    Writer& w = inside_.writer;
    body_->name = w.fresh("body");
    step_ = {w.fresh("step"), DType::I64, {}};
    going_ = {w.fresh("going"), DType::Bool, {}};
    body_->inputs = {{step_.name, DType::I64, {}}, {going_.name, DType::Bool, {}}};
    Tensor at = step_;
    if (node_.reverse) {
      at = w.map("Sub", {w.number(Number::of(repetition_.steps - 1)), step_});
    }
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const graph::Node& input = (*node_.body)[inputs_[k]];
      const Value operand = node_.operands[k];
      if (repetition_.is_carried(k)) {
        const Tensor state{w.fresh("carried"), input.dtype, input.shape};
        body_->inputs.push_back({state.name, input.dtype, input.shape});
        inside_.set(inputs_[k], PermutedTensor::plain(state));
      } else if (repetition_.is_sliced(k)) {
        inside_.set(inputs_[k], PermutedTensor::plain(w.gather(around_.plain(operand), at, 0)));
      } else {
        inside_.set(inputs_[k], around_.tensor_of(operand));
      }
    }
  }

  // ONNX requires each output of a body to be a different output of a node in it.
  void add_output(const Tensor& x) {
    const auto produces = [&](const Node& each) {
      return std::ranges::find(each.outputs, x.name) != each.outputs.end();
    };
    const bool is_first_use =
        std::ranges::any_of(body_->nodes, produces) && output_names_.insert(x.name).second;
    const Tensor result = is_first_use ? x : inside_.writer.node("Identity", {x}, x.dtype, x.shape);
    body_->outputs.push_back({result.name, x.dtype, x.shape});
  }

  void end() {
    Writer& w = inside_.writer;
    const std::vector<graph::Output>& outputs = node_.body->outputs;
    const int condition = repetition_.condition;
    if (ends_early() && repetition_.is_carried(condition)) {
      const Tensor next = inside_.plain(outputs[condition].value);
      add_output(w.node("Identity", {next}, DType::Bool, {}));
    } else {
      add_output(w.node("Identity", {going_}, DType::Bool, {}));
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      Tensor next = inside_.plain(outputs[k].value);
      if (chooses_steps()) {
        const Tensor runs = inside_.plain(inputs_[condition]);
        const Tensor before = repetition_.is_carried(k) ? inside_.plain(inputs_[k])
                                                        : w.number(Number::from(next.dtype, 0));
        next = select(w, runs, next, before);
      }
      add_output(next);
    }
  }

  // A stack padded to one row per step; rows of steps that did not run are zero.
  Tensor completed(const Tensor& stack) {
    Writer& w = around_.writer;
    const auto rank = static_cast<int64_t>(stack.shape.size());
    const Tensor rows =
        w.node("Shape", {stack}, DType::I64, {1}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
    const Tensor missing = w.map("Sub", {w.integers({repetition_.steps}), rows});
    const Tensor none = w.integers(std::vector<int64_t>(rank, 0));
    const Tensor others = w.integers(std::vector<int64_t>(rank - 1, 0));
    const Tensor pads = node_.reverse ? w.concatenate({missing, others, none}, 0)
                                      : w.concatenate({none, missing, others}, 0);
    const bool is_short = scalar::size_of(stack.dtype) == 2;
    const DType dtype = is_short ? scalar::computed(stack.dtype) : stack.dtype;
    const Tensor wide = w.node(
        "Pad", {w.cast(stack, dtype), pads, w.number(Number::from(dtype, 0))}, dtype, stack.shape);
    return w.cast(wide, stack.dtype);
  }

  std::vector<Tensor> results() {
    Writer& w = around_.writer;
    Node loop{"Loop", {w.number(Number::of(repetition_.steps)).name, ""}, {}, {{"body", body_}}};
    if (ends_early()) {
      loop.inputs[1] = around_.plain(node_.operands[repetition_.condition]).name;
    }
    for (size_t k = 0; k < static_cast<size_t>(repetition_.carried); ++k) {
      loop.inputs.push_back(around_.plain(node_.operands[k]).name);
    }
    std::vector<Tensor> results;
    for (size_t k = 0; k < node_.body->outputs.size(); ++k) {
      const graph::Node& value = (*node_.body)[node_.body->outputs[k].value];
      Shape shape = value.shape;
      if (!repetition_.is_carried(k)) shape.insert(shape.begin(), repetition_.steps);
      results.push_back({w.fresh("Loop"), value.dtype, std::move(shape)});
      loop.outputs.push_back(results.back().name);
    }
    w.add(std::move(loop));
    for (size_t k = static_cast<size_t>(repetition_.carried); k < results.size(); ++k) {
      Tensor& stack = results[k];
      if (node_.reverse) {
        const Tensor back = w.integers({-1});
        const Tensor end = w.integers({std::numeric_limits<int32_t>::min()});
        stack =
            w.node("Slice", {stack, back, end, w.integers({0}), back}, stack.dtype, stack.shape);
      }
      if (ends_early()) stack = completed(stack);
    }
    return results;
  }

  Emitter& around_;
  const graph::Node& node_;
  const Repetition& repetition_;
  std::shared_ptr<Graph> body_;
  Emitter inside_;
  std::vector<Value> inputs_;
  Tensor step_, going_;
  std::set<std::string> output_names_;
};

}  // namespace

Status emit_loop(Emitter& e, Value loop) {
  const graph::Node& node = e[loop];
  e.set(loop, PermutedTensor::plain(
                  e.writer.number(Number::of(static_cast<int32_t>(node.repetition.steps)))));
  LATHE_ASSIGN_OR_RETURN(e.loops[loop.id], LoopWriter(e, node).run());
  return {};
}

}  // namespace lathe::onnx_export
