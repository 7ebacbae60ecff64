#include "lathe/models/saved_model.h"

#include <algorithm>
#include <span>

#include "lathe/base/file_name.h"
#include "lathe/base/text.h"
#include "lathe/models/folder.h"
#include "lathe/models/keras_names.h"
#include "lathe/models/null_axes.h"
#include "lathe/models/read_topology.h"
#include "lathe/models/saved_weights.h"
#include "lathe/models/training_config.h"
#include "lathe/network/network_json.h"

namespace lathe::models {
namespace {

std::unexpected<Error> wrong(const std::string& name, std::string_view what) {
  return fail(concat(name, ": ", what));
}

// One group of files in model.json: concatenated, they contain the tensors.
struct WeightGroup {
  std::vector<std::string> paths;
  std::vector<formats::WeightSpec> specs;
};

Result<WeightGroup> read_group(const Json& json, const std::string& where) {
  const Json* paths = json.find("paths");
  const Json* weights = json.find("weights");
  if (paths == nullptr || !paths->is_array() || weights == nullptr || !weights->is_array()) {
    return wrong(where, "must have paths and weights");
  }
  WeightGroup group;
  for (const Json& path : paths->values()) {
    if (!path.is_string() || !stays_in_folder(path.string())) {
      return wrong(where, concat(shortened(path), " is no path in its folder; rename the file"));
    }
    group.paths.push_back(path.string());
  }
  auto specs = formats::read_specs(*weights);
  if (!specs) return wrong(where, specs.error().message);
  group.specs = std::move(*specs);
  return group;
}

Result<std::vector<WeightGroup>> read_manifest(const Json& json, const std::string& name) {
  const Json* manifest = json.find("weightsManifest");
  std::vector<WeightGroup> groups;
  if (manifest == nullptr || manifest->is_null()) return groups;
  if (!manifest->is_array()) return wrong(name, "weightsManifest must be an array");
  for (size_t i = 0; i < manifest->values().size(); ++i) {
    const std::string where = concat(name, ": weightsManifest[", i, ']');
    LATHE_ASSIGN_OR_RETURN(groups.emplace_back(), read_group(manifest->values()[i], where));
  }
  return groups;
}

// The content of the files of a model, except for its network.
struct Tensors {
  std::vector<NamedArray> weights, optimizer;
};

Result<Tensors> read_groups(const std::vector<WeightGroup>& groups, const std::string& name,
                            const ReadFile& read_file) {
  Tensors tensors;
  for (const WeightGroup& group : groups) {
    std::vector<std::byte> data;
    std::string names;
    for (const std::string& path : group.paths) {
      LATHE_ASSIGN_OR_RETURN(const auto part, read_file(path));
      data.insert(data.end(), part.begin(), part.end());
      append(names, names.empty() ? "" : ", ", path);
    }
    auto decoded = formats::decode_weights(group.specs, data);
    if (!decoded) {
      return wrong(name,
                   concat(names.empty() ? "no weight file" : names, ": ", decoded.error().message));
    }
    for (size_t i = 0; i < decoded->size(); ++i) {
      const bool is_weight = group.specs[i].group != "optimizer";
      (is_weight ? tensors.weights : tensors.optimizer).push_back(std::move((*decoded)[i]));
    }
  }
  return tensors;
}

// The tensors of a safetensors file next to a model that names no files; nothing without one.
Result<Tensors> read_sibling(const std::string& name, const ReadFile& read_file, bool& is_found) {
  const size_t start = name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1;
  const std::string stem = name.substr(start, name.rfind('.') - start);
  for (const std::string& path : {concat(stem, ".safetensors"), std::string("model.safetensors")}) {
    const auto file = read_file(path);
    if (!file && file.error().message.contains(kInFolder)) return wrong(name, file.error().message);
    if (!file) continue;
    auto read = formats::read_safetensors(*file);
    if (!read) return wrong(path, read.error().message);
    is_found = true;
    return Tensors{std::move(*read), {}};
  }
  return Tensors{};
}

Result<Json> parse(std::string_view text, const std::string& name) {
  auto json = Json::parse(text);
  if (!json) return wrong(name, json.error().message);
  if (!json->is_object()) return wrong(name, "it must be an object");
  return std::move(*json);
}

// An unsupported training configuration does not prevent prediction.
void read_training(const Json& json, SavedModel& saved) {
  const int64_t rows = saved.model.batch();
  if (rows > 0) saved.training.batch = {rows, rows, rows};
  const Json* config = json.find("trainingConfig");
  if (config == nullptr || !config->is_object()) return;
  auto training = read_training_config(*config, saved.model.outputs());
  Status sound = training ? Status() : Status(std::unexpected(training.error()));
  if (training) {
    training->batch = saved.training.batch;
    const auto program = nn::variables(saved.model, *training);
    if (!program) sound = std::unexpected(program.error());
  }
  if (sound) {
    saved.training = std::move(*training);
  } else {
    saved.warnings.push_back(concat("without its training: ", sound.error().message));
  }
}

Status read_states(const Json& json, const std::string& name, const ReadFile& read_file,
                   bool strict, SavedModel& saved) {
  LATHE_ASSIGN_OR_RETURN(const auto groups, read_manifest(json, name));
  const bool has_files = std::ranges::any_of(groups, [](const WeightGroup& group) {
    return !group.specs.empty() || !group.paths.empty();
  });
  bool is_found = has_files;
  LATHE_ASSIGN_OR_RETURN(const Tensors tensors, has_files
                                                    ? read_groups(groups, name, read_file)
                                                    : read_sibling(name, read_file, is_found));
  // The files are checked before the memory that the topology claims is allocated.
  if (is_found) {
    const Status assigned = assign_weights(saved.model, tensors.weights, strict, saved.states);
    if (!assigned) return wrong(name, assigned.error().message);
  } else if (!saved.model.weights().empty()) {
    saved.warnings.push_back("it names no weights, so they are those of the seed");
  }
  if (!tensors.optimizer.empty() && !saved.training.optimizer.empty()) {
    const Status gathered =
        assign_optimizer(saved.model, saved.training, tensors.optimizer, saved.states);
    if (!gathered) return wrong(name, gathered.error().message);
  }
  LATHE_ASSIGN_OR_RETURN(auto variables, nn::variables(saved.model, saved.training));
  std::erase_if(variables,
                [&](const nn::Variable& each) { return saved.states.contains(each.name); });
  saved.states.merge(nn::initial_states(variables, saved.model.seed()));
  return {};
}

Result<Description> describe(const Json& json, const std::string& name) {
  Description found;
  if (json.find("layers") != nullptr && json.find("modelTopology") == nullptr) {
    found.network = json;
    return found;
  }
  const Json* format = json.find("format");
  if (format != nullptr && format->is_string() && format->string() == "graph-model") {
    return wrong(name, "it is a graph model; only layers models can be loaded");
  }
  const Json* topology = json.find("modelTopology");
  const bool is_bare = json.find("class_name") != nullptr || json.find("model_config") != nullptr;
  if (topology == nullptr && is_bare) topology = &json;
  if (topology == nullptr || !topology->is_object()) return wrong(name, "it has no modelTopology");
  ReadTopology read = analyze_topology(*topology);
  found.network = std::move(read.network);
  found.problems = std::move(read.problems);
  for (const std::string& option : read.left_out) {
    found.warnings.push_back(concat("training goes without ", option));
  }
  return found;
}

}  // namespace

Result<Description> describe_model(std::string_view text, const std::string& name) {
  LATHE_ASSIGN_OR_RETURN(const Json json, parse(text, name));
  return describe(json, name);
}

Result<SavedModel> read_model(std::string_view text, const std::string& name,
                              const ReadFile& read_file, const LoadOptions& options) {
  LATHE_ASSIGN_OR_RETURN(const Json json, parse(text, name));
  LATHE_ASSIGN_OR_RETURN(Description found, describe(json, name));
  if (!found.problems.empty()) return wrong(name, found.problems[0]);
  const auto network = bind_null_axes(found.network, options.sizes);
  if (!network) return wrong(name, network.error().message);
  auto model = network::parse_model(network->dump());
  if (!model) return wrong(name, model.error().message);
  SavedModel saved{std::move(*model), {}, {}, std::move(found.warnings)};
  read_training(json, saved);
  LATHE_TRY(read_states(json, name, read_file, options.strict, saved));
  return saved;
}

Status replace_weights(std::span<const std::byte> file, const std::string& name,
                       SavedModel& saved) {
  const auto arrays = formats::read_safetensors(file);
  if (!arrays) return wrong(name, arrays.error().message);
  const Status assigned = assign_weights(saved.model, *arrays, true, saved.states);
  return assigned ? assigned : wrong(name, assigned.error().message);
}

Result<graph::Program> program_of(const SavedModel& saved,
                                  std::vector<graph::StateContent>& contents) {
  nn::TrainingOptions training = saved.training;
  training.standalone = true;
  LATHE_ASSIGN_OR_RETURN(graph::Program program, nn::build_program(saved.model, training));
  LATHE_TRY(check_names(saved.model, saved.states));
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(saved.model, training));
  LATHE_ASSIGN_OR_RETURN(contents, initial_contents(variables, saved.states, saved.model.seed()));
  return program;
}

Result<compile::Executable> compile_module(const SavedModel& saved, compile::Options options) {
  LATHE_ASSIGN_OR_RETURN(graph::Program program, program_of(saved, options.contents));
  return compile::compile(std::move(program), options);
}

Result<std::vector<uint8_t>> export_module(const SavedModel& saved,
                                           const compile::Options& options) {
  LATHE_ASSIGN_OR_RETURN(const auto executable, compile_module(saved, options));
  return executable.module();
}

}  // namespace lathe::models
