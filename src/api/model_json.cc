#include "api/model_json.h"

#include <algorithm>

#include "api/json_reader.h"
#include "api/schedule_json.h"
#include "base/text.h"
#include "nn/layers.h"

namespace lathe::api {
namespace {

template <class Options>
Result<Options> parse_config(const Json* json, const std::string& path) {
  Options options;
  if (json == nullptr) return options;
  ObjectReader reader(*json, path);
  nn::visit_options(options, reader);
  TRY(reader.finish());
  return options;
}

Result<nn::LayerPtr> parse_layer(const Json& json, const std::string& path) {
  ObjectReader reader(json, path);
  std::string class_name;
  reader.require("class");
  reader("class", class_name);
  const Json* config = reader.find("config");
  TRY(reader.finish());
#define LAYER(class_, function_)                                                           \
  if (class_name == #class_) {                                                             \
    ASSIGN_OR_RETURN(auto options,                                                         \
                     parse_config<nn::class_##Options>(config, reader.path_of("config"))); \
    return nn::function_(std::move(options));                                              \
  }
#include "nn/tables.def"
  return fail(
      concat(path, ".class: ", nn::unknown_name("layer class", class_name, nn::layer_classes())));
}

Status read_labels(ObjectReader& reader, nn::Labels& labels) {
  std::string text = "dense";
  reader("labels", text);
  if (text != "dense" && text != "sparse") {
    return fail(concat("labels: must be \"dense\" or \"sparse\", got ", json_string(text)));
  }
  labels = text == "sparse" ? nn::Labels::Sparse : nn::Labels::Dense;
  return {};
}

Status read_compile_options(ObjectReader& reader, compile::Options& options) {
  if (const Json* features = reader.find("features")) {
    ObjectReader flags(*features, "features");
    options.features.visit(flags);
    TRY(flags.finish());
  }
  TRY(read_schedules(reader.find("schedules"), "schedules", options.schedules));
  reader.number("worthSplitting", options.worth_splitting);
  if (!(options.worth_splitting >= 0)) return fail("worthSplitting: must be at least 0");
  reader("verify", options.verify);
  reader("dumps", options.dumps);
  for (const std::string& when : options.dumps) TRY(check_dump(when));
  return {};
}

}  // namespace

Result<nn::Model> parse_model(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, parse_json(text));
  ObjectReader reader(json, "");
  std::string name = "sequential";
  uint64_t seed = 42;
  reader("name", name);
  reader("seed", seed);
  const Json* layers = reader.require("layers");
  TRY(reader.finish());
  if (!layers->is_array()) return fail("layers: must be an array");

  nn::Sequential model(name, seed);
  for (size_t i = 0; i < layers->size(); ++i) {
    ASSIGN_OR_RETURN(const nn::LayerPtr layer,
                     parse_layer((*layers)[i], concat("layers[", i, "]")));
    model.add(layer);
  }
  TRY(model.status());
  return model;
}

Result<CompileRequest> parse_request(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, parse_json(text));
  CompileRequest request;
  ObjectReader reader(json, "");
  nn::Choice loss;
  reader("loss", loss);
  if (!loss.empty()) request.training.loss = loss;
  reader("optimizer", request.training.optimizer);
  nn::Labels labels = nn::Labels::Dense;
  TRY(read_labels(reader, labels));
  request.training.labels = labels;
  if (const Json* batch = reader.find("batch")) {
    ObjectReader sizes(*batch, "batch");
    sizes("train", request.training.batch.train);
    sizes("evaluate", request.training.batch.evaluate);
    sizes("predict", request.training.batch.predict);
    TRY(sizes.finish());
  }
  TRY(read_compile_options(reader, request.options));
  TRY(reader.finish());
  return request;
}

Result<compile::Options> parse_compile_options(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, parse_json(text));
  compile::Options options;
  ObjectReader reader(json, "");
  TRY(read_compile_options(reader, options));
  TRY(reader.finish());
  return options;
}

Status check_dump(std::string_view when) {
  const size_t colon = when.find(':');
  const std::string_view side = when.substr(0, colon);
  if (colon == when.npos || (side != "before" && side != "after")) {
    return fail(concat("dump ", json_string(when), " must be before:PASS or after:PASS"));
  }
  const std::string_view pass = when.substr(colon + 1);
  const auto passes = compile::pass_names();
  if (pass != "*" && std::ranges::find(passes, pass) == passes.end()) {
    return fail(nn::unknown_name("pass", pass, passes));
  }
  return {};
}

std::string summary(const nn::Model& model) {
  std::string layers, weights;
  int64_t total = 0;
  for (const nn::PlacedLayer& layer : model.layers()) {
    const int64_t count = layer.parameter_count();
    total += count;
    std::string shape = bracketed(layer.outputs[0]);
    shape.insert(1, "null,");
    append(layers, layers.empty() ? "" : ",", "{\"name\":", json_string(layer.name),
           ",\"class\":", json_string(layer.layer->class_name()), ",\"outputShape\":", shape,
           ",\"params\":", count, "}");
  }
  for (const bool trainable : {true, false}) {
    for (const nn::Variable& weight : model.weights()) {
      if (weight.trainable != trainable) continue;
      append(weights, weights.empty() ? "" : ",", "{\"name\":", json_string(weight.name),
             ",\"shape\":", bracketed(weight.shape), "}");
    }
  }
  return concat("{\"name\":", json_string(model.name()),
                ",\"inputShape\":", bracketed(model.input_shape()),
                ",\"outputShape\":", bracketed(model.output_shape()), ",\"totalParams\":", total,
                ",\"layers\":[", layers, "],\"weights\":[", weights, "]}");
}

std::string metadata(const compile::Executable& executable,
                     const std::vector<nn::Variable>& variables) {
  Json json = Json::parse(compile::metadata(executable), nullptr, false);
  for (Json& state : json["states"]) {
    const auto at = std::ranges::find(variables, state["name"].get_ref<const std::string&>(),
                                      &nn::Variable::name);
    state["trainable"] = at != variables.end() && at->trainable;
  }
  return json.dump();
}

}  // namespace lathe::api
