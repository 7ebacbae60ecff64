#include "lathe/emit/wasm/instruction_selection.h"

#include <array>
#include <string_view>

namespace lathe::emit_wasm {

namespace {

using scalar::DType;
using scalar::Signature;
using wasm::Opcode;

// How the emitter implements an operation for one kind of operands: an opcode, several
// instructions, or not at all.
class Cell {
 public:
  enum class Word : int8_t { NONE, MANUAL };

  constexpr Cell() : code_(kNone) {}
  constexpr Cell(Word word) : code_(word == Word::NONE ? kNone : kManual) {}
  constexpr Cell(Opcode opcode) : code_(static_cast<int32_t>(opcode)) {}

  constexpr bool is_none() const { return code_ == kNone; }
  std::optional<Opcode> opcode() const {
    return code_ < 0 ? std::nullopt : std::optional(static_cast<Opcode>(code_));
  }

 private:
  static constexpr int32_t kNone = -1, kManual = -2;
  int32_t code_;
};

// For operands of one type: on scalars and on the lanes of vectors.
struct Selection {
  Cell scalar, vector;
};
using Selections = std::array<Selection, std::size(scalar::kDTypes)>;

constexpr size_t at(DType dtype) { return static_cast<size_t>(dtype); }

// Pasted from a type and the end of an instruction that WebAssembly does not have: the
// emitter uses several instead. Any other name that is no opcode does not compile.
namespace names {
using enum Opcode;
constexpr auto NONE = Cell::Word::NONE, MANUAL = Cell::Word::MANUAL;
#define MISSING(name_) constexpr auto name_ = MANUAL;
MISSING(f32_relaxed_madd)
MISSING(f64_relaxed_madd)
#define MISSING_SCALARS(type_) \
  MISSING(type_##_max_s)       \
  MISSING(type_##_max_u)       \
  MISSING(type_##_min_s)       \
  MISSING(type_##_min_u)       \
  MISSING(type_##_neg)         \
  MISSING(type_##_abs)         \
  MISSING(type_##_abs_u)
MISSING_SCALARS(i32)
MISSING_SCALARS(i64)
#undef MISSING_SCALARS
MISSING(i32x4_abs_u)
MISSING(i64x2_abs_u)
MISSING(i64x2_max_s)
MISSING(i64x2_max_u)
MISSING(i64x2_min_s)
MISSING(i64x2_min_u)
MISSING(i64x2_lt_u)
MISSING(i64x2_le_u)
MISSING(i64x2_gt_u)
MISSING(i64x2_ge_u)
#undef MISSING
#define WORDS(type_) [[maybe_unused]] constexpr auto type_##_NONE = NONE, type_##_MANUAL = MANUAL;
WORDS(f32)
WORDS(f32x4)
WORDS(f64)
WORDS(f64x2)
WORDS(i32)
WORDS(i32x4)
WORDS(i64)
WORDS(i64x2)
#undef WORDS
// Types of arithmetic by kind, for the columns of floats, signed and unsigned integers.
constexpr Selections arithmetic(Selection f32, Selection f64, Selection i32, Selection i64,
                                Selection u32, Selection u64) {
  Selections result;
  result[at(DType::F32)] = f32;
  result[at(DType::F64)] = f64;
  result[at(DType::I32)] = i32;
  result[at(DType::I64)] = i64;
  result[at(DType::U32)] = u32;
  result[at(DType::U64)] = u64;
  return result;
}

constexpr Selections bits(Cell i32, Cell i64, Cell vector) {
  Selections result =
      arithmetic({}, {}, {i32, vector}, {i64, vector}, {i32, vector}, {i64, vector});
  result[at(DType::Bool)] = {i32, vector};
  return result;
}

constexpr Selections column(Selections selections) { return selections; }
constexpr Selections column() { return {}; }
constexpr Selections column(Cell::Word word) {
  Selections result;
  for (Selection& each : result) each = {word, word};
  return result;
}

constexpr Selections kSelections[] = {
#define ARITHMETIC(float_, signed_, unsigned_)                                   \
  arithmetic({f32_##float_, f32x4_##float_}, {f64_##float_, f64x2_##float_},     \
             {i32_##signed_, i32x4_##signed_}, {i64_##signed_, i64x2_##signed_}, \
             {i32_##unsigned_, i32x4_##unsigned_}, {i64_##unsigned_, i64x2_##unsigned_})
#define BITS(end_, vector_) bits(i32_##end_, i64_##end_, vector_)
#define WASM(...) column(__VA_ARGS__)
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, wgsl_, wasm_)                                                   \
  wasm_,
#include "lathe/scalar/ops.def"
#undef ARITHMETIC
#undef BITS
#undef WASM
};

}  // namespace names

constexpr bool is_empty(const Selections& selections) {
  for (const Selection& each : selections) {
    if (!each.scalar.is_none() || !each.vector.is_none()) return false;
  }
  return true;
}

constexpr bool covers(const Selections& selections, Signature signature) {
  for (const DType dtype : scalar::kDTypes) {
    if (!accepts(signature, dtype) || !is_computed(dtype)) continue;
    const Selection& each = selections[at(dtype)];
    if (each.scalar.is_none() || each.vector.is_none()) return false;
  }
  return true;
}

// Every row has instructions for all operand types of its signature, or none and an expansion.
#define EXPAND(...) #__VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, ...)                                                            \
  static_assert(is_empty(names::kSelections[static_cast<size_t>(scalar::Op::name_)])             \
                    ? std::string_view(expand_) != "NONE"                                        \
                    : covers(names::kSelections[static_cast<size_t>(scalar::Op::name_)],         \
                             Signature::signature_),                                             \
                #name_ " has neither instructions nor an expansion");
#include "lathe/scalar/ops.def"
#undef EXPAND

const Selection& selection(scalar::Op op, DType dtype) {
  return names::kSelections[static_cast<size_t>(op)][at(dtype)];
}

constexpr WasmType kWasmTypes[] = {
#define WASM(value_, vector_, load_, store_)                                                    \
  {                                                                                             \
    wasm::ValType::value_, Opcode::value_##_##load_, Opcode::value_##_##store_,                 \
        Opcode::vector_##_splat, Opcode::vector_##_extract_lane, Opcode::vector_##_replace_lane \
  }
#define LATHE_DTYPE(name_, text_, type_, kind_, computed_, wasm_, ...) wasm_,
#include "lathe/scalar/dtypes.def"
#undef WASM
};

}  // namespace

bool needs_expansion(scalar::Op op) {
  return is_empty(names::kSelections[static_cast<size_t>(op)]);
}

std::optional<Opcode> scalar_opcode(scalar::Op op, DType operand) {
  return selection(op, operand).scalar.opcode();
}

std::optional<Opcode> vector_opcode(scalar::Op op, DType operand) {
  return selection(op, operand).vector.opcode();
}

const WasmType& wasm_type(DType dtype) { return kWasmTypes[at(dtype)]; }

int lane_size(DType dtype) { return scalar::size_of(dtype) == 8 ? 8 : 4; }

}  // namespace lathe::emit_wasm
