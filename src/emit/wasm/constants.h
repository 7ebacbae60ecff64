// Constants as instructions. Vectors that a loop uses can be hoisted into locals before it.
#pragma once

#include <cstdint>
#include <map>

#include "lathe/emit/wasm/locals.h"
#include "lathe/loop/loop.h"

namespace lathe::emit_wasm {

// The number in all lanes. Integers shorter than a lane fill it, a true Bool sets all bits.
wasm::V128 vector_of(const scalar::Number& number);
// Whether it is a constant whose vector has no bit set.
bool is_zero(const loop::Expr& expr);
// A vector of i32: lane i contains i * step, its difference from the index in lane 0.
wasm::V128 steps_of_lanes(int64_t step);

void push_scalar(wasm::FunctionBuilder& code, const scalar::Number& number);

class VectorConstants {
 public:
  VectorConstants(wasm::FunctionBuilder& code, Locals& locals) : code_(code), locals_(locals) {}

  void push(const scalar::Number& number) { push(vector_of(number)); }
  void push(const wasm::V128& bytes);
  // Registers are initialized with a zero that engines do not see as a constant: SpiderMonkey would
  // allocate a separate register for that constant, across the following loops, for zeros after
  // them.
  void push_computed_zero();

  // Stores the vector in a local, from which it is read until release_hoisted.
  void hoist(const wasm::V128& bytes);
  void release_hoisted();

 private:
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  std::map<wasm::V128, uint32_t> hoisted_;  // local of each vector
};

}  // namespace lathe::emit_wasm
