#include "lathe/models/training_config.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/models/keras_names.h"
#include "lathe/nn/training/loss.h"

namespace lathe::models {
namespace {

constexpr std::string_view kSparseLoss = "sparseCategoricalCrossentropy";
constexpr std::string_view kDenseKerasLoss = "categorical_crossentropy";

// The numbers and truths of an object that the row has, under our names.
void add_parameters(Json& choice, const nn::Row& row, const Json& config) {
  const auto parameters = row.parameters();
  for (size_t i = 0; config.is_object() && i < config.keys().size(); ++i) {
    const std::string name = to_camel_case(config.keys()[i]);
    const std::string ours(
        name_of_keras(KerasTable::OptimizerOption, name).value_or(std::string_view(name)));
    const Json& value = config.values()[i];
    const bool is_parameter =
        std::ranges::find(parameters, ours, &nn::Parameter::name) != parameters.end();
    const bool is_setting = value.is_boolean() || value.is_number();
    if (is_parameter && is_setting && choice.find(ours) == nullptr) choice.add(ours, value);
  }
}

Result<Json> read_loss(const Json& json) {
  if (json.is_null()) return Json();
  const Json& name = json.at("name");
  const Json& config = json.at("config");
  if (json.is_object() && name.is_string()) {
    Json choice = Json::object();
    LATHE_ASSIGN_OR_RETURN(Json found, read_loss(name));
    choice.add("name", std::move(found));
    for (size_t i = 0; i < json.keys().size(); ++i) {
      if (json.keys()[i] != "name") choice.add(json.keys()[i], json.values()[i]);
    }
    return choice;
  }
  // Keras 3 writes {class_name: "function", config: "mean_squared_error"}.
  if (json.is_object() && config.is_string()) return read_loss(config);
  if (config.at("from_logits").boolean()) {
    const auto of_logits = name_of_keras(KerasTable::Loss, config.at("name").string());
    if (of_logits) return Json::string(std::string(*of_logits));
    return fail(concat("the loss ", shortened(config.at("name")), " of logits is not supported"));
  }
  if (config.is_object() && config.at("name").is_string()) return read_loss(config.at("name"));
  if (!json.is_string()) return fail(concat("a loss must be a name, got ", shortened(json)));
  const auto found = find_any_name(nn::losses(), json.string());
  if (!found) return fail(concat("the loss ", json.string(), " is not supported"));
  return Json::string(std::string(*found));
}

Result<Json> read_losses(const Json& json) {
  if (!json.is_string() && !json.is_array() && !json.is_object()) {
    return fail(concat("the loss must be a name or a list of them, got ", shortened(json)));
  }
  if (!json.is_array()) return read_loss(json);
  Json losses = Json::array();
  for (const Json& each : json.values()) {
    LATHE_ASSIGN_OR_RETURN(Json loss, read_loss(each));
    losses.add(std::move(loss));
  }
  if (losses.values().empty()) return fail("the list of losses is empty");
  return losses;
}

Result<Json> read_optimizer(const Json& json) {
  const Json& class_name = json.at("class_name");
  const Json& config = json.at("config");
  std::string name = class_name.is_string() ? class_name.string() : "undefined";
  const Json& momentum = config.at("momentum");
  const bool has_momentum = (momentum.is_number() && momentum.number() != 0) || momentum.boolean();
  if (name == "SGD" && has_momentum) name = "momentum";
  if (const size_t prefix = name.rfind('>'); prefix != name.npos) name.erase(0, prefix + 1);
  const nn::Row* row = find_row(nn::optimizers(), name);
  if (row == nullptr) return fail(concat("the optimizer ", name, " is not supported"));
  Json optimizer = Json::object();
  optimizer.add("name", Json::string(std::string(row->name)));
  add_parameters(optimizer, *row, config);
  return optimizer;
}

// A name, or a class with its options, as any version of Keras writes it; null for another one.
Json read_keras_metric(const Json& json) {
  if (json.is_string() && nn::is_crossentropy(json.string())) return json;
  const Json& class_name = json.is_object() ? json.at("class_name") : json;
  const Json& config = json.at("config");
  for (const Json* each : {&class_name, &config.at("name"), &config.at("fn")}) {
    if (!each->is_string()) continue;
    auto found = find_any_name(nn::metrics(), each->string());
    if (!found) found = find_any_name(nn::losses(), each->string());
    if (!found) continue;
    const Json name = Json::string(std::string(*found));
    const Json& threshold = config.at("thresholds");
    if (!threshold.is_number() || (*found != "precision" && *found != "recall")) return name;
    Json metric = Json::object();
    metric.add("name", name);
    metric.add("threshold", threshold);
    return metric;
  }
  return {};
}

std::vector<Json> list_of(const Json& json) {
  return json.is_array() ? json.values() : std::vector<Json>{json};
}

Json read_metrics_of(const std::vector<Json>& listed) {
  Json metrics = Json::array();
  for (const Json& each : listed) {
    for (const Json& one : list_of(each)) {
      Json metric = read_keras_metric(one);
      if (!metric.is_null()) metrics.add(std::move(metric));
    }
  }
  return metrics;
}

// Of all outputs; TensorFlow.js writes an object by output, too.
Json read_metrics(const Json& config) {
  const Json* stored = config.find("tensorlathe_metrics");
  if (stored != nullptr && !stored->is_null()) return *stored;
  const Json& listed = config.at("metrics");
  if (!listed.is_object() || listed.keys().empty()) return read_metrics_of(listed.values());
  Json metrics = Json::object();
  for (size_t i = 0; i < listed.keys().size(); ++i) {
    metrics.add(listed.keys()[i], read_metrics_of({listed.values()[i]}));
  }
  return metrics;
}

// "mse", or {"name":"huber","delta":2}; empty for null.
nn::Choice choice_of(const Json& json) {
  if (json.is_string()) return nn::Choice(json.string());
  nn::Choice choice(json.at("name").string());
  for (size_t i = 0; i < json.keys().size(); ++i) {
    const Json& value = json.values()[i];
    if (value.is_number()) choice.parameters.emplace_back(json.keys()[i], value.number());
    if (value.is_boolean()) {
      choice.parameters.emplace_back(json.keys()[i], value.boolean() ? 1.0 : 0.0);
    }
  }
  return choice;
}

// Those of each output, or of all: a list for each, an object of them by output, or one list.
std::vector<Json> lists_of_metrics(const Json& listed, std::span<const nn::Port> outputs) {
  const bool is_nested =
      listed.is_array() && !listed.values().empty() && listed.values()[0].is_array();
  if (is_nested) return listed.values();
  if (!listed.is_object() || listed.find("name") != nullptr) return {listed};
  std::vector<Json> lists;
  for (const nn::Port& output : outputs) {
    const Json* of_output = listed.find(output.name);
    lists.push_back(of_output == nullptr ? Json::array() : *of_output);
  }
  return lists;
}

void set_metrics(const Json& listed, std::span<const nn::Port> outputs,
                 nn::TrainingOptions& training) {
  for (const Json& list : lists_of_metrics(listed, outputs)) {
    auto& metrics = training.metrics.emplace_back();
    for (const Json& each : list_of(list)) {
      nn::Choice metric = choice_of(each);
      // Every loss is a metric, too.
      if (nn::find_metric(metric) || nn::find_loss(metric)) metrics.push_back(std::move(metric));
    }
  }
  if (training.metrics.size() == 1 && training.metrics[0].empty()) training.metrics.clear();
}

Json json_of(const nn::Choice& choice) {
  if (choice.empty()) return {};
  if (choice.parameters.empty()) return Json::string(choice.name);
  Json json = Json::object();
  json.add("name", Json::string(choice.name));
  for (const auto& [name, value] : choice.parameters) {
    json.add(name, value.word.empty() ? Json::number(value.number) : Json::string(value.word));
  }
  return json;
}

template <class List>
Json json_of(const List& choices) {
  Json all = Json::array();
  for (const nn::Choice& each : choices) all.add(json_of(each));
  return all;
}

Json optimizer_json(const nn::Chosen<nn::OptimizerKind>& optimizer) {
  const nn::Row& row = nn::optimizers()[static_cast<size_t>(optimizer.kind)];
  Json json = Json::object();
  json.add("name", Json::string(std::string(row.name)));
  const auto parameters = row.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double value = optimizer.parameters[i];
    const bool is_flag = parameters[i].range == nn::Range::Flag;
    json.add(std::string(parameters[i].name),
             is_flag ? Json::boolean(value != 0) : Json::number(value));
  }
  return json;
}

// The loss of Keras and TensorFlow.js for one of ours, if it has another name: equal only
// for models that end with its activation.
std::optional<std::string_view> substitute(const Json& loss) {
  return loss.is_string() ? keras_name(KerasTable::Loss, loss.string()) : std::nullopt;
}

Json keras_loss(const Json& loss, bool is_sparse) {
  if (!loss.is_string()) return loss;
  const auto theirs = substitute(loss);
  std::string name = theirs ? std::string(*theirs) : to_snake_case(loss.string());
  if (is_sparse && name == kDenseKerasLoss) name = to_snake_case(kSparseLoss);
  return Json::string(std::move(name));
}

// One loss for all outputs, or where their labels are specified one by one, one for each.
std::vector<nn::Choice> losses_of(const nn::TrainingOptions& options) {
  const std::vector<nn::Choice>& losses = options.loss.values;
  return losses.size() > 1 ? losses : std::vector(options.labels.values.size(), losses[0]);
}

Result<Json> keras_optimizer(const Json& optimizer) {
  const nn::Row* row = find_row(nn::optimizers(), optimizer.at("name").string());
  if (row == nullptr) {
    return fail(concat("the optimizer ", shortened(optimizer.at("name")), " is not supported"));
  }
  std::string class_name(row->name);
  class_name[0] = static_cast<char>(class_name[0] - 'a' + 'A');
  if (const auto theirs = keras_name(KerasTable::Optimizer, row->name)) class_name = *theirs;
  Json config = Json::object();
  for (const nn::Parameter& each : row->parameters()) {
    const bool is_flag = each.range == nn::Range::Flag;
    const Json standard = is_flag ? Json::boolean(each.standard != 0) : Json::number(each.standard);
    const Json* setting = optimizer.find(each.name);
    config.add(std::string(each.name), setting == nullptr ? standard : *setting);
  }
  Json json = Json::object();
  json.add("class_name", Json::string(std::move(class_name)));
  json.add("config", std::move(config));
  return json;
}

bool same_metric(const Json& ours, const Json& theirs) {
  return ours.is_string() && to_snake_case(ours.string()) == theirs.string();
}

// Those that TensorFlow.js knows, under its names.
Json shared_metrics(const Json& listed) {
  Json shared = Json::array();
  for (const Json& each : list_of(listed)) {
    const auto name = each.is_string() ? shared_metric(each.string()) : std::nullopt;
    if (name) shared.add(Json::string(to_snake_case(*name)));
  }
  return shared;
}

// All of them as they are, and for others the names of those that they know, of one output or of
// each.
void add_metrics(const Json& listed, Json& to) {
  const bool is_by_output = listed.is_object() && listed.find("name") == nullptr;
  Json shared = is_by_output ? Json::object() : shared_metrics(listed);
  for (size_t i = 0; is_by_output && i < listed.keys().size(); ++i) {
    const Json shared_list = shared_metrics(listed.values()[i]);
    // One each is all that they read.
    if (!shared_list.values().empty()) shared.add(listed.keys()[i], shared_list.values()[0]);
  }
  const std::vector<Json> all = list_of(listed);
  const bool is_all = !is_by_output && std::ranges::equal(all, shared.values(), same_metric);
  to.add("metrics", std::move(shared));
  if (!is_all) to.add("tensorlathe_metrics", listed);
}

}  // namespace

