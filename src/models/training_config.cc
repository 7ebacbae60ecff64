#include "lathe/models/training_config.h"

#include <algorithm>
#include <optional>

#include "lathe/base/text.h"
#include "lathe/models/keras_names.h"

namespace lathe::models {
namespace {

constexpr std::string_view kSparseLoss = "sparseCategoricalCrossentropy";

// The numbers and truths of an object that the row has, under our names.
void add_parameters(nn::Choice& choice, const nn::Row& row, const Json& config) {
  const auto known = row.parameters();
  for (size_t i = 0; config.is_object() && i < config.keys().size(); ++i) {
    const std::string name = to_camel_case(config.keys()[i]);
    const std::string_view ours =
        name_of_keras(KerasTable::OptimizerOption, name).value_or(std::string_view(name));
    const Json& value = config.values()[i];
    if (std::ranges::find(known, ours, &nn::Parameter::name) == known.end()) continue;
    if (value.is_boolean()) choice.parameters.emplace_back(ours, value.boolean() ? 1.0 : 0.0);
    if (value.is_number()) choice.parameters.emplace_back(ours, value.number());
  }
}

Result<nn::Choice> read_loss(const Json& json) {
  if (json.is_null()) return nn::Choice();
  const Json& name = json.at("name");
  const Json& config = json.at("config");
  if (json.is_object() && name.is_string()) {
    LATHE_ASSIGN_OR_RETURN(nn::Choice choice, read_loss(name));
    for (size_t i = 0; i < json.keys().size(); ++i) {
      const Json& value = json.values()[i];
      if (value.is_number()) choice.parameters.emplace_back(json.keys()[i], value.number());
    }
    return choice;
  }
  if (config.is_object() && config.at("name").is_string()) return read_loss(config.at("name"));
  if (!json.is_string()) return fail(concat("a loss must be a name, got ", shortened(json)));
  const auto found = find_any_name(nn::losses(), json.string());
  if (!found) return fail(concat("the loss ", shortened(json), " is not known"));
  return nn::Choice(std::string(*found));
}

Status read_losses(const Json& json, nn::TrainingOptions& training) {
  if (!json.is_string() && !json.is_array() && !json.is_object()) {
    return fail(concat("the loss must be a name or a list of them, got ", shortened(json)));
  }
  const std::vector<Json> alone = {json};
  std::vector<nn::Choice> losses;
  std::vector<nn::Labels> labels;
  for (const Json& each : json.is_array() ? json.values() : alone) {
    LATHE_ASSIGN_OR_RETURN(nn::Choice loss, read_loss(each));
    const bool is_sparse = nn::same_name(loss.name, kSparseLoss);
    labels.push_back(is_sparse ? nn::Labels::Sparse : nn::Labels::Dense);
    losses.push_back(std::move(loss));
  }
  if (losses.empty()) return fail("the list of losses is empty");
  training.loss = std::move(losses);
  training.labels = std::move(labels);
  return {};
}

Status read_optimizer(const Json& json, nn::TrainingOptions& training) {
  const Json& class_name = json.at("class_name");
  const Json& config = json.at("config");
  std::string wanted = class_name.is_string() ? class_name.string() : "undefined";
  const Json& momentum = config.at("momentum");
  const bool has_momentum = (momentum.is_number() && momentum.number() != 0) || momentum.boolean();
  if (wanted == "SGD" && has_momentum) wanted = "momentum";
  if (const size_t prefix = wanted.rfind('>'); prefix != wanted.npos) wanted.erase(0, prefix + 1);
  const nn::Row* row = find_row(nn::optimizers(), wanted);
  if (row == nullptr) return fail(concat("the optimizer ", wanted, " is not known"));
  training.optimizer = nn::Choice(std::string(row->name));
  add_parameters(training.optimizer, *row, config);
  return {};
}

// A name, or a class with its options, as any version of Keras writes it.
std::optional<nn::Choice> read_keras_metric(const Json& json) {
  const Json& class_name = json.is_object() ? json.at("class_name") : json;
  const Json& config = json.at("config");
  for (const Json* each : {&class_name, &config.at("name"), &config.at("fn")}) {
    if (!each->is_string()) continue;
    const auto found = find_any_name(nn::metrics(), each->string());
    if (!found) continue;
    nn::Choice choice{std::string(*found)};
    const Json& threshold = config.at("thresholds");
    if (threshold.is_number() && (*found == "precision" || *found == "recall")) {
      choice.parameters.emplace_back("threshold", threshold.number());
    }
    return choice;
  }
  return std::nullopt;
}

// A name, or an object of it and its parameters, as this package writes it.
std::optional<nn::Choice> read_own_metric(const Json& json) {
  if (json.is_string()) return nn::Choice(json.string());
  if (!json.is_object() || !json.at("name").is_string()) return std::nullopt;
  nn::Choice choice(json.at("name").string());
  for (size_t i = 0; i < json.keys().size(); ++i) {
    if (json.values()[i].is_number()) {
      choice.parameters.emplace_back(json.keys()[i], json.values()[i].number());
    }
  }
  return choice;
}

void read_metrics(const Json& config, nn::TrainingOptions& training) {
  const Json& own = config.at("tensorlathe_metrics");
  const bool is_own = own.is_array();
  const Json& given = is_own ? own : config.at("metrics");
  const auto add = [is_own](std::vector<nn::Choice>& list, const Json& json) {
    auto metric = is_own ? read_own_metric(json) : read_keras_metric(json);
    // Every loss is a metric, too.
    if (metric && (nn::find_metric(*metric) || nn::find_loss(*metric)))
      list.push_back(std::move(*metric));
  };
  const bool is_nested = is_own && !given.values().empty() && given.values()[0].is_array();
  if (!is_nested) training.metrics.emplace_back();
  for (const Json& each : given.is_array() ? given.values() : std::vector<Json>()) {
    if (is_nested) training.metrics.emplace_back();
    const std::vector<Json> alone = {each};
    for (const Json& one : each.is_array() ? each.values() : alone) {
      add(training.metrics.back(), one);
    }
  }
  if (training.metrics.size() == 1 && training.metrics[0].empty()) training.metrics.clear();
}

Json json_of(const nn::Setting& setting) {
  return setting.word.empty() ? Json::number(setting.number) : Json::string(setting.word);
}

// "mse", or {"name":"huber","delta":2}.
Json json_of(const nn::Choice& choice) {
  if (choice.parameters.empty()) return Json::string(choice.name);
  Json json = Json::object();
  json.add("name", Json::string(choice.name));
  for (const auto& [name, value] : choice.parameters) json.add(name, json_of(value));
  return json;
}

Json loss_json(const nn::Choice& loss) {
  if (loss.empty()) return {};
  if (!loss.parameters.empty()) return json_of(loss);
  const auto theirs = keras_name(KerasTable::Loss, loss.name);
  return Json::string(theirs ? std::string(*theirs) : to_snake_case(loss.name));
}

Json optimizer_config(const nn::Chosen<nn::OptimizerKind>& optimizer) {
  const nn::Row& row = nn::optimizers()[static_cast<size_t>(optimizer.kind)];
  std::string class_name(row.name);
  class_name[0] = static_cast<char>(class_name[0] - 'a' + 'A');
  if (const auto theirs = keras_name(KerasTable::Optimizer, row.name)) class_name = *theirs;
  Json config = Json::object();
  const auto parameters = row.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double value = optimizer.parameters[i];
    const bool is_flag = parameters[i].range == nn::Range::Flag;
    config.add(std::string(parameters[i].name),
               is_flag ? Json::boolean(value != 0) : Json::number(value));
  }
  Json json = Json::object();
  json.add("class_name", Json::string(std::move(class_name)));
  json.add("config", std::move(config));
  return json;
}

void add_metrics(const nn::TrainingOptions& training, Json& to) {
  Json shared = Json::array(), own = Json::array();
  bool is_all = training.metrics.size() <= 1;
  for (const auto& list : training.metrics) {
    Json each = Json::array();
    for (const nn::Choice& metric : list) {
      each.add(json_of(metric));
      const bool is_shared = metric.parameters.empty() && is_shared_metric(metric.name);
      is_all = is_all && is_shared;
      if (is_shared) shared.add(Json::string(to_snake_case(metric.name)));
    }
    own.add(std::move(each));
  }
  to.add("metrics", std::move(shared));
  if (is_all) return;
  to.add("tensorlathe_metrics", own.values().size() == 1 ? own.values()[0] : own);
}

}  // namespace

