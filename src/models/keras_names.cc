#include "lathe/models/keras_names.h"

#include <algorithm>
#include <map>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/nn/layers/layers.h"

namespace lathe::models {
namespace {

struct KerasName {
  KerasTable table;
  std::string_view ours, theirs;
};
constexpr KerasName kNames[] = {
#define LATHE_KERAS_NAME(table_, ours_, theirs_) {KerasTable::table_, ours_, theirs_},
#include "lathe/nn/keras.def"
};
constexpr std::string_view kModels[] = {
#define LATHE_KERAS_MODEL(class_) class_,
#include "lathe/nn/keras.def"
};
constexpr std::string_view kMetrics[] = {
#define LATHE_KERAS_METRIC(name_) name_,
#include "lathe/nn/keras.def"
};

constexpr KerasClass kClasses[] = {
#define LATHE_KERAS_CLASS(theirs_, ours_, options_, is_left_out_) \
  {theirs_, ours_, options_, is_left_out_},
#include "lathe/nn/keras.def"
};

struct Choice {
  std::string_view end;
  RowTable (*rows)();
};
constexpr Choice kChoices[] = {
#define LATHE_KERAS_CHOICE(end_, table_) {end_, nn::table_},
#include "lathe/nn/keras.def"
};

struct Neutral {
  std::string_view option, values;
};
constexpr Neutral kNeutral[] = {
#define LATHE_KERAS_NEUTRAL(option_, values_) {option_, values_},
#include "lathe/nn/keras.def"
};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

// Writes down the options of a layer class.
class OptionLister {
 public:
  template <class T>
  void operator()(std::string_view key, T&) {
    add(key);
  }
  void operator()(std::string_view key, bool&) { add(key, true); }
  void operator()(std::string_view key, nn::WeightOptions&) {
    for (const char* end : {"Initializer", "Regularizer", "Constraint"}) add(concat(key, end));
  }

  std::vector<LayerOption> options() { return std::move(options_); }

 private:
  void add(std::string_view key, bool is_flag = false) {
    options_.push_back({std::string(key), is_flag});
  }

  std::vector<LayerOption> options_;
};

template <class Options>
std::vector<LayerOption> list_options() {
  Options options;
  OptionLister lister;
  nn::visit_options(options, lister);
  return lister.options();
}

bool equal(const Json& a, const Json& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) return a.string() == b.string();
  return !a.is_array() && !a.is_object() && a.number() == b.number();
}

}  // namespace

std::string to_camel_case(std::string_view name) {
  if (name.size() <= 1) return std::string(name);
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '_') {
      out += name[i];
      continue;
    }
    while (i < name.size() && name[i] == '_') ++i;
    if (i < name.size()) out += upper(name[i]);
  }
  return out;
}

std::string to_snake_case(std::string_view name) {
  // An underscore goes before an upper-case letter that begins a word: lower-case letters or digits
  // follow it, or a lower-case letter precedes it.
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool begins =
        i > 0 && is_upper(name[i]) && name[i - 1] != '_' &&
        ((i + 1 < name.size() && (is_lower(name[i + 1]) || is_digit(name[i + 1]))) ||
         is_lower(name[i - 1]));
    if (begins) out += '_';
    out += to_lower(name[i]);
  }
  return out;
}

std::optional<std::string_view> keras_name(KerasTable table, std::string_view ours) {
  for (const KerasName& each : kNames) {
    if (each.table == table && each.ours == ours) return each.theirs;
  }
  return std::nullopt;
}

std::optional<std::string_view> name_of_keras(KerasTable table, std::string_view theirs) {
  for (const KerasName& each : kNames) {
    if (each.table == table && each.theirs == theirs) return each.ours;
  }
  return std::nullopt;
}

bool is_model_class(std::string_view class_name) {
  return std::ranges::find(kModels, class_name) != std::end(kModels);
}

std::optional<std::string_view> shared_metric(std::string_view name) {
  const nn::Row* loss = find_row(nn::losses(), name);
  for (const std::string_view each : kMetrics) {
    if (nn::same_name(each, name)) return each;
    if (loss != nullptr && each == loss->short_name) return each;
  }
  return std::nullopt;
}

const nn::Row* find_row(RowTable rows, std::string_view name) {
  const auto found = std::ranges::find_if(
      rows, [name](const nn::Row& row) { return nn::same_name(row.name, name); });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<std::string_view> find_any_name(RowTable rows, std::string_view name) {
  for (const nn::Row& row : rows) {
    if (nn::same_name(row.name, name)) return row.name;
    if (!row.short_name.empty() && nn::same_name(row.short_name, name)) return row.short_name;
  }
  return std::nullopt;
}

std::optional<RowTable> table_of(std::string_view option) {
  std::string plain(option);
  std::ranges::transform(plain, plain.begin(), to_lower);
  for (const Choice& choice : kChoices) {
    if (plain.ends_with(choice.end)) return choice.rows();
  }
  return std::nullopt;
}

bool is_activation_table(RowTable rows) { return rows.data() == nn::activations().data(); }

bool is_neutral(std::string_view option, const Json& setting) {
  // Keras 2.4 and later have a policy instead of a type.
  const Json* policy = option == "dtype" ? setting.find("config") : nullptr;
  const Json* named = policy == nullptr ? nullptr : policy->find("name");
  const Json& value =
      policy != nullptr && policy->is_object() && named != nullptr ? *named : setting;
  if (value.is_boolean() && !value.boolean()) return true;
  if (value.is_array() && value.values().empty()) return true;
  const auto row = std::ranges::find(kNeutral, option, &Neutral::option);
  if (row == std::end(kNeutral)) return false;
  const auto allowed = Json::parse(row->values);
  LATHE_CHECK(allowed);
  if (!allowed->is_array()) return true;
  const auto is_allowed = [&](const Json& each) {
    return std::ranges::any_of(allowed->values(),
                               [&](const Json& other) { return equal(each, other); });
  };
  return value.is_array() ? std::ranges::all_of(value.values(), is_allowed) : is_allowed(value);
}

const KerasClass* find_keras_class(std::string_view theirs) {
  const auto found = std::ranges::find(kClasses, theirs, &KerasClass::theirs);
  return found == std::end(kClasses) ? nullptr : found;
}

std::string shortened(const Json& json) {
  constexpr size_t kMaxLength = 80;
  std::string text = json.dump();
  if (text.size() <= kMaxLength) return text;
  size_t end = kMaxLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

const std::vector<LayerOption>* options_of_class(std::string_view class_name) {
  static const std::map<std::string_view, std::vector<LayerOption>> kOptions = {
#define LATHE_LAYER(class_, ...) {#class_, list_options<nn::class_##Options>()},
#include "lathe/nn/tables.def"
  };
  const auto found = kOptions.find(class_name);
  return found == kOptions.end() ? nullptr : &found->second;
}

}  // namespace lathe::models
