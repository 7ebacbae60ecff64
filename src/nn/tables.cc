#include "lathe/nn/tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lathe/base/text.h"

namespace lathe::nn {
namespace {

#define PARAMETERS(...) \
  {                     \
    { __VA_ARGS__ }     \
  }
constexpr Row kActivations[] = {
#define LATHE_ACTIVATION(name_, text_, apply_, ...) {text_, {}, __VA_ARGS__},
#include "lathe/nn/tables.def"
};
constexpr Row kLosses[] = {
#define LATHE_LOSS(name_, text_, short_, form_, ...) {text_, short_, __VA_ARGS__},
#include "lathe/nn/tables.def"
};
constexpr Row kMetrics[] = {
#define LATHE_METRIC(name_, text_, short_, final_, sums_, ...) {text_, short_, __VA_ARGS__},
#include "lathe/nn/tables.def"
};
constexpr Row kInitializers[] = {
#define LATHE_INITIALIZER(name_, text_, law_, ...) {text_, {}, __VA_ARGS__},
#include "lathe/nn/tables.def"
};
constexpr Row kRegularizers[] = {
#define LATHE_REGULARIZER(name_, text_, penalty_, ...) {text_, {}, __VA_ARGS__},
#include "lathe/nn/tables.def"
};
constexpr Row kConstraints[] = {
#define LATHE_CONSTRAINT(name_, text_, project_, ...) {text_, {}, __VA_ARGS__},
#include "lathe/nn/tables.def"
};
constexpr Parameter kOptimizerOptions[] = {
#define LATHE_OPTIMIZER_OPTION(name_, ...) {__VA_ARGS__},
#include "lathe/nn/tables.def"
};

// The row with the options that it does not name.
constexpr Row with_options(Row row) {
  for (const Parameter& option : kOptimizerOptions) {
    size_t at = 0;
    while (!row.slots[at].name.empty() && row.slots[at].name != option.name) ++at;
    if (row.slots[at].name.empty()) row.slots[at] = option;
  }
  return row;
}

constexpr Row kOptimizers[] = {
#define LATHE_OPTIMIZER(name_, text_, slots_, powers_, ...) with_options({text_, {}, __VA_ARGS__}),
#include "lathe/nn/tables.def"
};
#undef PARAMETERS
constexpr std::string_view kLayers[] = {
#define LATHE_LAYER(class_, ...) #class_,
#include "lathe/nn/tables.def"
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
    case Range::Seed:
      return "a finite number";
    case Range::NonNegative:
      return "a finite number, at least 0";
    case Range::Positive:
      return "a finite number above 0";
    case Range::Fraction:
      return "a number from 0 to below 1";
    case Range::Count:
      return "a positive integer";
    case Range::Axis:
      return "an integer";
    case Range::Flag:
      return "true or false";
    case Range::Word:
      return "one of ";
  }
  return {};
}

bool inside(Range range, double value) {
  const float narrow = static_cast<float>(value);
  if (!std::isfinite(value) || !std::isfinite(narrow)) return false;
  switch (range) {
    case Range::Any:
    case Range::Seed:
      return true;
    case Range::NonNegative:
      return value >= 0;
    case Range::Positive:
      return narrow > 0;
    case Range::Fraction:
      return value >= 0 && narrow < 1;
    case Range::Count:
      return value >= 1 && value <= INT32_MAX && value == std::floor(value);
    case Range::Axis:
      return std::fabs(value) <= INT32_MAX && value == std::floor(value);
    case Range::Flag:
      return value == 0 || value == 1;
    case Range::Word:
      return false;
  }
  return false;
}

// The numeric value of a setting; `whose` is the parameter's row in errors.
Result<double> number_of(const std::string& whose, const Parameter& parameter,
                         const Setting& setting) {
  if (parameter.range == Range::Word && !setting.word.empty()) {
    const std::vector<std::string_view> words = words_of(parameter);
    const auto at = std::ranges::find_if(
        words, [&](std::string_view word) { return same_name(word, setting.word); });
    if (at != words.end()) return static_cast<double>(at - words.begin());
    return fail(unknown_name(concat(parameter.name, " of ", whose), setting.word, words));
  }
  if (setting.word.empty() && inside(parameter.range, setting.number)) return setting.number;
  const std::string got =
      setting.word.empty() ? concat(setting.number) : concat('"', setting.word, '"');
  return fail(concat(whose, ": ", parameter.name, " must be ", requirement(parameter.range),
                     parameter.words, ", got ", got));
}

bool is_called(const Row& row, std::string_view name) {
  return same_name(row.name, name) || (!row.short_name.empty() && same_name(row.short_name, name));
}

template <class Kind>
Result<Chosen<Kind>> find(std::string_view what, std::span<const Row> rows, const Choice& choice) {
  const auto row =
      std::ranges::find_if(rows, [&](const Row& each) { return is_called(each, choice.name); });
  if (row == rows.end()) {
    std::vector<std::string_view> names;
    for (const Row& each : rows) names.push_back(each.name);
    return fail(unknown_name(what, choice.name, names));
  }
  Chosen<Kind> chosen{static_cast<Kind>(row - rows.begin()), {}};
  const std::span<const Parameter> parameters = row->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) chosen.parameters[i] = parameters[i].standard;
  for (const auto& [name, setting] : choice.parameters) {
    const auto at = std::ranges::find_if(
        parameters, [&](const Parameter& each) { return same_name(each.name, name); });
    if (at == parameters.end()) {
      std::vector<std::string_view> names;
      for (const Parameter& each : parameters) names.push_back(each.name);
      return fail(unknown_name(concat("parameter of ", what, " ", row->name), name, names));
    }
    LATHE_ASSIGN_OR_RETURN(chosen.parameters[at - parameters.begin()],
                           number_of(concat(what, ' ', row->name), *at, setting));
  }
  return chosen;
}

}  // namespace

