#include "emit/wasm/spelling.h"

#include <string_view>

namespace lathe::emit {

namespace {

using scalar::DType;
using scalar::Signature;

enum class Word : int8_t { NONE, OWN };

// What the emitter has for one kind of operands.
class Cell {
 public:
  constexpr Cell(Word word = Word::NONE) : code_(word == Word::NONE ? kNone : kOwn) {}
  constexpr Cell(wasm::Opcode opcode) : code_(static_cast<int32_t>(opcode)) {}

  constexpr bool is_none() const { return code_ == kNone; }
  std::optional<wasm::Opcode> opcode() const {
    return code_ < 0 ? std::nullopt : std::optional(static_cast<wasm::Opcode>(code_));
  }

 private:
  static constexpr int32_t kNone = -1, kOwn = -2;
  int32_t code_;
};

struct Spelling {
  Cell f32, f32x4, i32, i32x4;

  constexpr bool covers(Signature signature) const {
    const bool floats = takes(signature, DType::F32);
    const bool others = takes(signature, DType::I32) || takes(signature, DType::Bool);
    return (!floats || !(f32.is_none() || f32x4.is_none())) &&
           (!others || !(i32.is_none() || i32x4.is_none()));
  }
  constexpr bool is_empty() const {
    return f32.is_none() && f32x4.is_none() && i32.is_none() && i32x4.is_none();
  }
};

constexpr Spelling kSpellings[] = {
#define WASM(...) \
  { __VA_ARGS__ }
#define SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, spell_, \
                  wgsl_, wasm_)                                                                    \
  []() -> Spelling {                                                                               \
    using enum wasm::Opcode;                                                                       \
    using enum Word;                                                                               \
    return wasm_;                                                                                  \
  }(),
#include "scalar/ops.def"
#undef WASM
};

// Every row has instructions for all that its signature takes, or none and is spelled.
#define SPELL(...) #__VA_ARGS__
#define SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, spell_, \
                  ...)                                                                             \
  static_assert(                                                                                   \
      kSpellings[static_cast<size_t>(scalar::Op::name_)].is_empty()                                \
          ? std::string_view(spell_) != "NONE"                                                     \
          : kSpellings[static_cast<size_t>(scalar::Op::name_)].covers(Signature::signature_),      \
      #name_ " lacks instructions or a spelling");
#include "scalar/ops.def"
#undef SPELL

const Spelling& spelling(scalar::Op op) { return kSpellings[static_cast<size_t>(op)]; }

}  // namespace

bool lacks(scalar::Op op) { return spelling(op).is_empty(); }

std::optional<wasm::Opcode> scalar_opcode(scalar::Op op, DType operand) {
  return operand == DType::F32 ? spelling(op).f32.opcode() : spelling(op).i32.opcode();
}

std::optional<wasm::Opcode> vector_opcode(scalar::Op op, DType operand) {
  return operand == DType::F32 ? spelling(op).f32x4.opcode() : spelling(op).i32x4.opcode();
}

}  // namespace lathe::emit
