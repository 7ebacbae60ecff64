// What TensorFlow.js does with a layer and its options do not tell: the columns of LATHE_LAYER in
// tables.def that only JavaScript reads. A row without one of them does not compile.
#pragma once

#include <cstdint>
#include <string_view>

namespace lathe::nn {

enum class ResultType : uint8_t { Float, Input };
enum class MaskRule : uint8_t {
  Unsupported,
  Passed,
  And,
  Concatenated,
  Dropped,
  Steps,
  UnsupportedSteps,
  NotZero,
  NotValue,
};
enum class Parts : uint8_t { None, Shared, Copied };

struct LayerFacts {
  int axes;
  int least_rank;
  ResultType result;
  MaskRule mask;
  Parts parts;
  std::string_view cell;
  int states;
  std::string_view weights;  // separated by spaces
  std::string_view config;   // the same, each with the sign of its rule
};

}  // namespace lathe::nn
