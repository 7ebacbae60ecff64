#include "nn/tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace lathe::nn {
namespace {

#define PARAMETERS(...) \
  {                     \
    { __VA_ARGS__ }     \
  }
constexpr Row kActivations[] = {
#define ACTIVATION(name_, text_, apply_, ...) {text_, __VA_ARGS__},
#include "nn/tables.def"
};
constexpr Row kLosses[] = {
#define LOSS(name_, text_, ...) {text_, {}},
#include "nn/tables.def"
};
constexpr Row kOptimizers[] = {
#define OPTIMIZER(name_, text_, slots_, powers_, ...) {text_, __VA_ARGS__},
#include "nn/tables.def"
};
constexpr Row kInitializers[] = {
#define INITIALIZER(name_, text_, law_, ...) {text_, __VA_ARGS__},
#include "nn/tables.def"
};
#undef PARAMETERS
constexpr std::string_view kLayers[] = {
#define LAYER(class_, function_) #class_,
#include "nn/tables.def"
};

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, change});
    }
  }
  return row.back();
}

std::string_view requirement(Range range) {
  switch (range) {
    case Range::Any:
      return "a finite number";
    case Range::NonNegative:
      return "a finite number, at least 0";
    case Range::Positive:
      return "a finite number above 0";
    case Range::Fraction:
      return "a number from 0 to below 1";
    case Range::Flag:
      return "true or false";
  }
  return {};
}

bool inside(Range range, double value) {
  const float narrow = static_cast<float>(value);
  if (!std::isfinite(value) || !std::isfinite(narrow)) return false;
  switch (range) {
    case Range::Any:
      return true;
    case Range::NonNegative:
      return value >= 0;
    case Range::Positive:
      return narrow > 0;
    case Range::Fraction:
      return value >= 0 && narrow < 1;
    case Range::Flag:
      return value == 0 || value == 1;
  }
  return false;
}

template <class Kind>
Result<Chosen<Kind>> find(std::string_view what, std::span<const Row> rows, const Choice& choice) {
  const auto row = std::ranges::find(rows, std::string_view(choice.name), &Row::name);
  if (row == rows.end()) {
    std::vector<std::string_view> known;
    for (const Row& each : rows) known.push_back(each.name);
    return fail(unknown_name(what, choice.name, known));
  }
  Chosen<Kind> chosen{static_cast<Kind>(row - rows.begin()), {}};
  const std::span<const Parameter> parameters = row->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) chosen.parameters[i] = parameters[i].standard;
  for (const auto& [name, value] : choice.parameters) {
    const auto at = std::ranges::find(parameters, std::string_view(name), &Parameter::name);
    if (at == parameters.end()) {
      std::vector<std::string_view> known;
      for (const Parameter& each : parameters) known.push_back(each.name);
      return fail(unknown_name(concat("parameter of ", what, " ", row->name), name, known));
    }
    if (!inside(at->range, value)) {
      return fail(concat(what, " ", row->name, ": ", name, " must be ", requirement(at->range),
                         ", got ", value));
    }
    chosen.parameters[at - parameters.begin()] = value;
  }
  return chosen;
}

}  // namespace

std::span<const Row> activations() { return kActivations; }
std::span<const Row> losses() { return kLosses; }
std::span<const Row> optimizers() { return kOptimizers; }
std::span<const Row> initializers() { return kInitializers; }
std::span<const std::string_view> layer_classes() { return kLayers; }

Result<Chosen<ActivationKind>> find_activation(const Choice& choice) {
  return find<ActivationKind>("activation", kActivations, choice);
}
Result<Chosen<LossKind>> find_loss(const Choice& choice) {
  return find<LossKind>("loss", kLosses, choice);
}
Result<Chosen<OptimizerKind>> find_optimizer(const Choice& choice) {
  return find<OptimizerKind>("optimizer", kOptimizers, choice);
}
Result<Chosen<InitializerKind>> find_initializer(const Choice& choice) {
  return find<InitializerKind>("initializer", kInitializers, choice);
}

std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string_view> known) {
  const std::string_view shown = name.substr(0, 60);
  std::string message = concat("unknown ", what, " \"", shown, "\"");
  if (known.empty()) return message + "; it has none";
  std::string_view nearest;
  size_t least = std::max<size_t>(2, shown.size() / 3) + 1;
  for (const std::string_view each : known) {
    if (const size_t distance = edit_distance(shown, each); distance < least) {
      least = distance;
      nearest = each;
    }
  }
  if (nearest.empty()) {
    message += "; known: ";
  } else {
    append(message, "; did you mean \"", nearest, "\"? known: ");
  }
  for (bool first = true; const std::string_view each : known) {
    if (!first) message += ", ";
    message += each;
    first = false;
  }
  return message;
}

}  // namespace lathe::nn