Choice::Choice() = default;
Choice::Choice(const char* text) : name(text) {}
Choice::Choice(std::string text, std::vector<std::pair<std::string, Setting>> values)
    : name(std::move(text)), parameters(std::move(values)) {}
Choice::Choice(const Choice&) = default;
Choice::Choice(Choice&&) noexcept = default;
Choice& Choice::operator=(const Choice&) = default;
Choice& Choice::operator=(Choice&&) noexcept = default;
Choice::~Choice() = default;

std::span<const Row> activations() { return kActivations; }
std::span<const Row> losses() { return kLosses; }
std::span<const Row> metrics() { return kMetrics; }
std::span<const Row> optimizers() { return kOptimizers; }
std::span<const Row> initializers() { return kInitializers; }
std::span<const Row> regularizers() { return kRegularizers; }
std::span<const Row> constraints() { return kConstraints; }
std::span<const std::string_view> layer_classes() { return kLayers; }

std::array<float, kMaxParameters> floats(const std::array<double, kMaxParameters>& parameters) {
  std::array<float, kMaxParameters> p;
  for (size_t i = 0; i < p.size(); ++i) p[i] = static_cast<float>(parameters[i]);
  return p;
}

std::vector<std::string_view> words_of(const Parameter& parameter) {
  std::vector<std::string_view> words;
  for (std::string_view rest = parameter.words; !rest.empty();) {
    const size_t end = rest.find('|');
    words.push_back(rest.substr(0, end));
    rest = end == rest.npos ? "" : rest.substr(end + 1);
  }
  return words;
}

bool same_name(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& text) {
    while (text.starts_with('_')) text.remove_prefix(1);
    if (text.empty()) return '\0';
    const char c = text.front();
    text.remove_prefix(1);
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  while (true) {
    const char x = next(a), y = next(b);
    if (x != y) return false;
    if (x == '\0') return true;
  }
}

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

Result<Chosen<RegularizerKind>> find_regularizer(const Choice& choice) {
  return find<RegularizerKind>("regularizer", kRegularizers, choice);
}
Result<Chosen<ConstraintKind>> find_constraint(const Choice& choice) {
  return find<ConstraintKind>("constraint", kConstraints, choice);
}
Result<Chosen<MetricKind>> find_metric(const Choice& choice) {
  return find<MetricKind>("metric", kMetrics, choice);
}

double option_of(const Chosen<OptimizerKind>& optimizer, OptimizerOption option) {
  const auto parameters = kOptimizers[static_cast<size_t>(optimizer.kind)].parameters();
  const auto at = std::ranges::find(parameters, kOptimizerOptions[static_cast<size_t>(option)].name,
                                    &Parameter::name);
  return optimizer.parameters[at - parameters.begin()];
}

std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string_view> names) {
  const std::string_view quoted = name.substr(0, 60);
  std::string message = concat("unknown ", what, " \"", quoted, "\"");
  if (names.empty()) return message + "; it has none";
  std::string_view nearest;
  size_t least = std::max<size_t>(2, quoted.size() / 3) + 1;
  for (const std::string_view each : names) {
    if (const size_t distance = edit_distance(quoted, each); distance < least) {
      least = distance;
      nearest = each;
    }
  }
  if (nearest.empty()) {
    message += "; known: ";
  } else {
    append(message, "; did you mean \"", nearest, "\"? known: ");
  }
  for (bool first = true; const std::string_view each : names) {
    if (!first) message += ", ";
    message += each;
    first = false;
  }
  return message;
}

}  // namespace lathe::nn
