// Conversions between types, of scalars and of the lanes of a vector on the stack, as scalar::cast
// defines them: to a type of arithmetic first, then shorter types wrap, or saturate.
#pragma once

#include <vector>

#include "lathe/emit/wasm/constants.h"
#include "lathe/emit/wasm/lanes.h"

namespace lathe::emit_wasm {

// The vector constants that a cast between these types needs, in the order of their use.
std::vector<scalar::Number> constants_of_cast(scalar::DType from, scalar::DType to);

class CastEmitter {
 public:
  // `count`: of lanes.
  CastEmitter(wasm::FunctionBuilder& code, Locals& locals, VectorConstants& constants,
              LaneEmitter& lanes, int count)
      : code_(code), locals_(locals), constants_(constants), lanes_(lanes), count_(count) {}

  void convert_scalar(scalar::DType from, scalar::DType to);
  void convert_vector(scalar::DType from, scalar::DType to);

 private:
  void bound_scalar(scalar::Op op, const scalar::Number& bound);
  void convert_lanes(scalar::DType from, scalar::DType to);

  wasm::FunctionBuilder& code_;
  Locals& locals_;
  VectorConstants& constants_;
  LaneEmitter& lanes_;
  const int count_;
};

}  // namespace lathe::emit_wasm
