// What is tested by one seed: a program, what it is called with, what it must give, and how its
// gradients are compared with differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "draw.h"
#include "lathe/base/result.h"
#include "oracle.h"

namespace lathe::random_tests {

struct Subject {
  std::string name;  // "function_17"
  std::string text;  // what a person reads of it, beside the graphs
  graph::Program program;
  std::vector<Named> inputs;  // of each entry
  Named states;
  // Inputs or states, by name, whose gradients it computes; see slopes_of.
  std::vector<std::string> variables;
};

// A scalar as a function of its inputs and states, and its slopes as the program computes them in
// float64.
struct Slopes {
  graph::Graph loss;  // gives the output "loss"
  Named inputs;
  Named gradients;  // by variable
};

// The entry `run`, and `grad` where a result is F32: "loss", the sum of results times the inputs
// "weights of NAME", and its gradients "dNAME" by every F32 input.
Result<Subject> function_subject(uint64_t seed, int steps);
// The entries of nn/training.h. With variables, the optimiser takes the gradient off the weights.
Result<Subject> model_subject(uint64_t seed, int steps);

// Nothing where the program has no variables.
std::optional<Slopes> slopes_of(const Subject& subject);

struct SlopeCounts {
  int64_t checked = 0, skipped = 0;  // directions; those skipped have a kink nearby
};

// Slopes along random directions against differences of the loss in float64.
Status check_slopes(const Slopes& slopes, const Named& states, Draw& draw, SlopeCounts& counts);

// Multiply-adds and elements that one call of every entry computes, about.
int64_t work_of(const graph::Program& program);
inline constexpr int64_t kMostWork = 1500000;

}  // namespace lathe::random_tests
