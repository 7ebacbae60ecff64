#include "lathe/api/model_json.h"

#include <algorithm>
#include <span>

#include "lathe/api/schedule_json.h"
#include "lathe/base/text.h"
#include "lathe/network/json_reader.h"

namespace lathe::api {
namespace {

// A value for all outputs, or an array with one for each.
template <class T, class Read>
Status read_each(ObjectReader& reader, std::string_view key, nn::PerOutput<T>& values, Read read) {
  const Json* json = reader.find(key);
  if (json == nullptr || json->is_null()) return {};
  std::vector<T> each;
  for (const Json& value : json->is_array() ? std::span(json->values()) : std::span(json, 1)) {
    Json object = Json::object();
    object.add(std::string(key), value);
    ObjectReader single(object, "");
    T result;
    LATHE_TRY(read(single, result));
    LATHE_TRY(single.finish());
    each.push_back(std::move(result));
  }
  values = std::move(each);
  return {};
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

// An array of names, or one such array for each output.
Status read_metrics(ObjectReader& reader, std::vector<std::vector<nn::Choice>>& metrics) {
  const Json* json = reader.find("metrics");
  if (json == nullptr || json->is_null()) return {};
  if (!json->is_array()) return fail("metrics: must be an array");
  const bool is_nested = !json->values().empty() && json->values()[0].is_array();
  for (const Json& list : is_nested ? std::span(json->values()) : std::span(json, 1)) {
    nn::PerOutput<nn::Choice> each;
    Json object = Json::object();
    object.add("metrics", list);
    ObjectReader single(object, "");
    LATHE_TRY(read_each(single, "metrics", each, [](ObjectReader& one, nn::Choice& metric) {
      one("metrics", metric);
      return Status{};
    }));
    metrics.push_back(std::move(each.values));
  }
  return {};
}

Status read_sizes(ObjectReader& reader, std::string_view key, nn::BatchSizes& sizes) {
  const Json* json = reader.find(key);
  if (json == nullptr) return {};
  ObjectReader each(*json, std::string(key));
  each("train", sizes.train);
  each("evaluate", sizes.evaluate);
  each("predict", sizes.predict);
  return each.finish();
}

Status read_training(ObjectReader& reader, nn::TrainingOptions& training) {
  LATHE_TRY(read_each(reader, "loss", training.loss, [](ObjectReader& one, nn::Choice& loss) {
    one("loss", loss);
    return Status{};
  }));
  LATHE_TRY(read_each(reader, "labels", training.labels, read_labels));
  LATHE_TRY(read_each(reader, "lossWeights", training.loss_weights,
                      [](ObjectReader& one, double& weight) {
                        one("lossWeights", weight);
                        return Status{};
                      }));
  reader("optimizer", training.optimizer);
  LATHE_TRY(read_metrics(reader, training.metrics));
  reader("trainMetrics", training.train_metrics);
  reader("testMetrics", training.test_metrics);
  reader("regularizer", training.regularizer);
  reader("rowWeights", training.row_weights);
  reader("checkNumerics", training.check_numerics);
  const Json* timing = reader.find("timing");
  training.equations = timing != nullptr && timing->string() == "equation";
  training.timing = training.equations;
  if (!training.equations) reader("timing", training.timing);
  reader("standalone", training.standalone);
  LATHE_TRY(read_sizes(reader, "batch", training.batch));
  return read_sizes(reader, "batchesInMemory", training.batches_in_memory);
}

Status read_compile_options(ObjectReader& reader, compile::Options& options) {
  if (const Json* features = reader.find("features")) {
    ObjectReader flags(*features, "features");
    options.features.visit(flags);
    LATHE_TRY(flags.finish());
  }
  LATHE_TRY(read_schedules(reader.find("schedules"), "schedules", options.schedules));
  reader.number("worthSplitting", options.worth_splitting);
  if (!(options.worth_splitting >= 0)) return fail("worthSplitting: must be at least 0");
  reader("winograd", options.winograd);
  reader("origins", options.origins);
  reader("stoppable", options.stoppable);
#ifndef __wasm__
  reader("verify", options.verify);
#endif
  reader("dumps", options.dumps);
  for (const std::string& when : options.dumps) LATHE_TRY(check_dump(when));
  return {};
}

}  // namespace

Result<CompileRequest> parse_request(std::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  CompileRequest request;
  ObjectReader reader(json, "");
  LATHE_TRY(read_training(reader, request.training));
  LATHE_TRY(read_compile_options(reader, request.options));
  reader("onlyStates", request.only_states);
  request.options.timing = request.training.timing;
  LATHE_TRY(reader.finish());
  return request;
}

Result<compile::Options> parse_compile_options(std::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  compile::Options options;
  ObjectReader reader(json, "");
  LATHE_TRY(read_compile_options(reader, options));
  bool relocatable = false;
  reader("relocatable", relocatable);
  if (relocatable) options.placement = compile::Placement::Relocatable;
  LATHE_TRY(reader.finish());
  return options;
}

Status check_dump(std::string_view when, const compile::Target& target) {
  const size_t colon = when.find(':');
  const std::string_view side = when.substr(0, colon);
  if (colon == when.npos || (side != "before" && side != "after" && side != "only")) {
    return fail(concat("dump ", json_string(when), " must be before:PASS or after:PASS"));
  }
  const std::string_view pass = when.substr(colon + 1);
  const auto passes = compile::pass_names(target);
  if (pass != "*" && std::ranges::find(passes, pass) == passes.end()) {
    return fail(nn::unknown_name("pass", pass, passes));
  }
  return {};
}

std::string metadata(const compile::Executable& executable,
                     const std::vector<nn::Variable>& variables) {
  return compile::metadata(executable, [&](const compile::Buffer& state, JsonWriter& json) {
    const auto at = std::ranges::find(variables, state.name, &nn::Variable::name);
    const bool trainable = at != variables.end() && at->trainable;
    json.member("trainable", trainable);
  });
}

}  // namespace lathe::api
