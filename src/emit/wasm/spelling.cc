#include "lathe/emit/wasm/spelling.h"

#include <array>
#include <string_view>

namespace lathe::emit {

namespace {

using scalar::DType;
using scalar::Signature;
using wasm::Opcode;

// What the emitter has for one kind of operands.
class Cell {
 public:
  enum class Word : int8_t { NONE, OWN };

  constexpr Cell() : code_(kNone) {}
  constexpr Cell(Word word) : code_(word == Word::NONE ? kNone : kOwn) {}
  constexpr Cell(Opcode opcode) : code_(static_cast<int32_t>(opcode)) {}

  constexpr bool is_none() const { return code_ == kNone; }
  std::optional<Opcode> opcode() const {
    return code_ < 0 ? std::nullopt : std::optional(static_cast<Opcode>(code_));
  }

 private:
  static constexpr int32_t kNone = -1, kOwn = -2;
  int32_t code_;
};

// Of one type, on a number and on lanes.
struct Spelling {
  Cell scalar, vector;
};
using Spellings = std::array<Spelling, std::size(scalar::kDTypes)>;

constexpr size_t at(DType dtype) { return static_cast<size_t>(dtype); }

// Pasted from a type and the end of an instruction that WebAssembly does not have for it: the
// emitter has several in its place. No other name but those of opcodes is one.
namespace names {
using enum Opcode;
constexpr auto NONE = Cell::Word::NONE, OWN = Cell::Word::OWN;
#define LACKS(name_) constexpr auto name_ = OWN;
LACKS(f32_relaxed_madd)
LACKS(f64_relaxed_madd)
#define LACKS_SCALARS(type_) \
  LACKS(type_##_max_s)       \
  LACKS(type_##_max_u)       \
  LACKS(type_##_min_s)       \
  LACKS(type_##_min_u)       \
  LACKS(type_##_neg)         \
  LACKS(type_##_abs)         \
  LACKS(type_##_abs_u)
LACKS_SCALARS(i32)
LACKS_SCALARS(i64)
#undef LACKS_SCALARS
LACKS(i32x4_abs_u)
LACKS(i64x2_abs_u)
LACKS(i64x2_max_s)
LACKS(i64x2_max_u)
LACKS(i64x2_min_s)
LACKS(i64x2_min_u)
LACKS(i64x2_lt_u)
LACKS(i64x2_le_u)
LACKS(i64x2_gt_u)
LACKS(i64x2_ge_u)
#undef LACKS
#define WORDS(type_) [[maybe_unused]] constexpr auto type_##_NONE = NONE, type_##_OWN = OWN;
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
constexpr Spellings arithmetic(Spelling f32, Spelling f64, Spelling i32, Spelling i64, Spelling u32,
                               Spelling u64) {
  Spellings result;
  result[at(DType::F32)] = f32;
  result[at(DType::F64)] = f64;
  result[at(DType::I32)] = i32;
  result[at(DType::I64)] = i64;
  result[at(DType::U32)] = u32;
  result[at(DType::U64)] = u64;
  return result;
}

constexpr Spellings bits(Cell i32, Cell i64, Cell vector) {
  Spellings result = arithmetic({}, {}, {i32, vector}, {i64, vector}, {i32, vector}, {i64, vector});
  result[at(DType::Bool)] = {i32, vector};
  return result;
}

constexpr Spellings column(Spellings spellings) { return spellings; }
constexpr Spellings column() { return {}; }
constexpr Spellings column(Cell::Word word) {
  Spellings result;
  for (Spelling& each : result) each = {word, word};
  return result;
}

constexpr Spellings kSpellings[] = {
#define ARITHMETIC(float_, signed_, unsigned_)                                   \
  arithmetic({f32_##float_, f32x4_##float_}, {f64_##float_, f64x2_##float_},     \
             {i32_##signed_, i32x4_##signed_}, {i64_##signed_, i64x2_##signed_}, \
             {i32_##unsigned_, i32x4_##unsigned_}, {i64_##unsigned_, i64x2_##unsigned_})
#define BITS(end_, vector_) bits(i32_##end_, i64_##end_, vector_)
#define WASM(...) column(__VA_ARGS__)
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        spell_, wgsl_, wasm_)                                                    \
  wasm_,
#include "lathe/scalar/ops.def"
#undef ARITHMETIC
#undef BITS
#undef WASM
};

}  // namespace names

constexpr bool is_empty(const Spellings& spellings) {
  for (const Spelling& each : spellings) {
    if (!each.scalar.is_none() || !each.vector.is_none()) return false;
  }
  return true;
}

constexpr bool covers(const Spellings& spellings, Signature signature) {
  for (const DType dtype : scalar::kDTypes) {
    if (!takes(signature, dtype) || !is_computed(dtype)) continue;
    const Spelling& each = spellings[at(dtype)];
    if (each.scalar.is_none() || each.vector.is_none()) return false;
  }
  return true;
}

// Every row has instructions for all that its signature takes, or none and is spelled.
#define SPELL(...) #__VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        spell_, ...)                                                             \
  static_assert(is_empty(names::kSpellings[static_cast<size_t>(scalar::Op::name_)])              \
                    ? std::string_view(spell_) != "NONE"                                         \
                    : covers(names::kSpellings[static_cast<size_t>(scalar::Op::name_)],          \
                             Signature::signature_),                                             \
                #name_ " lacks instructions or a spelling");
#include "lathe/scalar/ops.def"
#undef SPELL

const Spelling& spelling(scalar::Op op, DType dtype) {
  return names::kSpellings[static_cast<size_t>(op)][at(dtype)];
}

constexpr Holding kHoldings[] = {
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

bool lacks(scalar::Op op) { return is_empty(names::kSpellings[static_cast<size_t>(op)]); }

std::optional<Opcode> scalar_opcode(scalar::Op op, DType operand) {
  return spelling(op, operand).scalar.opcode();
}

std::optional<Opcode> vector_opcode(scalar::Op op, DType operand) {
  return spelling(op, operand).vector.opcode();
}

const Holding& holding(DType dtype) { return kHoldings[at(dtype)]; }

int lane_size(DType dtype) { return scalar::size_of(dtype) == 8 ? 8 : 4; }

}  // namespace lathe::emit
