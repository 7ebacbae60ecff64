// What is tested by one seed: a program, what it is called with, what it must give, and how its
// gradients are compared with differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "draw.h"
#include "oracle.h"

namespace lathe::random_tests {

// A scalar as a function of its inputs and states, and its slopes as the program computes them in
// float64.
struct Slopes {
  graph::Graph loss;  // gives the output "loss"
  Named gradients;    // by the name of the input or state
};

struct Subject {
  std::string name;  // "function_17"
  graph::Program program;
  Named inputs, states;
  std::string text;  // what a person reads of it, beside the graphs
};

// Numbers for every input and state that is missing. F32 lie in [-most, most).
void fill(const graph::Graph& graph, Named& inputs, Named& states, Draw& draw, double most);

// The entry `run`, and `grad` where a result is F32: the gradients "dNAME" of the sum of results
// times the inputs "weights of NAME", by every F32 input, and that "loss".
Result<Subject> function_subject(uint64_t seed, int steps);
// Nothing where the program has no gradients.
std::optional<Slopes> function_slopes(const Subject& subject);

struct SlopeCounts {
  int64_t checked = 0, skipped = 0;  // directions; those skipped have a kink nearby
};

// Slopes along random directions against differences of the loss in float64.
Status check_slopes(const Slopes& slopes, const Named& inputs, const Named& states, Draw& draw,
                    SlopeCounts& counts);

}  // namespace lathe::random_tests