Result<Json> read_training(const Json& config) {
  Json training = Json::object();
  LATHE_ASSIGN_OR_RETURN(Json loss, read_losses(config.at("loss")));
  if (const Json& stored = config.at("tensorlathe_loss"); !stored.is_null()) {
    LATHE_ASSIGN_OR_RETURN(loss, read_losses(stored));
  }
  LATHE_ASSIGN_OR_RETURN(Json optimizer, read_optimizer(config.at("optimizer_config")));
  training.add("loss", std::move(loss));
  if (config.at("loss_weights").is_array()) {
    training.add("lossWeights", config.at("loss_weights"));
  }
  training.add("metrics", read_metrics(config));
  training.add("optimizer", std::move(optimizer));
  return training;
}

Result<Json> write_training(const Json& training) {
  LATHE_ASSIGN_OR_RETURN(Json optimizer, keras_optimizer(training.at("optimizer")));
  const Json& loss = training.at("loss");
  const Json& weights = training.at("lossWeights");
  Json config = Json::object(), losses = Json::array();
  const std::vector<Json>& sparse = training.at("sparseLabels").values();
  for (const Json& each : list_of(loss)) {
    const size_t output = losses.values().size();
    losses.add(keras_loss(each, output < sparse.size() && sparse[output].boolean()));
  }
  config.add("loss", loss.is_array() ? losses : losses.values()[0]);
  const auto has_substitute = [](const Json& each) { return substitute(each).has_value(); };
  if (std::ranges::any_of(list_of(loss), has_substitute)) config.add("tensorlathe_loss", loss);
  if (!weights.is_null()) config.add("loss_weights", weights);
  add_metrics(training.at("metrics"), config);
  config.add("optimizer_config", std::move(optimizer));
  return config;
}

