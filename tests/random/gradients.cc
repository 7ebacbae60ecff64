// The gradients of a program in float64, and differences of its loss along random directions.
#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/opt/eliminate_dead_code.h"
#include "subject.h"

namespace lathe::random_tests {

namespace {

constexpr double kStep = 1e-5;
constexpr int kDirections = 2;
// Of the sum of |slope * direction|; what rounding adds comes from the bound of the loss itself.
constexpr double kTolerance = 2e-6;

using Direction = std::map<std::string, std::vector<double>>;

// The loss at a point along the direction.
Bounded loss_at(const graph::Graph& loss, Named inputs, Named states, const Direction& direction,
                double step) {
  for (const auto& [name, moves] : direction) {
    const auto input = inputs.find(name);
    Values& values = input != inputs.end() ? input->second : states.at(name);
    for (size_t i = 0; i < moves.size(); ++i) values.elements[i].value += step * moves[i];
  }
  return expected(loss, inputs, states, kDouble).outputs.at("loss").elements[0];
}

struct Difference {
  double slope, error;
};

Difference difference(const Slopes& slopes, const Named& states, const Direction& direction,
                      double step) {
  const Bounded above = loss_at(slopes.loss, slopes.inputs, states, direction, step);
  const Bounded below = loss_at(slopes.loss, slopes.inputs, states, direction, -step);
  return {(above.value - below.value) / (2 * step), (above.error + below.error) / (2 * step)};
}

struct Along {
  double slope = 0, magnitude = 0, error = 0;
};

Along along(const Named& gradients, const Direction& direction) {
  Along sum;
  for (const auto& [name, moves] : direction) {
    for (size_t i = 0; i < moves.size(); ++i) {
      const Bounded slope = gradients.at(name).elements[i];
      sum.slope += slope.value * moves[i];
      sum.magnitude += std::fabs(slope.value * moves[i]);
      sum.error += slope.error * std::fabs(moves[i]);
    }
  }
  return sum;
}

// What is wrong along a direction, empty where nothing is.
std::string problem_along(const Slopes& slopes, const Named& states, const Direction& direction,
                          SlopeCounts& counts) {
  const Along expected = along(slopes.gradients, direction);
  const Difference wide = difference(slopes, states, direction, kStep);
  const Difference narrow = difference(slopes, states, direction, kStep / 2);
  const double scale = std::max(expected.magnitude, std::fabs(narrow.slope));
  const double tolerance = kTolerance * scale + wide.error + narrow.error + expected.error + 1e-8;
  const double spread = std::fabs(wide.slope - narrow.slope);
  if (!(tolerance < 0.01 * (scale + 1)) || !(spread <= tolerance)) {
    ++counts.skipped;
    return {};
  }
  ++counts.checked;
  const double off = std::fabs(expected.slope - narrow.slope);
  if (off <= 4 * tolerance) return {};
  return concat("gradient ", expected.slope, ", differences ", narrow.slope, " and ", wide.slope,
                ", of a sum of magnitudes ", expected.magnitude);
}

}  // namespace

std::optional<Slopes> slopes_of(const Subject& subject) {
  if (subject.variables.empty()) return std::nullopt;
  // Of a function the entry after `run`, of a model `train`.
  const bool is_function = subject.program.entries[0].name == "run";
  const size_t entry_index = is_function ? 1 : 0;
  const graph::Graph& entry = subject.program.entries[entry_index];
  Slopes slopes{entry, subject.inputs[entry_index], {}};
  std::erase_if(slopes.loss.outputs, [](const graph::Output& each) { return each.name != "loss"; });
  slopes.loss.updates.clear();
  slopes.loss = opt::eliminate_dead_code(std::move(slopes.loss));
  const Outcome outcome = expected(entry, slopes.inputs, subject.states, kDouble);
  for (const std::string& name : subject.variables) {
    if (is_function) {
      slopes.gradients[name] = outcome.outputs.at(concat('d', name));
      continue;
    }
    Values& gradient = slopes.gradients[name] = subject.states.at(name);
    const Values& after = outcome.states.at(name);
    for (size_t i = 0; i < gradient.elements.size(); ++i) {
      gradient.elements[i].value -= after.elements[i].value;
      gradient.elements[i].error = after.elements[i].error;
    }
  }
  return slopes;
}

Status check_slopes(const Slopes& slopes, const Named& states, Rng& rng, SlopeCounts& counts) {
  for (int k = 0; k < kDirections; ++k) {
    Direction direction;
    for (const auto& [name, gradient] : slopes.gradients) {
      std::vector<double>& moves = direction[name];
      for (size_t i = 0; i < gradient.elements.size(); ++i) moves.push_back(rng.number(1));
    }
    std::string problem = problem_along(slopes, states, direction, counts);
    if (problem.empty()) continue;
    // Which of them it is.
    SlopeCounts ignored;
    for (const auto& [name, moves] : direction) {
      const std::string single = problem_along(slopes, states, {{name, moves}}, ignored);
      if (!single.empty()) append(problem, "; along \"", name, "\": ", single);
    }
    return fail(std::move(problem));
  }
  return {};
}

}  // namespace lathe::random_tests
