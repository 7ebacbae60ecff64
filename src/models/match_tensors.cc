#include "lathe/models/match_tensors.h"

#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/nn/training/optimizer.h"

namespace lathe::models {
namespace {

constexpr std::string_view kOptimizer = "optimizer/", kSteps = "iter";

// Whether a weight of the layer, by its name in it, is one of a model that the layer applies at
// every step. Other layers in it have a single weight of a name, or these parts.
bool is_of_model(const Json& layer, std::string_view weight) {
  constexpr std::string_view kParts[] = {"forward_", "backward_", "RNNCell_"};
  const auto has_part = [weight](std::string_view part) { return weight.starts_with(part); };
  return layer.at("class").string() == "TimeDistributed" && weight.contains('/') &&
         std::ranges::none_of(kParts, has_part);
}

std::string without_models(std::string_view name, const Json& layers) {
  const Json* found = nullptr;
  size_t length = 0;
  for (const Json& layer : layers.values()) {
    const std::string path = concat(layer.at("name").string(), '/');
    if (!name.starts_with(path) || path.size() <= length) continue;
    found = &layer;
    length = path.size();
  }
  if (found == nullptr) return std::string(name);
  const std::string_view rest = name.substr(length);
  if (const Json* inner = found->find("layers")) return without_models(rest, *inner);
  return std::string(is_of_model(*found, rest) ? rest : name);
}

std::vector<NamedWeight> named(std::span<const NamedShape> weights,
                               const std::map<std::string, std::string>& names) {
  std::vector<NamedWeight> all;
  for (const NamedShape& each : weights) {
    all.push_back({each.name, names.at(each.name), &each.shape});
  }
  return all;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMaxListed = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxListed); ++i) {
    append(text, i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > kMaxListed) append(text, " and ", names.size() - kMaxListed, " more");
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
std::optional<double> base_of_power(std::string_view state, const nn::Choice& choice) {
  const auto optimizer = nn::find_optimizer(choice);
  if (!optimizer) return std::nullopt;
  const auto parameters = nn::optimizers()[static_cast<size_t>(optimizer->kind)].parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (state == concat(kOptimizer, parameters[i].name, "_power")) return optimizer->parameters[i];
  }
  return std::nullopt;
}

// TensorFlow.js counts on the momentum of RMSProp, second, even where there is none.
std::vector<std::string> slots_of(std::span<const NamedShape> states) {
  std::vector<std::string> slots;
  for (const NamedShape& state : states) {
    const std::string slot(slot_of(state.name).first);
    if (!slot.empty() && std::ranges::find(slots, slot) == slots.end()) slots.push_back(slot);
  }
  if (!slots.empty() && slots[0] == "rms") {
    std::erase(slots, "momentum");
    slots.insert(slots.begin() + 1, "momentum");
  }
  return slots;
}

// PATH/2/SLOT, of the third weight of PATH -> WEIGHT/SLOT.
std::vector<NamedShape> named_slots(std::span<const NamedShape> weights,
                                    std::span<const NamedShape> tensors) {
  std::vector<NamedShape> all(tensors.begin(), tensors.end());
  for (NamedShape& each : all) {
    const size_t slot = each.name.rfind('/');
    if (slot == each.name.npos) continue;
    const auto weight = weight_at(weights, std::string_view(each.name).substr(0, slot));
    if (weight) each.name = concat(weights[*weight].name, each.name.substr(slot));
  }
  return all;
}

// Error: one of the states is missing among the tensors, or of another shape.
Result<std::vector<Match>> slots_by_name(const std::map<std::string, std::string>& names,
                                         std::span<const NamedShape> states,
                                         std::span<const NamedShape> tensors) {
  std::vector<size_t> at;
  std::vector<std::string> names_here, saved;
  for (size_t i = 0; i < states.size(); ++i) {
    const auto [slot, weight] = slot_of(states[i].name);
    if (weight.empty()) continue;
    const auto other = names.find(std::string(weight));
    names_here.push_back(concat(weight, '/', slot));
    saved.push_back(other == names.end() ? names_here.back() : concat(other->second, '/', slot));
    at.push_back(i);
  }
  std::vector<NamedWeight> slots;
  for (size_t i = 0; i < at.size(); ++i)
    slots.push_back({names_here[i], saved[i], &states[at[i]].shape});
  LATHE_ASSIGN_OR_RETURN(const auto found, match_names(slots, tensors, false));
  std::vector<Match> matches;
  for (size_t i = 0; i < at.size(); ++i) {
    const bool fits = found[i] && tensors[*found[i]].shape == *slots[i].shape;
    if (!fits) {
      return fail(concat("the optimizer needs ", saved[i], ' ', bracketed(*slots[i].shape),
                         ", which ",
                         found[i] ? concat("has shape ", bracketed(tensors[*found[i]].shape))
                                  : std::string("is missing")));
    }
    matches.push_back({at[i], *found[i]});
  }
  return matches;
}

// TensorFlow.js reads by position: it numbers names that an earlier model of the page has, too.
// Nothing where the tensors are not those that would be saved.
std::optional<std::vector<Match>> slots_by_order(std::span<const OptimizerTensor> saved,
                                                 std::span<const NamedShape> tensors) {
  std::vector<Match> matches;
  size_t at = 0;
  for (const OptimizerTensor& each : saved) {
    if (each.is_steps) continue;
    if (at < tensors.size() && tensors[at].name == kSteps) ++at;
    if (at == tensors.size() || tensors[at].shape != each.tensor.shape) return std::nullopt;
    if (each.state) matches.push_back({*each.state, at});
    ++at;
  }
  return at == tensors.size() ? std::optional(std::move(matches)) : std::nullopt;
}

}  // namespace