Result<nn::TrainingOptions> read_training_config(const Json& config,
                                                 std::span<const nn::Port> outputs) {
  LATHE_ASSIGN_OR_RETURN(const Json read, read_training(config));
  nn::TrainingOptions training;
  std::vector<nn::Choice> losses;
  std::vector<nn::Labels> labels;
  for (const Json& each : list_of(read.at("loss"))) losses.push_back(choice_of(each));
  LATHE_ASSIGN_OR_RETURN(const Json shared, read_losses(config.at("loss")));
  for (const Json& each : list_of(shared)) {
    const bool is_sparse = nn::same_name(choice_of(each).name, kSparseLoss);
    labels.push_back(is_sparse ? nn::Labels::Sparse : nn::Labels::Dense);
  }
  training.loss = std::move(losses);
  training.labels = std::move(labels);
  training.optimizer = choice_of(read.at("optimizer"));
  const std::vector<Json>& weights = read.at("lossWeights").values();
  if (!weights.empty() && std::ranges::all_of(weights, &Json::is_number)) {
    std::vector<double> values;
    for (const Json& each : weights) values.push_back(each.number());
    training.loss_weights = std::move(values);
  }
  set_metrics(read.at("metrics"), outputs, training);
  return training;
}

Result<std::string> write_training_config(const nn::TrainingOptions& options) {
  if (options.loss.values.empty() || options.optimizer.empty()) return std::string("null");
  LATHE_ASSIGN_OR_RETURN(const auto optimizer, nn::find_optimizer(options.optimizer));
  const Json losses = json_of(losses_of(options));
  Json training = Json::object(), metrics = Json::array(), weights = Json::array();
  Json sparse = Json::array();
  training.add("loss", losses.values().size() == 1 ? losses.values()[0] : losses);
  for (size_t output = 0; output < losses.values().size(); ++output) {
    sparse.add(Json::boolean(options.labels[output] == nn::Labels::Sparse));
  }
  training.add("sparseLabels", std::move(sparse));
  for (const double each : options.loss_weights.values) weights.add(Json::number(each));
  if (weights.values().size() > 1) training.add("lossWeights", std::move(weights));
  for (const auto& list : options.metrics) metrics.add(json_of(list));
  training.add("metrics", metrics.values().size() == 1 ? metrics.values()[0] : metrics);
  training.add("optimizer", optimizer_json(optimizer));
  LATHE_ASSIGN_OR_RETURN(const Json config, write_training(training));
  return config.dump();
}

}  // namespace lathe::models
