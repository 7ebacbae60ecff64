// The operations by name, for programs that are built from outside: the parameters of each, and how
// to add it to a graph. Knows no text format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/graph/builder.h"
#include "lathe/ops/windows/window.h"

namespace lathe::ops {

using graph::Tensor;

enum class ParameterType : uint8_t {
  Tensor,
  Tensors,
  Flag,
  Number,
  Integer,
  Integers,
  IntegerPairs,
  Padding,
  DType
};

struct Parameter {
  std::string_view name;
  ParameterType type = ParameterType::Tensor;
  std::string_view standard = {};  // the default as JSON; empty: required
};

// The value of a parameter that is no tensor; which member counts depends on the type.
struct Argument {
  bool has_value = false;  // false where the default is null
  double number = 0;       // Flag: 0 or 1
  std::vector<int64_t> integers = {};
  std::vector<std::pair<int64_t, int64_t>> pairs = {};
  graph::DType dtype = graph::DType::F32;
  ops::Padding padding = ops::Padding::Valid;
};

using Function = void (*)();  // a function of some type
using Apply = Tensor (*)(Function function, std::span<const Tensor> operands,
                         std::span<const Argument> arguments);

struct Operation {
  std::string name;
  std::vector<Parameter> parameters;  // tensors first
  Function function = nullptr;
  Apply apply = nullptr;  // calls the function; null: `op` on every element
  graph::Op op = graph::Op::Add;
  bool is_formula = false;  // of each element, over floats
};

std::span<const Operation> operations();

// The operation over operands as its parameters require. Errors are the builder's.
Tensor add_operation(graph::Builder& builder, const Operation& operation,
                     std::span<const Tensor> operands, std::span<const Argument> arguments);

}  // namespace lathe::ops
