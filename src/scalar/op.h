// The scalar operations as an enum, with the facts of their table rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lathe/scalar/number.h"

namespace lathe::scalar {

enum class Op : uint8_t {
#define LATHE_SCALAR_OP(name_, ...) name_,
#include "lathe/scalar/ops.def"
};

enum class Signature : uint8_t {
  Number,
  Quotient,
  Float,
  Function,
  Integer,
  Shift,
  Compare,
  Test,
  Logic,
  Choose,
  ToBits,
  FromBits
};

// The kind of the reduction that repeats an operation; it decides the gradient of the reduction.
enum class Fold : uint8_t { None, Sum, Product, Pick, Logic };

inline constexpr int kOpCount = 0
#define LATHE_SCALAR_OP(...) +1
#include "lathe/scalar/ops.def"
    ;
inline constexpr int kMaxArity = 3;

struct OpInfo {
  std::string_view text;  // its name in printed IR: "mul_add"
  int arity;
  Signature signature;
  Fold fold;
  int cost;       // of recomputing it, in simple operations
  bool expanded;  // whether decompose() expands it
};

// Up to it a few parts of π/2 reduce an angle, and two rounds a number to its remainder where x / y
// is below the other. Beyond them all digits are needed: less common, and slower.
inline constexpr float kLargestAngle = 1048576;                // 2^20
inline constexpr float kLargestQuotient = 140737488355328.0f;  // 2^47
// The bits of 2/π after five zeros. Of a number with exponent 20 + n those from the n-th on count:
// earlier bits only contribute multiples of four quarter turns.
inline constexpr uint32_t kTwoOverPi[] = {0x0517cc1b, 0x727220a9, 0x4fe13abe, 0x8fa9a6ee,
                                          0x06db14ac, 0xc9e21c82, 0x0ff28b1d};

const OpInfo& info(Op op);
std::optional<Op> op_of(std::string_view text);

// Whether operands of this dtype, the condition of a choice aside, are accepted by the
// signature. Shorter types are computed in longer ones, but ToBits and FromBits do not apply to
// them.
constexpr bool accepts(Signature signature, DType dtype) {
  const bool is_wide_float = computed(dtype) == DType::F64;
  switch (signature) {
    case Signature::Number:
    case Signature::Compare:
      return is_number(dtype);
    case Signature::Quotient:
      return is_number(dtype) && !is_wide_float;
    case Signature::Float:
      return is_float(dtype);
    case Signature::Function:
    case Signature::Test:
      return is_float(dtype) && !is_wide_float;
    case Signature::Integer:
    case Signature::Shift:
      return is_integer(dtype);
    case Signature::ToBits:
      return is_float(dtype) && is_computed(dtype);
    case Signature::FromBits:
      return is_signed(dtype) && is_computed(dtype);
    case Signature::Logic:
      return dtype == DType::Bool;
    case Signature::Choose:
      return true;
  }
  return false;
}

// The dtype of op's result over operands of these dtypes; nullopt where the signature rejects them.
std::optional<DType> result_dtype(Op op, const DType* operands);

// The meaning of the row: result of op over operands (arity of them, dtypes as the signature
// requires).
Number evaluate(Op op, const Number* operands);
// The identity of the reduction by op (sum 0, max -inf…). Only where info(op).fold is one.
Number fold_identity(Op op, DType dtype);

}  // namespace lathe::scalar
