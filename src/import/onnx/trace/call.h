// The node that an operator's function traces: its operands and attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"
#include "lathe/import/onnx/value.h"

namespace lathe::onnx {

class Tracer;

// Attribute accessors take the default value of the specification. Attributes that became inputs
// (MOVED in operators.def) are read by `moved` from either, as this version has it. Errors of
// operations on graph tensors need no check here: the builder stores the first.
class Call {
 public:
  Call(Tracer& tracer, const NodeProto& node, int version, std::string_view moved,
       const std::vector<AttributeProto>& around, std::vector<Value> operands);

  std::string_view op() const { return node_.op_type; }
  int version() const { return version_; }  // of the operator set
  const NodeProto& node() const { return node_; }
  Tracer& tracer() { return tracer_; }
  graph::Builder& builder();

  // The same node over other operands.
  Call with_operands(std::vector<Value> operands) const;

  // Number of operands without absent trailing ones.
  size_t operands() const { return operands_.size(); }
  bool has(size_t i) const { return !operand(i).is_none(); }
  const Value& operand(size_t i) const;  // None where it is absent
  // The operand as a tensor of the graph. It must be present and numeric.
  Tensor tensor(size_t i);
  Tensor tensor_or(size_t i, Tensor otherwise) { return has(i) ? tensor(i) : otherwise; }
  Shape shape(size_t i) const { return operand(i).shape(); }
  int rank(size_t i) const { return operand(i).rank(); }
  Type type(size_t i) const { return operand(i).type; }

  // The content of an operand, which tracing depends on: it is evaluated from constants, or else
  // the graph breaks and the value is read at run time. An error in that case too: return it.
  Result<Content> content(size_t i);
  Result<std::vector<int64_t>> integers(size_t i);
  Result<int64_t> integer(size_t i);
  // Integers that may depend on the valid length, see padded_axes.h.
  Result<LinearIntegers> linear_integers(size_t i);
  Result<double> number(size_t i);

  bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
  const AttributeProto* attribute(std::string_view name) const;
  int64_t int_of(std::string_view name, int64_t fallback) const;
  float float_of(std::string_view name, float fallback) const;
  std::string string_of(std::string_view name, std::string_view fallback) const;
  // A string attribute that is one of these; the first if it is absent. Error: another.
  Result<std::string_view> choice_of(std::string_view name,
                                     std::initializer_list<std::string_view> choices) const;
  std::vector<int64_t> ints_of(std::string_view name, std::vector<int64_t> fallback = {}) const;
  std::vector<float> floats_of(std::string_view name) const;
  std::vector<std::string> strings_of(std::string_view name) const;

  // An attribute that became an input; nothing where it is absent.
  Result<std::optional<std::vector<int64_t>>> moved(std::string_view name);
  // The same of integers that may depend on the valid length.
  Result<std::optional<LinearIntegers>> moved_linear(std::string_view name);
  // The index of the input that it is in this version, if any.
  std::optional<size_t> input_index(std::string_view name) const;

  // The number of outputs; whether output i is used.
  size_t results() const { return node_.outputs.size(); }
  bool has_output(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

  // An axis of a tensor of this rank, made non-negative. Errors: it is outside.
  Result<int> axis(int64_t axis, int rank) const;

  // Checks operands and attributes of an operator of ai.onnx after its function has run. Errors: an
  // unread trailing input, unless more than two were read; an unread attribute that is not one of
  // those which are read conditionally.
  Status check_used() const;
  void reset_used() { used_->operands = 0; }

  // fail(): the tracer prefixes every error with the node and its operator.
  std::unexpected<Error> reject(std::string_view why) const;
  // It depends on the valid length in a way that padded_axes.h does not support.
  std::unexpected<Error> reject_length() const {
    return reject("depends on the valid length of a padded axis");
  }

 private:
  Tracer& tracer_;
  const NodeProto& node_;
  int version_;
  std::string_view moved_;
  const std::vector<AttributeProto>& around_;  // of the function that the node is part of
  std::vector<Value> operands_;
  struct Used {
    size_t operands = 0;      // up to the last one read
    uint64_t attributes = 0;  // one bit each, modulo 64
  };
  std::shared_ptr<Used> used_;  // shared with copies by `with_operands`
};

}  // namespace lathe::onnx
