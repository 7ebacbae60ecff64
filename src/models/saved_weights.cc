#include "lathe/models/saved_weights.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lathe/base/text.h"
#include "lathe/nn/layers.h"
#include "lathe/nn/optimizer.h"

namespace lathe::models {
namespace {

constexpr std::string_view kOptimizer = "optimizer/";

// The directions of the bidirectional layers: what their weights begin with here, and with the name
// of the layer within.
void add_directions(const nn::Model& model, const std::string& prefix,
                    std::vector<std::pair<std::string, std::string>>& directions) {
  for (const nn::PlacedLayer& placed : model.layers()) {
    const std::string path = concat(prefix, placed.name, '/');
    if (const nn::Model* inner = placed.layer->model()) add_directions(*inner, path, directions);
    const auto* options = placed.layer->options<nn::BidirectionalOptions>();
    if (options == nullptr || options->layer == nullptr) continue;
    std::string name = options->layer->name();
    if (name.empty()) {
      name = options->layer->class_name();
      std::ranges::transform(name, name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
    }
    for (const char* direction : {"forward", "backward"}) {
      directions.emplace_back(concat(path, direction), concat(path, direction, '_', name));
    }
  }
}

std::string without_models(std::string_view name, const nn::Model& model) {
  for (const nn::PlacedLayer& placed : model.layers()) {
    const nn::Model* inner = placed.layer->model();
    const std::string path = concat(placed.name, '/');
    if (inner != nullptr && name.starts_with(path)) {
      return without_models(name.substr(path.size()), *inner);
    }
  }
  return std::string(name);
}

// Keras ends names with the number of the output.
std::string_view plain_name(std::string_view name) {
  return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
}

using ByName = std::map<std::string_view, const NamedArray*>;

ByName by_name(std::span<const NamedArray> arrays) {
  ByName found;
  for (const NamedArray& array : arrays) found[plain_name(array.name)] = &array;
  return found;
}

// As f32, whatever the type of the numbers.
graph::Array as_floats(const graph::Array& array) {
  if (array.dtype == graph::DType::F32) return array;
  std::vector<float> values(static_cast<size_t>(graph::element_count(array.shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = scalar::cast(array[static_cast<int64_t>(i)], graph::DType::F32).f;
  }
  return graph::Array::of(array.shape, values);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    append(text, i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > kShown) append(text, " and ", names.size() - kShown, " more");
  return text;
}

// optimizer/SLOT/WEIGHT in two; an empty weight if the state is no slot.
std::pair<std::string_view, std::string_view> slot_of(std::string_view state) {
  if (!state.starts_with(kOptimizer)) return {};
  state.remove_prefix(kOptimizer.size());
  const size_t end = state.find('/');
  if (end == state.npos) return {};
  return {state.substr(0, end), state.substr(end + 1)};
}

// As the module computes it, step by step in 32 bits.
float power_of(double base, double exponent) {
  const auto factor = static_cast<float>(base);
  float power = factor;
  for (double step = 1; step < exponent && power > 0 && power < 1; ++step) power *= factor;
  return power;
}

// The parameter that a state optimizer/PARAMETER_power is the power of, or nothing.
std::optional<double> base_of_power(std::string_view state, const nn::TrainingOptions& training) {
  const auto optimizer = nn::find_optimizer(training.optimizer);
  if (!optimizer) return std::nullopt;
  const auto parameters = nn::optimizers()[static_cast<size_t>(optimizer->kind)].parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (state == concat(kOptimizer, parameters[i].name, "_power")) return optimizer->parameters[i];
  }
  return std::nullopt;
}

graph::Array scalar_of(float value) { return graph::Array::of({}, std::vector<float>{value}); }

}  // namespace

std::map<std::string, std::string> saved_names(const nn::Model& model) {
  std::vector<std::pair<std::string, std::string>> directions;
  add_directions(model, "", directions);
  std::map<std::string, std::string> names;
  std::map<std::string, int> uses;
  for (const nn::Variable& weight : model.weights()) {
    std::string name = weight.name;
    for (const auto& [here, there] : directions) {
      if (!name.starts_with(concat(here, '/'))) continue;
      name = concat(there, std::string_view(name).substr(here.size()));
      break;
    }
    name = without_models(name, model);
    uses[name] += 1;
    names[weight.name] = std::move(name);
  }
  for (auto& [here, there] : names) {
    if (uses[there] > 1) there = here;
  }
  return names;
}

Status assign_weights(const nn::Model& model, std::span<const NamedArray> arrays, bool strict,
                      nn::States& states) {
  const auto names = saved_names(model);
  const ByName found = by_name(arrays);
  std::set<const NamedArray*> used;
  std::vector<std::string> missing, left;
  nn::States assigned;
  for (const nn::Variable& weight : model.weights()) {
    auto at = found.find(weight.name);
    if (at == found.end()) at = found.find(names.at(weight.name));
    if (at == found.end()) {
      missing.push_back(weight.name);
      continue;
    }
    const NamedArray& tensor = *at->second;
    used.insert(&tensor);
    if (tensor.array.shape != weight.shape) {
      return fail(concat("the tensor ", tensor.name, " has shape ", bracketed(tensor.array.shape),
                         ", but the model takes ", bracketed(weight.shape)));
    }
    graph::Array floats = as_floats(tensor.array);
    for (int64_t i = 0; strict && i < graph::element_count(floats.shape); ++i) {
      if (!std::isnan(floats[i].f)) continue;
      return fail(concat("the tensor ", tensor.name, " holds NaN at ", i));
    }
    assigned[weight.name] = std::move(floats);
  }
  for (const NamedArray& tensor : arrays) {
    if (!used.contains(&tensor)) left.push_back(tensor.name);
  }
  if (strict && !missing.empty()) {
    return fail(concat("the model needs ", listed(missing), ", which is not there"));
  }
  if (strict && !left.empty()) return fail(concat("the model has no weight ", listed(left)));
  for (auto& [name, array] : assigned) states[name] = std::move(array);
  return {};
}

Status assign_optimizer(const nn::Model& model, const nn::TrainingOptions& training,
                        std::span<const NamedArray> arrays, nn::States& states) {
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  const auto names = saved_names(model);
  const ByName found = by_name(arrays);
  const auto iterations = found.find("iter");
  float steps = 0;
  if (iterations != found.end() && graph::element_count(iterations->second->array.shape) > 0) {
    steps = as_floats(iterations->second->array)[0].f;
  }
  if (!(steps >= 0 && steps < 16777216)) return fail("the optimizer's iter is no count of steps");
  nn::States assigned;
  for (const nn::Variable& state : variables) {
    const auto [slot, weight] = slot_of(state.name);
    if (state.name == nn::kStepCount) {
      assigned[state.name] = scalar_of(steps);
    } else if (const auto base = base_of_power(state.name, training)) {
      assigned[state.name] = scalar_of(power_of(*base, static_cast<double>(steps) + 1));
    } else if (!weight.empty()) {
      const auto saved = names.find(std::string(weight));
      const std::string name =
          concat(saved == names.end() ? weight : std::string_view(saved->second), '/', slot);
      const auto at = found.find(name);
      if (at == found.end() || at->second->array.shape != state.shape) {
        return fail(concat("the optimizer needs ", name, ' ', bracketed(state.shape), ", which ",
                           at == found.end()
                               ? std::string("is missing")
                               : concat("has shape ", bracketed(at->second->array.shape))));
      }
      assigned[state.name] = as_floats(at->second->array);
    }
  }
  for (auto& [name, array] : assigned) states[name] = std::move(array);
  return {};
}

Result<std::vector<NamedArray>> weight_arrays(const nn::Model& model, const nn::States& states) {
  const auto names = saved_names(model);
  std::vector<NamedArray> arrays;
  for (const bool trainable : {true, false}) {
    for (const nn::Variable& weight : model.weights()) {
      if (weight.trainable != trainable) continue;
      const auto state = states.find(weight.name);
      if (state == states.end()) return fail(concat("the states have no \"", weight.name, '"'));
      arrays.push_back({names.at(weight.name), state->second});
    }
  }
  return arrays;
}

Result<std::vector<NamedArray>> optimizer_arrays(const nn::Model& model,
                                                 const nn::TrainingOptions& training,
                                                 const nn::States& states) {
  std::vector<NamedArray> arrays;
  const auto steps = states.find(std::string(nn::kStepCount));
  if (steps == states.end()) return arrays;
  const std::vector<int32_t> count = {static_cast<int32_t>(std::lround(steps->second[0].f))};
  arrays.push_back({"iter", graph::Array::of({}, count)});
  const auto names = saved_names(model);
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  std::vector<std::string> slots;
  for (const nn::Variable& state : variables) {
    const std::string slot(slot_of(state.name).first);
    if (!slot.empty() && std::ranges::find(slots, slot) == slots.end()) slots.push_back(slot);
  }
  // TensorFlow.js counts on the momentum of RMSProp, second, even where there is none.
  const bool has_rms = !slots.empty() && slots[0] == "rms";
  if (has_rms && std::ranges::find(slots, "momentum") == slots.end()) {
    slots.insert(slots.begin() + 1, "momentum");
  }
  for (const std::string& slot : slots) {
    for (const nn::Variable& weight : model.weights()) {
      const auto first = states.find(concat(kOptimizer, slots[0], '/', weight.name));
      if (first == states.end()) continue;
      const auto state = states.find(concat(kOptimizer, slot, '/', weight.name));
      arrays.push_back({concat(names.at(weight.name), '/', slot),
                        state != states.end()
                            ? state->second
                            : graph::Array::zeros(graph::DType::F32, weight.shape)});
    }
  }
  return arrays;
}

}  // namespace lathe::models
