// The facts of the table rows: texts, arities, signatures and the dtypes they allow.
#include "lathe/scalar/op.h"

namespace lathe::scalar {

namespace {

constexpr bool has_expansion(std::string_view text) { return text != "NONE"; }

#define FOLD(kind_, identity_) Fold::kind_
#define COST(operations_) operations_
#define EXPAND(...) has_expansion(#__VA_ARGS__)
constexpr OpInfo kInfo[] = {
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, ...)                                                            \
  {text_, arity_, Signature::signature_, fold_, cost_, expand_},
#include "lathe/scalar/ops.def"
};
#undef FOLD
#undef COST
#undef EXPAND

constexpr DType bits_of(DType dtype) { return dtype == DType::F64 ? DType::I64 : DType::I32; }
constexpr DType of_bits(DType dtype) { return dtype == DType::I64 ? DType::F64 : DType::F32; }

}  // namespace

const OpInfo& info(Op op) { return kInfo[static_cast<int>(op)]; }

std::optional<Op> op_of(std::string_view text) {
  for (int i = 0; i < kOpCount; ++i) {
    if (kInfo[i].text == text) return static_cast<Op>(i);
  }
  return std::nullopt;
}

std::optional<DType> result_dtype(Op op, const DType* operands) {
  const Signature signature = info(op).signature;
  const bool choice = signature == Signature::Choose;
  const DType dtype = operands[choice ? 1 : 0];
  if (choice && operands[0] != DType::Bool) return std::nullopt;
  for (int i = choice ? 1 : 0; i < info(op).arity; ++i) {
    if (operands[i] != dtype || !accepts(signature, dtype)) return std::nullopt;
  }
  switch (signature) {
    case Signature::Number:
    case Signature::Quotient:
    case Signature::Float:
    case Signature::Function:
    case Signature::Integer:
    case Signature::Shift:
    case Signature::Logic:
    case Signature::Choose:
      return dtype;
    case Signature::Compare:
    case Signature::Test:
      return DType::Bool;
    case Signature::ToBits:
      return bits_of(dtype);
    case Signature::FromBits:
      return of_bits(dtype);
  }
  return std::nullopt;
}

}  // namespace lathe::scalar