std::map<std::string, std::string> saved_names(const Json& summary) {
  std::map<std::string, std::string> names;
  std::map<std::string, int> uses;
  for (const Json& weight : summary.at("weights").values()) {
    const std::string& names_here = weight.at("name").string();
    std::string name = without_models(names_here, summary.at("layers"));
    uses[name] += 1;
    names[names_here] = std::move(name);
  }
  for (auto& [here, there] : names) {
    if (uses[there] > 1) there = here;
  }
  return names;
}

Result<std::vector<Match>> match_weights(const std::map<std::string, std::string>& names,
                                         std::span<const NamedShape> weights,
                                         std::span<const NamedShape> tensors, bool strict) {
  LATHE_ASSIGN_OR_RETURN(const auto found, match_names(named(weights, names), tensors, strict));
  std::vector<Match> matches;
  std::vector<std::string> missing, left;
  std::vector<bool> is_used(tensors.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const NamedShape& weight = weights[i];
    if (!found[i]) {
      missing.push_back(weight.name);
      continue;
    }
    const NamedShape& tensor = tensors[*found[i]];
    is_used[*found[i]] = true;
    if (tensor.shape != weight.shape) {
      return fail(concat("the tensor ", tensor.name, " has shape ", bracketed(tensor.shape),
                         ", but the model expects ", bracketed(weight.shape)));
    }
    matches.push_back({i, *found[i]});
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!is_used[i]) left.push_back(tensors[i].name);
  }
  if (strict && !missing.empty()) {
    return fail(concat("the model needs ", listed(missing), ", which is not there",
                       left.empty() ? "" : "; unused: ", listed(left)));
  }
  if (strict && !left.empty()) return fail(concat("the model has no weight ", listed(left)));
  return matches;
}

Result<OptimizerMatch> match_optimizer(const std::map<std::string, std::string>& names,
                                       const nn::Choice& optimizer,
                                       std::span<const NamedShape> weights,
                                       std::span<const NamedShape> states,
                                       std::span<const NamedShape> tensors, double steps) {
  if (!(steps >= 0 && steps < 16777216)) return fail("the optimizer's iter is no count of steps");
  OptimizerMatch matches;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].name == nn::kStepCount) {
      matches.numbers.emplace_back(i, steps);
    } else if (const auto base = base_of_power(states[i].name, optimizer)) {
      matches.numbers.emplace_back(i, power_of(*base, steps + 1));
    }
  }
  auto slots = slots_by_name(names, states, named_slots(weights, tensors));
  if (!slots) {
    auto ordered = slots_by_order(optimizer_tensors(names, weights, states), tensors);
    if (!ordered) return std::unexpected(slots.error());
    slots = std::move(*ordered);
  }
  matches.tensors = std::move(*slots);
  return matches;
}

std::vector<OptimizerTensor> optimizer_tensors(const std::map<std::string, std::string>& names,
                                               std::span<const NamedShape> weights,
                                               std::span<const NamedShape> states) {
  std::map<std::string_view, size_t> found;
  for (size_t i = 0; i < states.size(); ++i) found[states[i].name] = i;
  const auto find = [&found](const std::string& name) {
    const auto at = found.find(name);
    return at == found.end() ? std::nullopt : std::optional(at->second);
  };
  const auto steps = find(std::string(nn::kStepCount));
  if (!steps) return {};
  std::vector<OptimizerTensor> tensors = {{{std::string(kSteps), {}}, steps, true}};
  const std::vector<std::string> slots = slots_of(states);
  for (const std::string& slot : slots) {
    for (const NamedShape& weight : weights) {
      // Weights that are not trained have no slots.
      if (!find(concat(kOptimizer, slots[0], '/', weight.name))) continue;
      const auto state = find(concat(kOptimizer, slot, '/', weight.name));
      tensors.push_back({{concat(names.at(weight.name), '/', slot), weight.shape}, state});
    }
  }
  return tensors;
}

}  // namespace lathe::models
