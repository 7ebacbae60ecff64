#include "lathe/models/keras_tensors.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/models/keras_names.h"
#include "lathe/models/match_names.h"

namespace lathe::models {
namespace {

// "lstm_cell", "lstm_cell_1".
bool is_cell(std::string_view part) {
  const size_t end = part.find_last_not_of("0123456789");
  if (end == part.npos) return false;
  const std::string_view name = part.substr(0, end + 1);
  return part.ends_with("_cell") || (end + 1 < part.size() && name.ends_with("_cell_"));
}

// "dense_1_W" of layer dense_1 -> "kernel".
std::string_view without_layer(std::string_view layer, std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
      {"W", "kernel"},
      {"U", "recurrent_kernel"},
      {"b", "bias"},
      {"running_mean", "moving_mean"},
      {"running_std", "moving_variance"}};
  const size_t start = layer.size() + 1;
  if (!name.starts_with(layer) || name.size() <= start || name[start - 1] != '_') return name;
  const std::string_view end = name.substr(start);
  for (const auto& [theirs, ours] : kOldNames) {
    if (end == theirs) return ours;
  }
  return end;
}

std::string join(std::span<const std::string_view> parts) {
  std::string path;
  for (size_t i = 0; i < parts.size(); ++i) append(path, i == 0 ? "" : "/", parts[i]);
  return path;
}

}  // namespace

std::vector<std::string> keras_weights(std::string_view layer, std::span<const std::string> paths) {
  std::vector<std::string> plain, full;
  for (const std::string& path : paths) {
    auto parts = name_parts(path);
    if (parts.size() > 1 && parts[0] == layer) parts.erase(parts.begin());
    if (parts.size() == 1) parts[0] = without_layer(layer, parts[0]);
    full.push_back(concat(layer, '/', join(parts)));
    std::erase_if(parts, is_cell);
    plain.push_back(concat(layer, '/', join(parts)));
  }
  std::vector<std::string> sorted = plain;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end() ? plain : full;
}

KerasOptimizer keras_optimizer(std::span<const std::string> paths,
                               std::span<const std::string> weights, const Json& training) {
  const Json& described = training.at("optimizer_config");
  const bool is_momentum = described.at("class_name").string().ends_with("SGD");
  const Json& config = described.at("config");
  const double rate = config.at("learning_rate").number();
  KerasOptimizer optimizer;
  if (is_momentum && rate == 0) return optimizer;
  for (size_t i = 0; i < paths.size(); ++i) {
    auto parts = name_parts(paths[i]);
    const std::string_view end = parts.back();
    if (end == "iter" || end == "iteration" || end == "iterations") {
      optimizer.steps = i;
      continue;
    }
    parts.erase(parts.begin());
    std::erase_if(parts, is_cell);
    if (parts.empty()) continue;
    const std::span all(parts);
    const std::string before = join(all.first(all.size() - 1)), after = join(all.subspan(1));
    const bool is_first = std::ranges::find(weights, before) != weights.end();
    const std::string& weight = is_first ? before : after;
    if (std::ranges::find(weights, weight) == weights.end()) continue;
    const std::string_view slot = is_first ? parts.back() : parts.front();
    const std::string_view ours = name_of_keras(KerasTable::Slot, slot).value_or(slot);
    KerasSlot& made = optimizer.slots.emplace_back(
        KerasSlot{i, concat(weight, '/', is_momentum ? "momentum" : ours), std::nullopt});
    if (is_momentum) made.divisor = -rate;
  }
  return optimizer;
}

}  // namespace lathe::models
