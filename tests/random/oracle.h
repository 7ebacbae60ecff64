// The expected outcome of an entry: every element in float64 with the bound of its error.
// Independent of graph/evaluate, and as slow and obvious.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "bounded.h"
#include "lathe/graph/graph.h"

namespace lathe::random_tests {

using graph::Shape;

struct Values {
  DType dtype = DType::F32;
  Shape shape;
  std::vector<Bounded> elements;  // row-major

  static Values zeros(DType dtype, Shape shape);
};

using Named = std::map<std::string, Values>;

struct Outcome {
  Named outputs;
  Named states;  // after the call
};

// The bytes of a tensor of f32, i32 or bool.
std::vector<std::byte> bytes_of(const Values& values);

// One call of the entry; all inputs and states are required.
Outcome expected(const graph::Graph& graph, const Named& inputs, const Named& states,
                 const Precision& precision);

}  // namespace lathe::random_tests
