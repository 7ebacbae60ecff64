// Runs the entries of a model with the graph evaluator, states kept between calls.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "graph/evaluate.h"
#include "nn/training.h"

namespace lathe::nn {

using Numbers = std::vector<float>;

class Machine {
 public:
  Machine(const Sequential& model, const TrainingOptions& options)
      : program_(*build_program(model, options)) {
    const std::vector<Variable> all = *variables(model, options);
    for (const Variable& variable : all) {
      states[variable.name] = initial_value(variable, model.seed());
    }
  }

  struct Step {
    float loss, correct;
  };
  Step step(const std::string& entry, const Numbers& x, const Numbers& y, int rows);
  Numbers predict(const std::string& entry, const Numbers& x);
  const graph::Program& program() const { return program_; }

  std::map<std::string, Numbers> states;

 private:
  std::map<std::string, Numbers> run(const std::string& entry,
                                     const std::map<std::string, Numbers>& inputs);

  graph::Program program_;
};

}  // namespace lathe::nn
