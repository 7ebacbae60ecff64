// The subject of one seed: a program, its arguments, its expected outcome, and how its
// gradients are compared with differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "oracle.h"
#include "rng.h"

namespace lathe::random_tests {

struct Subject {
  std::string name;  // "function_17"
  std::string text;  // description for people, in addition to the graphs
  graph::Program program;
  std::vector<Named> inputs;  // of each entry
  Named states;
  // Inputs or states, by name, whose gradients it computes; see slopes_of.
  std::vector<std::string> variables;
};

// A scalar as a function of its inputs and states, and its slopes as the program computes them in
// float64.
struct Slopes {
  graph::Graph loss;  // has the output "loss"
  Named inputs;
  Named gradients;  // by variable
};

// The entry `run`, and `grad` where a result is F32: "loss", the sum of results times the inputs
// "weights of NAME", and its gradients "dNAME" by every F32 input.
Result<Subject> function_subject(uint64_t seed, int steps);
// The entries of nn/training/training.h. With variables, the optimizer subtracts the gradient from
// the weights.
Result<Subject> model_subject(uint64_t seed, int steps);

// Nothing where the program has no variables.
std::optional<Slopes> slopes_of(const Subject& subject);

struct SlopeCounts {
  int64_t checked = 0, skipped = 0;  // directions; those skipped have a kink nearby
};

// Slopes along random directions against differences of the loss in float64.
Status check_slopes(const Slopes& slopes, const Named& states, Rng& rng, SlopeCounts& counts);

// Multiply-adds and elements that one call of every entry computes, about.
int64_t work_of(const graph::Program& program);
inline constexpr int64_t kMaxWork = 1500000;

}  // namespace lathe::random_tests
