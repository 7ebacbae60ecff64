// The tables of the core as JSON, from which other languages write theirs; lathe-core.wasm is
// without it.
#include <algorithm>
#include <span>
#include <vector>

#include "lathe/api/lathe.h"
#include "lathe/api/model_json.h"
#include "lathe/base/check.h"
#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/compile/tune.h"
#include "lathe/nn/layer_facts.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/ops/operations.h"
#include "lathe/scalar/op.h"

namespace lathe::api {
namespace {

std::string_view text(scalar::Signature signature) {
  switch (signature) {
    case scalar::Signature::Number:
      return "number";
    case scalar::Signature::Quotient:
      return "quotient";
    case scalar::Signature::Float:
      return "float";
    case scalar::Signature::Function:
      return "function";
    case scalar::Signature::Integer:
      return "integer";
    case scalar::Signature::Shift:
      return "shift";
    case scalar::Signature::Compare:
      return "compare";
    case scalar::Signature::Test:
      return "test";
    case scalar::Signature::Logic:
      return "logic";
    case scalar::Signature::Choose:
      return "choose";
    case scalar::Signature::ToBits:
      return "toBits";
    case scalar::Signature::FromBits:
      return "fromBits";
  }
  return {};
}

void write_default(JsonWriter& json, const nn::Parameter& parameter) {
  json.key("default");
  switch (parameter.range) {
    case nn::Range::Flag:
      json.value(parameter.standard != 0);
      break;
    case nn::Range::Seed:
      json.raw("null");
      break;
    case nn::Range::Word:
      json.value(nn::words_of(parameter)[static_cast<size_t>(parameter.standard)]);
      break;
    default:
      json.value(parameter.standard);
  }
}

void write_rows(JsonWriter& json, std::string_view key, std::span<const nn::Row> rows) {
  json.key(key).begin_array();
  for (const nn::Row& row : rows) {
    json.begin_object().member("name", row.name).member("short", row.short_name);
    json.key("parameters").begin_array();
    for (const nn::Parameter& parameter : row.parameters()) {
      json.begin_object().member("name", parameter.name);
      write_default(json, parameter);
      const auto words = nn::words_of(parameter);
      if (!words.empty()) json.member("words", words);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

std::string_view type_name(ops::ParameterType type) {
  switch (type) {
    case ops::ParameterType::Tensor:
      return "tensor";
    case ops::ParameterType::Tensors:
      return "tensors";
    case ops::ParameterType::Flag:
      return "flag";
    case ops::ParameterType::Number:
      return "number";
    case ops::ParameterType::Integer:
      return "integer";
    case ops::ParameterType::Integers:
      return "integers";
    case ops::ParameterType::IntegerPairs:
      return "pairs";
    case ops::ParameterType::Padding:
      return "padding";
    case ops::ParameterType::DType:
      return "dtype";
  }
  return "";
}

void write_operation(JsonWriter& json, const ops::Operation& operation) {
  json.begin_object().member("name", operation.name).key("parameters").begin_array();
  for (const ops::Parameter& parameter : operation.parameters) {
    json.begin_object().member("name", parameter.name);
    json.member("type", type_name(parameter.type));
    if (!parameter.standard.empty()) json.key("default").raw(parameter.standard);
    json.end_object();
  }
  json.end_array();
  if (operation.is_formula) json.member("signature", "function");
  json.end_object();
}

std::vector<std::string_view> split(std::string_view words) {
  std::vector<std::string_view> found;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    found.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return found;
}

std::string_view name(nn::MaskRule rule) {
  switch (rule) {
    case nn::MaskRule::Unsupported:
      return "";
    case nn::MaskRule::Passed:
      return "passed";
    case nn::MaskRule::And:
      return "and";
    case nn::MaskRule::Concatenated:
      return "concatenated";
    case nn::MaskRule::Dropped:
      return "dropped";
    case nn::MaskRule::Steps:
      return "steps";
    case nn::MaskRule::UnsupportedSteps:
      return "unsupportedSteps";
    case nn::MaskRule::NotZero:
      return "notZero";
    case nn::MaskRule::NotValue:
      return "notValue";
  }
  return "";
}

std::string_view name(nn::Parts parts) {
  switch (parts) {
    case nn::Parts::None:
      return "";
    case nn::Parts::Shared:
      return "shared";
    case nn::Parts::Copied:
      return "copied";
  }
  return "";
}

// The rule of an option in getConfig by its sign in the column CONFIG.
std::string_view config_rule(char sign) {
  switch (sign) {
    case '-':
      return "never";
    case '?':
      return "ifSet";
    case '=':
      return "undefined";
  }
  LATHE_CHECK(sign == '+');
  return "";
}

// Writes the facts that are not neutral, as members.
void write_facts(JsonWriter& json, const nn::LayerFacts& facts) {
  const auto add_number = [&](std::string_view key, int value) {
    if (value != 0) json.member(key, value);
  };
  const auto add_text = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) json.member(key, value);
  };
  add_number("axes", facts.axes);
  add_number("leastRank", facts.least_rank);
  if (facts.result == nn::ResultType::Input) json.member("keepsDType", true);
  add_text("mask", name(facts.mask));
  add_text("parts", name(facts.parts));
  add_text("cell", facts.cell);
  add_number("states", facts.states);
  const auto weights = split(facts.weights);
  if (!weights.empty()) json.member("weights", weights);
  std::vector<std::string_view> besides;
  for (const std::string_view option : split(facts.config)) {
    if (option[0] == '+') besides.push_back(option.substr(1));
  }
  if (!besides.empty()) json.member("besides", besides);
}

// Writes every option of a layer: {"name","type","default"}, null where it has none, and "config"
// if getConfig() treats it by a rule.
class OptionWriter {
 public:
  OptionWriter(JsonWriter& json, std::string_view rules) : json_(json), rules_(split(rules)) {}

  void operator()(std::string_view key, int64_t& value) { add(key, "integer", value, value != 0); }
  void operator()(std::string_view key, int32_t& value) { add(key, "integer", value); }
  void operator()(std::string_view key, bool& value) { add(key, "flag", value); }
  void operator()(std::string_view key, double& value) { add(key, "number", value); }
  void operator()(std::string_view key, std::string& value) {
    add(key, "text", value, !value.empty());
  }
  void operator()(std::string_view key, graph::Shape& value) {
    add(key, "shape", value, !value.empty());
  }
  void operator()(std::string_view key, nn::Sizes& value) {
    const auto& sizes = value.values;
    if (sizes.size() == 1) {
      add(key, "sizes", sizes[0]);
    } else {
      add(key, "sizes", sizes, !sizes.empty());
    }
  }
  void operator()(std::string_view key, nn::Seed&) { add(key, "number", 0, false); }
  void operator()(std::string_view key, nn::LayerPtr&) { add(key, "layer", 0, false); }
  void operator()(std::string_view key, std::vector<nn::LayerPtr>&) {
    add(key, "layers", 0, false);
  }
  void operator()(std::string_view key, nn::Choice& value) {
    add(key, "choice", value.name, !value.name.empty());
  }
  void operator()(std::string_view key, nn::WeightOptions& value) {
    (*this)(concat(key, "Initializer"), value.initializer);
    (*this)(concat(key, "Regularizer"), value.regularizer);
    (*this)(concat(key, "Constraint"), value.constraint);
  }

  // Every rule was that of an option, or of what getConfig() has besides.
  void check_rules() const {
    LATHE_CHECK(std::ranges::all_of(rules_, [](std::string_view each) { return each[0] == '+'; }));
  }

 private:
  template <class T>
  void add(std::string_view key, std::string_view type, const T& standard, bool exists = true) {
    json_.begin_object().member("name", key).member("type", type).key("default");
    exists ? json_.value(standard) : json_.raw("null");
    const auto rule =
        std::ranges::find_if(rules_, [&](std::string_view each) { return each.substr(1) == key; });
    if (rule != rules_.end()) {
      json_.member("config", config_rule((*rule)[0]));
      rules_.erase(rule);
    }
    json_.end_object();
  }

  JsonWriter& json_;
  std::vector<std::string_view> rules_;  // of the options still to come
};

template <class Options>
void write_layer(JsonWriter& json, std::string_view class_name, std::string_view name,
                 std::string_view doc, const nn::LayerFacts& facts) {
  json.begin_object().member("class", class_name).member("name", name).member("doc", doc);
  json.key("options").begin_array();
  Options options;
  OptionWriter writer(json, facts.config);
  nn::visit_options(options, writer);
  writer.check_rules();
  json.end_array();
  write_facts(json, facts);
  json.end_object();
}

// Element types: the core's name, that of NumPy and TensorFlow.js, the typed array.
struct DTypeNames {
  std::string_view text;
  std::string_view numpy;
  std::string_view array;
};
constexpr DTypeNames kDTypes[] = {
#define JS(array_) #array_
#define NUMPY(name_) #name_
#define LATHE_DTYPE(name_, text_, type_, kind_, computed_, wasm_, wgsl_, js_, numpy_, ...) \
  {text_, numpy_, js_},
#include "lathe/scalar/dtypes.def"
#undef NUMPY
#undef JS
};
constexpr std::string_view kTags[] = {
#define TAG(name_, text_) text_,
#include "lathe/api/words.def"
};
struct KerasName {
  std::string_view table, ours, theirs;
};
constexpr KerasName kKerasNames[] = {
#define LATHE_KERAS_NAME(table_, ours_, theirs_) {#table_, ours_, theirs_},
#include "lathe/nn/keras.def"
};
constexpr std::string_view kKerasModels[] = {
#define LATHE_KERAS_MODEL(class_) class_,
#include "lathe/nn/keras.def"
};
constexpr std::string_view kKerasMetrics[] = {
#define LATHE_KERAS_METRIC(name_) name_,
#include "lathe/nn/keras.def"
};
constexpr std::pair<std::string_view, std::string_view> kKerasChoices[] = {
#define LATHE_KERAS_CHOICE(end_, table_) {end_, #table_},
#include "lathe/nn/keras.def"
};
constexpr std::pair<std::string_view, std::string_view> kKerasNeutral[] = {
#define LATHE_KERAS_NEUTRAL(option_, values_) {option_, values_},
#include "lathe/nn/keras.def"
};
struct ControlConstant {
  std::string_view group, name;
  int32_t value;
};
constexpr ControlConstant kControlBlock[] = {
#define LATHE_CONTROL(group_, constant_, name_, value_) {#group_, name_, value_},
#include "lathe/loop/control_block.def"
};
constexpr scalar::Op kOps[] = {
#define LATHE_SCALAR_OP(name_, ...) scalar::Op::name_,
#include "lathe/scalar/ops.def"
};

// What Keras and TensorFlow.js call otherwise.
void write_keras(JsonWriter& json) {
  json.key("keras").begin_object().key("names").begin_array();
  for (const auto& [table, ours, theirs] : kKerasNames) {
    json.begin_object().member("table", table).member("ours", ours).member("theirs", theirs);
    json.end_object();
  }
  json.end_array().member("models", kKerasModels).member("metrics", kKerasMetrics);
  json.key("choices").begin_array();
  for (const auto& [end, table] : kKerasChoices) json.value(std::array{end, table});
  json.end_array().key("neutral").begin_array();
  for (const auto& [option, values] : kKerasNeutral) {
    json.begin_array().value(option).raw(values).end_array();
  }
  json.end_array().end_object();
}

void write_scalars(JsonWriter& json) {
  json.key("dtypes").begin_array();
  for (const auto& [name, numpy, array] : kDTypes) {
    json.begin_object().member("name", name).member("numpy", numpy).member("array", array);
    json.end_object();
  }
  json.end_array().member("tags", kTags).key("scalarOps").begin_array();
  for (const scalar::Op op : kOps) {
    json.begin_object().member("name", scalar::info(op).text);
    json.member("arity", scalar::info(op).arity);
    json.member("signature", text(scalar::info(op).signature)).end_object();
  }
  json.end_array();
}

}  // namespace

std::string describe() {
  JsonWriter json;
  json.begin_object();
  write_scalars(json);
  json.key("operations").begin_array();
  for (const ops::Operation& each : ops::operations()) write_operation(json, each);
  json.end_array();
  write_rows(json, "activations", nn::activations());
  write_rows(json, "losses", nn::losses());
  write_rows(json, "optimizers", nn::optimizers());
  write_rows(json, "initializers", nn::initializers());
  write_rows(json, "metrics", nn::metrics());
  write_rows(json, "regularizers", nn::regularizers());
  write_rows(json, "constraints", nn::constraints());
  json.key("layers").begin_array();
#define AXES(count_) count_
#define EAGER(rank_, type_) rank_, nn::ResultType::type_
#define MASK(rule_) nn::MaskRule::rule_
#define PARTS(kind_) nn::Parts::kind_
#define CELL(class_, states_) class_, states_
#define WEIGHTS(names_) names_
#define CONFIG(options_) options_
#define LATHE_LAYER(class_, function_, text_, axes_, eager_, mask_, parts_, cell_, weights_, \
                    config_, doc_)                                                           \
  write_layer<nn::class_##Options>(json, #class_, text_, doc_,                               \
                                   {axes_, eager_, mask_, parts_, cell_, weights_, config_});
#include "lathe/nn/tables.def"
#undef AXES
#undef EAGER
#undef MASK
#undef PARTS
#undef CELL
#undef WEIGHTS
#undef CONFIG
  json.end_array().member("passes", compile::pass_names()).key("scheduleFields").begin_array();
  for (const lower::cpu::ScheduleField& field : lower::cpu::kScheduleFields) json.value(field.name);
  json.end_array();
  write_keras(json);
  json.key("controlBlock").begin_array();
  for (const auto& [group, name, value] : kControlBlock) {
    json.begin_object().member("group", group).member("name", name).member("value", value);
    json.end_object();
  }
  return json.end_array().end_object().release();
}

}  // namespace lathe::api

extern "C" const char* lathe_describe() {
  static const std::string kText = lathe::api::describe();
  return kText.c_str();
}
