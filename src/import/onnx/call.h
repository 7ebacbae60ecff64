// What the function of an operator sees of the node that it writes down.
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

// Attributes have the defaults of the specification where the caller gives them. What the table
// says became an input (MOVED) is read by `moved` from wherever this version has it. Mistakes of
// operations on graph tensors need no check here: the builder keeps the first.
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
  Call over(std::vector<Value> operands) const;

  // Operands as written, absent ones at the end left out.
  size_t operands() const { return operands_.size(); }
  bool has(size_t i) const { return !operand(i).is_none(); }
  const Value& operand(size_t i) const;  // None where it is absent
  // The operand as a tensor of the graph. It must be there, and numbers.
  Tensor tensor(size_t i);
  Tensor tensor_or(size_t i, Tensor otherwise) { return has(i) ? tensor(i) : otherwise; }
  Shape shape(size_t i) const { return operand(i).shape(); }
  int rank(size_t i) const { return operand(i).rank(); }
  Type type(size_t i) const { return operand(i).type; }

  // What an operand holds, which must be known before the graph goes on: it is computed here from
  // constants, or else the graph is cut and it is read at run time. An error in that case too:
  // return it.
  Result<Content> content(size_t i);
  Result<std::vector<int64_t>> integers(size_t i);
  Result<int64_t> integer(size_t i);
  // Integers that may follow from how many rows there are, see counted_rows.h.
  Result<Counted> counted(size_t i);
  Result<double> number(size_t i);

  bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
  const AttributeProto* attribute(std::string_view name) const;
  int64_t int_of(std::string_view name, int64_t standard) const;
  float float_of(std::string_view name, float standard) const;
  std::string text_of(std::string_view name, std::string_view standard) const;
  // A string attribute that is one of these; the first where it is absent. Error: another.
  Result<std::string_view> choice_of(std::string_view name,
                                     std::initializer_list<std::string_view> choices) const;
  std::vector<int64_t> ints_of(std::string_view name, std::vector<int64_t> standard = {}) const;
  std::vector<float> floats_of(std::string_view name) const;
  std::vector<std::string> texts_of(std::string_view name) const;

  // An attribute that became an input; nothing where it is absent.
  Result<std::optional<std::vector<int64_t>>> moved(std::string_view name);
  // The same of integers that may follow from how many rows there are.
  Result<std::optional<Counted>> moved_counted(std::string_view name);
  // Whether it is, in this version, and at which place.
  std::optional<size_t> place_of(std::string_view name) const;

  // How many results are wanted; whether somebody wants number i.
  size_t results() const { return node_.outputs.size(); }
  bool wants(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

  // An axis of a tensor of this rank, counted from the front. Errors: outside.
  Result<int> axis(int64_t given, int rank) const;

  // Of an operator of ai.onnx that has done its work. Errors: an input behind all that it looked
  // at, where these are two at most; an attribute that it did not look at and that none has on a
  // condition.
  Status check_used() const;
  void forget_used() { used_->operands = 0; }

  // fail(): the node and its operator come in front of every error.
  std::unexpected<Error> refuse(std::string_view why) const;
  // It goes by how many rows there are in a way that counted_rows.h does not know.
  std::unexpected<Error> refuse_rows() const { return refuse("goes by how many rows there are"); }

 private:
  Tracer& tracer_;
  const NodeProto& node_;
  int version_;
  std::string_view moved_;
  const std::vector<AttributeProto>& around_;  // of the function that the node is part of
  std::vector<Value> operands_;
  struct Used {
    size_t operands = 0;      // up to the last one that somebody looked at
    uint64_t attributes = 0;  // bits by number
  };
  std::shared_ptr<Used> used_;  // also of what `over` gives
};

}  // namespace lathe::onnx
