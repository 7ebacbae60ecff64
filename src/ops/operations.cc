// The rows of operations.def; the parameters of a row are read off the type of its function.
#include "lathe/ops/operations.h"

#include <optional>
#include <tuple>

#include "lathe/base/check.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/images/resize.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/nn/losses.h"
#include "lathe/ops/random.h"
#include "lathe/ops/reduction/reductions.h"
#include "lathe/ops/tfjs_adapters.h"

namespace lathe::ops {

namespace {

// Hands out operands and arguments in the order of a function's parameters.
struct Supply {
  std::span<const Tensor> operands;
  std::span<const Argument> arguments;

  Tensor tensor() {
    const Tensor first = operands.front();
    operands = operands.subspan(1);
    return first;
  }
  const Argument& argument() {
    const Argument& first = arguments.front();
    arguments = arguments.subspan(1);
    return first;
  }
};

// How a parameter of the C++ type T is described and read.
template <class T>
struct ParameterTraits;

#define PARAMETER(cpp_, type_, ...)                              \
  template <>                                                    \
  struct ParameterTraits<cpp_> {                                 \
    static constexpr ParameterType kType = ParameterType::type_; \
    static cpp_ from(Supply& supply) { __VA_ARGS__; }            \
  };
using Tensors = std::vector<Tensor>;
using OptionalInts = std::optional<std::vector<int>>;
PARAMETER(Tensor, Tensor, return supply.tensor())
PARAMETER(Tensors, Tensors, return Tensors(supply.operands.begin(), supply.operands.end()))
PARAMETER(bool, Flag, return supply.argument().number != 0)
PARAMETER(float, Number, return static_cast<float>(supply.argument().number))
PARAMETER(int, Integer, return static_cast<int>(supply.argument().number))
PARAMETER(Padding, Padding, return supply.argument().padding)
PARAMETER(graph::DType, DType, return supply.argument().dtype)
PARAMETER(graph::Shape, Integers, return supply.argument().integers)
PARAMETER(Pairs, IntegerPairs, return supply.argument().pairs)
PARAMETER(OptionalInts, Integers, const Argument& argument = supply.argument();
          if (!argument.has_value) return std::nullopt;
          return std::vector<int>(argument.integers.begin(), argument.integers.end()))
PARAMETER(std::optional<graph::Shape>, Integers, const Argument& argument = supply.argument();
          if (!argument.has_value) return std::nullopt; return argument.integers)
#undef PARAMETER

// What functions of one type share: the types of their parameters, and the call.
template <class... P>
struct Signature {
  static constexpr ParameterType kTypes[] = {ParameterTraits<std::remove_cvref_t<P>>::kType...};

  static Tensor apply(Function function, std::span<const Tensor> operands,
                      std::span<const Argument> arguments) {
    Supply supply{operands, arguments};
    // Braces fix the order of evaluation.
    std::tuple<std::remove_cvref_t<P>...> values{
        ParameterTraits<std::remove_cvref_t<P>>::from(supply)...};
    return std::apply(reinterpret_cast<Tensor (*)(P...)>(function), std::move(values));
  }
};

struct Row {
  std::string_view name, parameters;
  Function function;
  Apply apply;
  std::span<const ParameterType> types;
};

template <class... P>
Row row(std::string_view name, Tensor (*function)(P...), std::string_view parameters) {
  return {name, parameters, reinterpret_cast<Function>(function), Signature<P...>::apply,
          Signature<P...>::kTypes};
}

Operation operation(const Row& row) {
  Operation result{std::string(row.name), {}, row.function, row.apply};
  std::string_view rest = row.parameters;
  for (const ParameterType type : row.types) {
    LATHE_CHECK(!rest.empty());
    const size_t end = rest.find(", ");
    const std::string_view each = rest.substr(0, end);
    rest = end == rest.npos ? "" : rest.substr(end + 2);
    const size_t equals = each.find('=');
    result.parameters.push_back(
        {each.substr(0, equals), type, equals == each.npos ? "" : each.substr(equals + 1)});
  }
  LATHE_CHECK(rest.empty());
  return result;
}

// What operations of each element call their operands.
constexpr std::string_view kOperandNames[] = {"a", "b", "c"};

template <class... P>
Operation formula(std::string_view name, Tensor (*function)(P...)) {
  Operation result{
      std::string(name), {}, reinterpret_cast<Function>(function), Signature<P...>::apply};
  for (size_t i = 0; i < sizeof...(P); ++i) result.parameters.push_back({kOperandNames[i]});
  result.is_formula = true;
  return result;
}

// "mul_add" -> "mulAdd".
std::string camel_case(std::string_view text) {
  std::string result;
  bool raise = false;
  for (const char c : text) {
    if (c != '_') result += raise ? static_cast<char>(c - 'a' + 'A') : c;
    raise = c == '_';
  }
  return result;
}

std::string elementwise_name(graph::Op op) {
  constexpr std::pair<graph::Op, std::string_view> kNames[] = {
#define ELEMENTWISE(op_, text_) {graph::Op::op_, text_},
#include "lathe/ops/operations.def"
  };
  for (const auto& [each, name] : kNames) {
    if (op == each) return std::string(name);
  }
  return camel_case(scalar::info(op).text);
}

std::vector<Operation> all_operations() {
  std::vector<Operation> rows;
  for (int i = 0; i < scalar::kOpCount; ++i) {
    const auto op = static_cast<graph::Op>(i);
    std::vector<Parameter> parameters;
    for (int k = 0; k < scalar::info(op).arity; ++k) parameters.push_back({kOperandNames[k]});
    rows.push_back({elementwise_name(op), std::move(parameters), nullptr, nullptr, op});
  }
  const Row table[] = {
#define OPERATION(text_, function_, parameters_) row(text_, function_, parameters_),
#include "lathe/ops/operations.def"
  };
  for (const Row& each : table) rows.push_back(operation(each));
#define FORMULA(text_, operands_, ...) \
  rows.push_back(formula(              \
      text_, +[] operands_ -> Tensor { return __VA_ARGS__; }));
#include "lathe/ops/operations.def"
  return rows;
}

}  // namespace

std::span<const Operation> operations() {
  static const std::vector<Operation> kRows = all_operations();
  return kRows;
}

Tensor add_operation(graph::Builder& builder, const Operation& operation,
                     std::span<const Tensor> operands, std::span<const Argument> arguments) {
  if (operation.apply == nullptr) return builder.map(operation.op, operands, operation.name);
  return operation.apply(operation.function, operands, arguments);
}

}  // namespace lathe::ops
