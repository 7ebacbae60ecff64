// The tables of the core as JSON, so that other languages hold no copy of them.
#include <span>

#include "api/json_reader.h"
#include "api/model_json.h"
#include "base/text.h"
#include "compile/tune.h"
#include "nn/layers.h"
#include "ops/operations.h"
#include "scalar/op.h"

namespace lathe::api {
namespace {

std::string spelled_default(const nn::Parameter& parameter) {
  if (parameter.range == nn::Range::Flag) return parameter.standard != 0 ? "true" : "false";
  if (parameter.range == nn::Range::Seed) return "null";
  if (parameter.range == nn::Range::Word) {
    return json_string(nn::words_of(parameter)[static_cast<size_t>(parameter.standard)]);
  }
  return concat(parameter.standard);
}

// Appends `,"key":[items]`, each item spelled by `spell`.
template <class Range, class Spell>
void append_list(std::string& out, std::string_view key, const Range& range, Spell spell) {
  if (out.size() > 1) out += ',';
  append(out, json_string(key), ":[");
  for (bool first = true; const auto& each : range) {
    if (!first) out += ',';
    out += spell(each);
    first = false;
  }
  out += ']';
}

std::string spelled_row(const nn::Row& row) {
  std::string out =
      concat("{\"name\":", json_string(row.name), ",\"short\":", json_string(row.short_name), ",");
  std::string parameters = "{";
  append_list(parameters, "parameters", row.parameters(), [](const nn::Parameter& parameter) {
    std::string each = concat("{\"name\":", json_string(parameter.name),
                              ",\"default\":", spelled_default(parameter));
    const auto words = nn::words_of(parameter);
    if (!words.empty()) append_list(each, "words", words, json_string);
    return each + '}';
  });
  return out + parameters.substr(1) + '}';
}

std::string_view spelled_type(ops::ParameterType type) {
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
    case ops::ParameterType::Pairs:
      return "pairs";
    case ops::ParameterType::Padding:
      return "padding";
    case ops::ParameterType::DType:
      return "dtype";
  }
  return "";
}

std::string spelled_operation(const ops::Operation& operation) {
  std::string out = concat("{\"name\":", json_string(operation.name), ",");
  std::string parameters = "{";
  append_list(parameters, "parameters", operation.parameters, [](const ops::Parameter& parameter) {
    std::string each = concat("{\"name\":", json_string(parameter.name),
                              ",\"type\":", json_string(spelled_type(parameter.type)));
    if (!parameter.standard.empty()) append(each, ",\"default\":", parameter.standard);
    return each + '}';
  });
  return out + parameters.substr(1) + '}';
}

constexpr std::string_view kDTypes[] = {
#define DTYPE(name_, text_, type_) text_,
#include "scalar/dtypes.def"
};
constexpr scalar::Op kOps[] = {
#define SCALAR_OP(name_, ...) scalar::Op::name_,
#include "scalar/ops.def"
};

// The keys that a layer's options read, as a JSON array.
class OptionKeys {
 public:
  template <class Value>
  void operator()(std::string_view key, Value&) {
    append(keys_, keys_.empty() ? "" : ",", json_string(key));
  }
  std::string json() const { return concat('[', keys_, ']'); }

 private:
  std::string keys_;
};

std::string spelled_layer_options() {
  std::string out;
#define LAYER(class_, ...)                                                       \
  {                                                                              \
    OptionKeys keys;                                                             \
    nn::class_##Options options;                                                 \
    nn::visit_options(options, keys);                                            \
    append(out, out.empty() ? "" : ",", json_string(#class_), ':', keys.json()); \
  }
#include "nn/tables.def"
  return concat('{', out, '}');
}

}  // namespace

std::string describe() {
  std::string out = "{";
  const auto spell_op = [](scalar::Op op) {
    return concat("{\"name\":", json_string(scalar::info(op).text),
                  ",\"arity\":", scalar::info(op).arity, "}");
  };
  append_list(out, "dtypes", kDTypes, json_string);
  append_list(out, "scalarOps", kOps, spell_op);
  append_list(out, "operations", ops::operations(), spelled_operation);
  append_list(out, "activations", nn::activations(), spelled_row);
  append_list(out, "losses", nn::losses(), spelled_row);
  append_list(out, "optimizers", nn::optimizers(), spelled_row);
  append_list(out, "initializers", nn::initializers(), spelled_row);
  append_list(out, "metrics", nn::metrics(), spelled_row);
  append_list(out, "regularizers", nn::regularizers(), spelled_row);
  append_list(out, "constraints", nn::constraints(), spelled_row);
  append_list(out, "layers", nn::layer_classes(), json_string);
  append(out, ",\"layerOptions\":", spelled_layer_options());
  append_list(out, "passes", compile::pass_names(), json_string);
  append_list(out, "scheduleFields", lower::kScheduleFields,
              [](const lower::ScheduleField& field) { return json_string(field.name); });
  return out + '}';
}

}  // namespace lathe::api
