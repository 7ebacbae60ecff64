// The reference evaluator: slow and obvious, the oracle of every other way to run a graph.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

struct Array {
  DType dtype = DType::F32;
  Shape shape;
  std::vector<std::byte> data;  // every element, row-major, little-endian

  scalar::Number operator[](int64_t index) const;
  static Array of(Shape shape, std::span<const float> values);
  static Array of(Shape shape, std::span<const int32_t> values);
  static Array zeros(DType dtype, Shape shape);
};

using Outputs = std::map<std::string, Array>;

// The array in the type, to which its numbers are rounded.
Array stored(Array array, DType dtype);

// One call of the entry point. Arithmetic is that of the types, of float16 and bfloat16 that of
// float32: outputs, updates and casts that are not loose round to them. Sums of floats gather in
// double.
// All inputs are required; a missing state is initialized to zeros and added to `states`.
Result<Outputs> evaluate(const Graph& graph, const std::map<std::string, Array>& inputs,
                         std::map<std::string, Array>& states);

// The value of one node that is no Input, State, Loop or Item, computed from its operands. float16
// and bfloat16 are arrays of F32.
Array evaluate_node(const Node& node, std::span<const Array* const> operands);

}  // namespace lathe::graph
