// The facts of the table rows: texts, arities, signatures and the dtypes they allow.
#include "scalar/op.h"

#include <iterator>

namespace lathe::scalar {

namespace {

constexpr bool is_spelled(std::string_view text) { return text != "NONE"; }

#define FOLD(kind_, identity_) Fold::kind_
#define COST(operations_) operations_
#define SPELL(...) is_spelled(#__VA_ARGS__)
constexpr OpInfo kInfo[] = {
#define SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, spell_, \
                  ...)                                                                             \
  {text_, arity_, Signature::signature_, fold_, cost_, spell_},
#include "scalar/ops.def"
};
#undef FOLD
#undef COST
#undef SPELL

struct DTypeInfo {
  std::string_view text;
  int size;
};

constexpr DTypeInfo kDTypes[] = {
#define DTYPE(name_, text_, type_) {text_, sizeof(type_)},
#include "scalar/dtypes.def"
};

std::optional<DType> number_result(const DType* operands, int arity, DType result) {
  for (int i = 0; i < arity; ++i) {
    if (operands[i] == DType::Bool || operands[i] != operands[0]) return std::nullopt;
  }
  return result;
}

std::optional<DType> uniform_result(const DType* operands, int arity, DType wanted, DType result) {
  for (int i = 0; i < arity; ++i) {
    if (operands[i] != wanted) return std::nullopt;
  }
  return result;
}

}  // namespace

const OpInfo& info(Op op) { return kInfo[static_cast<int>(op)]; }
std::string_view text(DType dtype) { return kDTypes[static_cast<int>(dtype)].text; }
int size_of(DType dtype) { return kDTypes[static_cast<int>(dtype)].size; }

std::optional<Op> op_of(std::string_view text) {
  for (int i = 0; i < kOpCount; ++i) {
    if (kInfo[i].text == text) return static_cast<Op>(i);
  }
  return std::nullopt;
}

std::optional<DType> dtype_of(std::string_view text) {
  for (size_t i = 0; i < std::size(kDTypes); ++i) {
    if (kDTypes[i].text == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> result_dtype(Op op, const DType* operands) {
  const int arity = info(op).arity;
  switch (info(op).signature) {
    case Signature::Number:
      return number_result(operands, arity, operands[0]);
    case Signature::Compare:
      return number_result(operands, arity, DType::Bool);
    case Signature::Float:
      return uniform_result(operands, arity, DType::F32, DType::F32);
    case Signature::Test:
      return uniform_result(operands, arity, DType::F32, DType::Bool);
    case Signature::Integer:
    case Signature::Shift:
      return uniform_result(operands, arity, DType::I32, DType::I32);
    case Signature::Logic:
      return uniform_result(operands, arity, DType::Bool, DType::Bool);
    case Signature::ToBits:
      return uniform_result(operands, arity, DType::F32, DType::I32);
    case Signature::FromBits:
      return uniform_result(operands, arity, DType::I32, DType::F32);
    case Signature::Choose:
      if (operands[0] != DType::Bool || operands[1] != operands[2]) return std::nullopt;
      return operands[1];
  }
  return std::nullopt;
}

}  // namespace lathe::scalar
