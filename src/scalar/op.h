// The element types and scalar operations as enums, with the facts of their table rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lathe::scalar {

enum class DType : uint8_t {
#define DTYPE(name_, text_, type_) name_,
#include "scalar/dtypes.def"
};

enum class Op : uint8_t {
#define SCALAR_OP(name_, ...) name_,
#include "scalar/ops.def"
};

enum class Signature : uint8_t {
  Number,
  Float,
  Integer,
  Shift,
  Compare,
  Test,
  Logic,
  Choose,
  ToBits,
  FromBits
};

// What the reduction that repeats an operation gives: by this its gradient differs.
enum class Fold : uint8_t { None, Sum, Product, Pick, Logic };

inline constexpr int kOpCount = 0
#define SCALAR_OP(...) +1
#include "scalar/ops.def"
    ;
inline constexpr int kMaxArity = 3;

struct OpInfo {
  std::string_view text;  // as IRs spell it: "mul_add"
  int arity;
  Signature signature;
  Fold fold;
  int cost;      // simple operations that computing it again is worth
  bool spelled;  // decompose() writes it out
};

// Beyond it sin, cos and tan are NaN, and so is mod where x / y is not below the other: of a number
// whose neighbours are so far away no digit would be right.
inline constexpr float kLargestAngle = 1048576;                // 2^20
inline constexpr float kLargestQuotient = 140737488355328.0f;  // 2^47

const OpInfo& info(Op op);
std::string_view text(DType dtype);
int size_of(DType dtype);  // bytes of one element
std::optional<Op> op_of(std::string_view text);
std::optional<DType> dtype_of(std::string_view text);

// Whether operands of this dtype, the condition of a choice aside, are any that the signature
// takes.
constexpr bool takes(Signature signature, DType dtype) {
  switch (signature) {
    case Signature::Number:
    case Signature::Compare:
      return dtype != DType::Bool;
    case Signature::Float:
    case Signature::Test:
    case Signature::ToBits:
      return dtype == DType::F32;
    case Signature::Integer:
    case Signature::Shift:
    case Signature::FromBits:
      return dtype == DType::I32;
    case Signature::Logic:
      return dtype == DType::Bool;
    case Signature::Choose:
      return true;
  }
  return false;
}

// The dtype of op's result over operands of these dtypes; nothing where the signature refuses them.
std::optional<DType> result_dtype(Op op, const DType* operands);

// One number of any dtype. Bool and I32 live in `i`, F32 in `f`.
struct Number {
  DType dtype = DType::F32;
  union {
    int32_t i;
    float f = 0;
  };
  static Number of(float value);
  static Number of(int32_t value);
  static Number of(bool value);
  // The number of `dtype` nearest to value (Bool: value != 0).
  static Number from(DType dtype, double value);
  double as_double() const;
  bool same_bits(const Number& other) const;
};

// The meaning of the row: result of op over operands (arity of them, dtypes as the signature
// wants).
Number evaluate(Op op, const Number* operands);
// The identity of the reduction by op (sum 0, max -inf…). Only where info(op).fold is one.
Number fold_identity(Op op, DType dtype);
// Conversion: float to integer truncates toward zero and saturates, NaN gives 0; to Bool tests !=
// 0.
Number cast(const Number& value, DType dtype);

}  // namespace lathe::scalar
