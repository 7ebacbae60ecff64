#include "emit/wasm/spelling.h"

namespace lathe::emit {

namespace {

struct Spelling {
  std::optional<wasm::Opcode> f32, f32x4, i32, i32x4;
};

const Spelling& spelling(scalar::Op op) {
  using enum wasm::Opcode;
  constexpr std::nullopt_t NONE = std::nullopt;
  static const Spelling kSpellings[] = {
#define WASM(...) \
  { __VA_ARGS__ }
#define SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, wgsl_, glsl_, wasm_) wasm_,
#include "scalar/ops.def"
#undef WASM
  };
  return kSpellings[static_cast<size_t>(op)];
}

}  // namespace

std::optional<wasm::Opcode> scalar_opcode(scalar::Op op, scalar::DType operand) {
  return operand == scalar::DType::F32 ? spelling(op).f32 : spelling(op).i32;
}

std::optional<wasm::Opcode> vector_opcode(scalar::Op op, scalar::DType operand) {
  return operand == scalar::DType::F32 ? spelling(op).f32x4 : spelling(op).i32x4;
}

}  // namespace lathe::emit
