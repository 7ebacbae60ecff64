// For tests of training: runs the entries of a model with the graph evaluator.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/nn/training/training.h"

namespace lathe::nn {

using Numbers = std::vector<float>;

// The value of a result. An error is reported as a failure and aborts the test program.
template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(*result);
}

// Runs the entries of a model's program with the graph evaluator; `states` has the values of its
// states, initially those of the model, and calls update it.
class ModelRunner {
 public:
  ModelRunner(const Model& model, const TrainingOptions& options)
      : program_(must(build_program(model, options))) {
    const std::vector<Variable> all = must(variables(model, options));
    for (const Variable& variable : all) {
      states[variable.name] = initial_value(variable, model.seed());
    }
  }

  // The outputs "loss" and "correct" of an entry that trains or evaluates.
  struct Step {
    float loss, correct;
  };
  Step step(const std::string& entry, const Numbers& x, const Numbers& y, int rows);
  // The outputs of an entry by name. Each of its inputs must be given.
  std::map<std::string, Numbers> run(const std::string& entry,
                                     const std::map<std::string, Numbers>& inputs);
  // The output "y" of an entry whose only input is "x".
  Numbers predict(const std::string& entry, const Numbers& x);
  const graph::Program& program() const { return program_; }

  std::map<std::string, Numbers> states;

 private:
  graph::Program program_;
};

}  // namespace lathe::nn
