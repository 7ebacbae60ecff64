// A random model as the entries train, evaluate, predict and predict_1.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/nn/initializer.h"
#include "models.h"
#include "subject.h"

namespace lathe::random_tests {

namespace {

using graph::Graph;

// Initial weights of the model with small offsets, so that biases matter.
void random_states(const RandomModel& random, const std::vector<nn::Variable>& variables, Rng& rng,
                   Named& states) {
  for (const nn::Variable& variable : variables) {
    Values values = Values::zeros(DType::F32, variable.shape);
    const std::vector<float> start = nn::initial_value(variable, random.model.seed());
    const bool is_weight = variable.trainable || variable.name.ends_with("moving_mean");
    for (size_t i = 0; i < start.size(); ++i) {
      values.elements[i].value = static_cast<float>(start[i] + (is_weight ? rng.number(0.2) : 0));
    }
    states[variable.name] = std::move(values);
  }
}

// Inputs of the entries with restricted values.
void random_inputs(const RandomModel& random, const Graph& entry, Rng& rng, Named& inputs) {
  for (const graph::Node& node : entry.nodes) {
    if (node.kind != graph::Kind::Input) continue;
    Values values = Values::zeros(node.dtype, node.shape);
    const bool is_data = node.name == "x" || node.name.starts_with("x/");
    if (node.name == "rows") {
      const nn::BatchSizes& sizes = random.options.batch;
      const int64_t batch = entry.name == "train" ? sizes.train : sizes.evaluate;
      values.elements[0].value = static_cast<double>(rng.chance(70) ? batch : rng.from(1, batch));
    } else if (is_data && random.indices > 0) {
      for (Bounded& each : values.elements) {
        each.value = static_cast<double>(rng.below(random.indices));
      }
    } else if (is_data && random.masks) {
      const auto width = static_cast<size_t>(node.shape.back());
      for (size_t i = 0; i < values.elements.size(); i += width) {
        const bool is_left_out = rng.chance(30);
        for (size_t k = 0; k < width && !is_left_out; ++k) {
          values.elements[i + k].value = rng.number(1);
        }
      }
    } else if (node.name.starts_with("y") && node.dtype == DType::I32) {
      for (Bounded& each : values.elements) {
        each.value = static_cast<double>(rng.below(random.classes));
      }
    } else if (!is_data && node.dtype == DType::F32) {
      // Labels and weights of rows.
      for (Bounded& each : values.elements) {
        each.value = static_cast<float>(0.05 + 0.9 * rng.unit());
      }
    } else {
      for (Bounded& each : values.elements) each.value = rng.number(1.5);
    }
    inputs[node.name] = std::move(values);
  }
}

Result<RandomModel> affordable_model(uint64_t seed, int steps) {
  constexpr uint64_t kNext = 1ull << 40;
  for (;; seed += kNext) {
    const RandomModel complete = random_model(seed);
    LATHE_ASSIGN_OR_RETURN(const graph::Program program,
                           nn::build_program(complete.model, complete.options));
    if (work_of(program) <= kMaxWork) return random_model(seed, steps);
  }
}

}  // namespace

Result<Subject> model_subject(uint64_t seed, int steps) {
  LATHE_ASSIGN_OR_RETURN(const RandomModel random, affordable_model(seed, steps));
  Subject subject{concat("model_", seed), {}, {}, {}, {}, {}};
  append(subject.text, bracketed(random.model.input_shape()));
  for (const std::string& layer : random.layers) append(subject.text, ' ', layer);
  append(subject.text, ", loss ", random.options.loss[0].name, ", optimizer ",
         random.options.optimizer.name);
  LATHE_ASSIGN_OR_RETURN(subject.program, nn::build_program(random.model, random.options));
  LATHE_ASSIGN_OR_RETURN(const std::vector<nn::Variable> variables,
                         nn::variables(random.model, random.options));
  Rng rng(seed ^ 0xda7a);
  random_states(random, variables, rng, subject.states);
  for (const Graph& entry : subject.program.entries) {
    for (const graph::Node& node : entry.nodes) {
      if (node.kind != graph::Kind::State) continue;
      subject.states.try_emplace(node.name, Values::zeros(node.dtype, node.shape));
    }
    random_inputs(random, entry, rng, subject.inputs.emplace_back());
  }
  for (const nn::Variable& variable : variables) {
    if (random.has_slopes && variable.trainable) subject.variables.push_back(variable.name);
  }
  return subject;
}

}  // namespace lathe::random_tests
