#include "lathe/models/saved_weights.h"

#include <algorithm>
#include <cmath>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/models/match_tensors.h"
#include "lathe/network/network_json.h"

namespace lathe::models {
namespace {

// How the names of states begin that are no weights.
constexpr std::string_view kStatePrefixes[] = {"optimizer/", "random/", nn::kStatesPrefix};

std::vector<NamedShape> named_shapes(std::span<const NamedArray> arrays) {
  std::vector<NamedShape> shapes;
  for (const NamedArray& each : arrays) shapes.push_back({each.name, each.array.shape});
  return shapes;
}

std::vector<NamedShape> named_shapes(std::span<const nn::Variable> variables) {
  std::vector<NamedShape> shapes;
  for (const nn::Variable& each : variables) shapes.push_back({each.name, each.shape});
  return shapes;
}

// As f32, whatever the type of the numbers.
graph::Array as_floats(const graph::Array& array) {
  if (array.dtype == graph::DType::F32) return array;
  std::vector<float> values(graph::element_count(array.shape));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = scalar::cast(array[static_cast<int64_t>(i)], graph::DType::F32).f;
  }
  return graph::Array::of(array.shape, values);
}

graph::Array scalar_of(float value) { return graph::Array::of({}, std::vector<float>{value}); }

}  // namespace

std::map<std::string, std::string> saved_names(const nn::Model& model) {
  const auto summary = Json::parse(network::summary(model));
  LATHE_CHECK(summary);
  return saved_names(*summary);
}

Status assign_weights(const nn::Model& model, std::span<const NamedArray> arrays, bool strict,
                      nn::States& states) {
  const auto weights = named_shapes(model.weights());
  LATHE_ASSIGN_OR_RETURN(const auto matches,
                         match_weights(saved_names(model), weights, named_shapes(arrays), strict));
  nn::States assigned;
  for (const auto [weight, at] : matches) {
    LATHE_TRY(formats::check_read(arrays[at]));
    graph::Array floats = as_floats(arrays[at].array);
    for (int64_t i = 0; strict && i < graph::element_count(floats.shape); ++i) {
      if (!std::isnan(floats[i].f)) continue;
      return fail(concat("the tensor ", arrays[at].name, " has NaN at ", i));
    }
    assigned[weights[weight].name] = std::move(floats);
  }
  for (auto& [name, array] : assigned) states[name] = std::move(array);
  return {};
}

Status assign_optimizer(const nn::Model& model, const nn::TrainingOptions& training,
                        std::span<const NamedArray> arrays, nn::States& states) {
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  const auto iterations = std::ranges::find(arrays, "iter", &NamedArray::name);
  const bool has_steps =
      iterations != arrays.end() && graph::element_count(iterations->array.shape) > 0;
  const double steps = has_steps ? double{as_floats(iterations->array)[0].f} : 0;
  LATHE_ASSIGN_OR_RETURN(
      const auto matches,
      match_optimizer(saved_names(model), training.optimizer, named_shapes(model.weights()),
                      named_shapes(variables), named_shapes(arrays), steps));
  for (const auto [state, at] : matches.tensors) {
    states[variables[state].name] = as_floats(arrays[at].array);
  }
  for (const auto& [state, number] : matches.numbers) {
    states[variables[state].name] = scalar_of(static_cast<float>(number));
  }
  return {};
}

Status check_names(const nn::Model& model, const nn::States& states) {
  const std::vector<nn::Variable>& weights = model.weights();
  for (const auto& [name, array] : states) {
    const bool is_other_state =
        std::any_of(std::begin(kStatePrefixes), std::end(kStatePrefixes),
                    [&](std::string_view each) { return name.starts_with(each); });
    const auto is_it = [&](const nn::Variable& weight) { return weight.name == name; };
    if (is_other_state || std::any_of(weights.begin(), weights.end(), is_it)) continue;
    return fail(concat("the model has no weight \"", name, '"'));
  }
  return {};
}

Result<std::vector<graph::StateContent>> initial_contents(std::span<const nn::Variable> variables,
                                                          const nn::States& states, uint64_t seed) {
  std::vector<graph::StateContent> contents;
  std::vector<nn::Variable> missing;
  for (const nn::Variable& each : variables) {
    const auto state = states.find(each.name);
    if (state == states.end()) {
      missing.push_back(each);
      continue;
    }
    LATHE_TRY(nn::check_state(each, state->second));
    contents.push_back({each.name, state->second.data});
  }
  for (auto& content : nn::contents_of(nn::initial_states(missing, seed))) {
    contents.push_back(std::move(content));
  }
  return contents;
}

Result<std::vector<NamedArray>> weight_arrays(const nn::Model& model, const nn::States& states) {
  const auto names = saved_names(model);
  std::vector<NamedArray> arrays;
  for (const bool trainable : {true, false}) {
    for (const nn::Variable& weight : model.weights()) {
      if (weight.trainable != trainable) continue;
      const auto state = states.find(weight.name);
      if (state == states.end()) return fail(concat("the states have no \"", weight.name, '"'));
      LATHE_TRY(nn::check_state(weight, state->second));
      arrays.push_back({names.at(weight.name), state->second});
    }
  }
  return arrays;
}

Result<std::vector<NamedArray>> optimizer_arrays(const nn::Model& model,
                                                 const nn::TrainingOptions& training,
                                                 const nn::States& states) {
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  for (const nn::Variable& each : variables) {
    const auto state = states.find(each.name);
    if (state != states.end()) LATHE_TRY(nn::check_state(each, state->second));
  }
  std::vector<NamedShape> shapes = named_shapes(variables);
  std::erase_if(shapes, [&](const NamedShape& each) { return !states.contains(each.name); });
  std::vector<NamedArray> arrays;
  for (OptimizerTensor& each :
       optimizer_tensors(saved_names(model), named_shapes(model.weights()), shapes)) {
    const graph::Array array = each.state
                                   ? states.find(shapes[*each.state].name)->second
                                   : graph::Array::zeros(graph::DType::F32, each.tensor.shape);
    const auto steps = static_cast<int32_t>(each.is_steps ? std::lround(array[0].f) : 0);
    arrays.push_back({std::move(each.tensor.name),
                      each.is_steps ? graph::Array::of({}, std::vector<int32_t>{steps}) : array});
  }
  return arrays;
}

}  // namespace lathe::models
