// The tables of the core as JSON, from which other languages write theirs; lathe-core.wasm is
// without it.
#include <span>
#include <vector>

#include "lathe/api/json_reader.h"
#include "lathe/api/lathe.h"
#include "lathe/api/model_json.h"
#include "lathe/base/text.h"
#include "lathe/compile/tune.h"
#include "lathe/nn/layers.h"
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

std::string default_json(const nn::Parameter& parameter) {
  if (parameter.range == nn::Range::Flag) return parameter.standard != 0 ? "true" : "false";
  if (parameter.range == nn::Range::Seed) return "null";
  if (parameter.range == nn::Range::Word) {
    return json_string(nn::words_of(parameter)[static_cast<size_t>(parameter.standard)]);
  }
  return concat(parameter.standard);
}

// Appends `,"key":[items]`, each item formatted by `format`.
template <class Range, class Format>
void append_list(std::string& out, std::string_view key, const Range& range, Format format) {
  if (out.size() > 1) out += ',';
  append(out, json_string(key), ":[");
  for (bool first = true; const auto& each : range) {
    if (!first) out += ',';
    out += format(each);
    first = false;
  }
  out += ']';
}

std::string row_json(const nn::Row& row) {
  std::string out =
      concat("{\"name\":", json_string(row.name), ",\"short\":", json_string(row.short_name), ",");
  std::string parameters = "{";
  append_list(parameters, "parameters", row.parameters(), [](const nn::Parameter& parameter) {
    std::string each =
        concat("{\"name\":", json_string(parameter.name), ",\"default\":", default_json(parameter));
    const auto words = nn::words_of(parameter);
    if (!words.empty()) append_list(each, "words", words, json_string);
    return each + '}';
  });
  return out + parameters.substr(1) + '}';
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

std::string operation_json(const ops::Operation& operation) {
  std::string out = concat("{\"name\":", json_string(operation.name), ",");
  std::string parameters = "{";
  append_list(parameters, "parameters", operation.parameters, [](const ops::Parameter& parameter) {
    std::string each = concat("{\"name\":", json_string(parameter.name),
                              ",\"type\":", json_string(type_name(parameter.type)));
    if (!parameter.standard.empty()) append(each, ",\"default\":", parameter.standard);
    return each + '}';
  });
  append(out, parameters.substr(1));
  if (operation.is_formula) append(out, ",\"takes\":\"function\"");
  return out + '}';
}

// Lists every option of a layer: {"name","type","default"}, null where it has none.
class OptionDescriber {
 public:
  void operator()(std::string_view key, int64_t& value) {
    add(key, "integer", value == 0 ? "null" : concat(value));
  }
  void operator()(std::string_view key, int32_t& value) { add(key, "integer", concat(value)); }
  void operator()(std::string_view key, bool& value) { add(key, "flag", value ? "true" : "false"); }
  void operator()(std::string_view key, double& value) { add(key, "number", concat(value)); }
  void operator()(std::string_view key, std::string& value) { add(key, "text", text(value)); }
  void operator()(std::string_view key, graph::Shape& value) {
    add(key, "shape", value.empty() ? "null" : bracketed(value));
  }
  void operator()(std::string_view key, nn::Sizes& value) {
    const auto& sizes = value.values;
    add(key, "sizes",
        sizes.empty()       ? "null"
        : sizes.size() == 1 ? concat(sizes[0])
                            : bracketed(sizes));
  }
  void operator()(std::string_view key, nn::Seed&) { add(key, "number", "null"); }
  void operator()(std::string_view key, nn::LayerPtr&) { add(key, "layer", "null"); }
  void operator()(std::string_view key, std::vector<nn::LayerPtr>&) { add(key, "layers", "null"); }
  void operator()(std::string_view key, nn::Choice& value) { add(key, "choice", text(value.name)); }
  void operator()(std::string_view key, nn::WeightOptions& value) {
    (*this)(concat(key, "Initializer"), value.initializer);
    (*this)(concat(key, "Regularizer"), value.regularizer);
    (*this)(concat(key, "Constraint"), value.constraint);
  }

  std::string json() { return concat('[', fields_, ']'); }

 private:
  static std::string text(const std::string& value) {
    return value.empty() ? "null" : json_string(value);
  }
  void add(std::string_view key, std::string_view type, const std::string& standard) {
    append(fields_, fields_.empty() ? "" : ",", "{\"name\":", json_string(key),
           ",\"type\":", json_string(type), ",\"default\":", standard, '}');
  }

  std::string fields_;
};

template <class Options>
std::string layer_json(std::string_view class_name, std::string_view text, std::string_view doc) {
  Options options;
  OptionDescriber describer;
  nn::visit_options(options, describer);
  return concat("{\"class\":", json_string(class_name), ",\"name\":", json_string(text),
                ",\"doc\":", json_string(doc), ",\"options\":", describer.json(), '}');
}

std::vector<std::string> layers_json() {
  return {
#define LATHE_LAYER(class_, function_, text_, doc_) \
  layer_json<nn::class_##Options>(#class_, text_, doc_),
#include "lathe/nn/tables.def"
  };
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
std::string describe_keras() {
  std::string out = "{";
  append_list(out, "names", kKerasNames, [](const KerasName& each) {
    return concat("{\"table\":", json_string(each.table), ",\"ours\":", json_string(each.ours),
                  ",\"theirs\":", json_string(each.theirs), '}');
  });
  append_list(out, "models", kKerasModels, json_string);
  append_list(out, "metrics", kKerasMetrics, json_string);
  append_list(out, "choices", kKerasChoices, [](const auto& each) {
    return concat('[', json_string(each.first), ',', json_string(each.second), ']');
  });
  append_list(out, "neutral", kKerasNeutral, [](const auto& each) {
    return concat('[', json_string(each.first), ',', each.second, ']');
  });
  return out + '}';
}

}  // namespace

std::string describe() {
  std::string out = "{";
  const auto op_json = [](scalar::Op op) {
    return concat("{\"name\":", json_string(scalar::info(op).text),
                  ",\"arity\":", scalar::info(op).arity,
                  ",\"takes\":", json_string(text(scalar::info(op).signature)), "}");
  };
  append_list(out, "dtypes", kDTypes, [](const DTypeNames& each) {
    return concat("{\"name\":", json_string(each.text), ",\"numpy\":", json_string(each.numpy),
                  ",\"array\":", json_string(each.array), '}');
  });
  append_list(out, "tags", kTags, json_string);
  append_list(out, "scalarOps", kOps, op_json);
  append_list(out, "operations", ops::operations(), operation_json);
  append_list(out, "activations", nn::activations(), row_json);
  append_list(out, "losses", nn::losses(), row_json);
  append_list(out, "optimizers", nn::optimizers(), row_json);
  append_list(out, "initializers", nn::initializers(), row_json);
  append_list(out, "metrics", nn::metrics(), row_json);
  append_list(out, "regularizers", nn::regularizers(), row_json);
  append_list(out, "constraints", nn::constraints(), row_json);
  append_list(out, "layers", layers_json(), [](const std::string& layer) { return layer; });
  append_list(out, "passes", compile::pass_names(), json_string);
  append_list(out, "scheduleFields", lower::cpu::kScheduleFields,
              [](const lower::cpu::ScheduleField& field) { return json_string(field.name); });
  append(out, ",\"keras\":", describe_keras());
  append_list(out, "controlBlock", kControlBlock, [](const ControlConstant& each) {
    return concat("{\"group\":", json_string(each.group), ",\"name\":", json_string(each.name),
                  ",\"value\":", each.value, '}');
  });
  return out + '}';
}

}  // namespace lathe::api

extern "C" const char* lathe_describe() {
  static const std::string kText = lathe::api::describe();
  return kText.c_str();
}