Result<nn::TrainingOptions> read_training_config(const Json& config) {
  nn::TrainingOptions training;
  LATHE_TRY(read_losses(config.at("loss"), training));
  LATHE_TRY(read_optimizer(config.at("optimizer_config"), training));
  const Json& weights = config.at("loss_weights");
  if (weights.is_array() && !weights.values().empty() &&
      std::ranges::all_of(weights.values(), &Json::is_number)) {
    std::vector<double> values;
    for (const Json& each : weights.values()) values.push_back(each.number());
    training.loss_weights = std::move(values);
  }
  read_metrics(config, training);
  return training;
}

Result<std::string> write_training_config(const nn::TrainingOptions& training) {
  if (training.loss.values.empty() || training.optimizer.empty()) return std::string("null");
  LATHE_ASSIGN_OR_RETURN(const auto optimizer, nn::find_optimizer(training.optimizer));
  Json config = Json::object();
  Json losses = Json::array();
  for (const nn::Choice& loss : training.loss.values) losses.add(loss_json(loss));
  config.add("loss", losses.values().size() == 1 ? losses.values()[0] : losses);
  if (training.loss_weights.values.size() > 1) {
    Json weights = Json::array();
    for (const double each : training.loss_weights.values) weights.add(Json::number(each));
    config.add("loss_weights", std::move(weights));
  }
  add_metrics(training, config);
  config.add("optimizer_config", optimizer_config(optimizer));
  return config.spelled();
}

}  // namespace lathe::models
