// Saved models, whoever wrote them: TensorFlow.js, the converters of Keras, `model.save` of the
// package, a description as api/lathe.h has it. Read with their weights and training configuration,
// saved as TensorFlow.js reads them, or compiled to one standalone module.
//
//   LATHE_ASSIGN_OR_RETURN(auto saved, lathe::models::load_model("model.json"));
//   LATHE_TRY(lathe::models::save_model("folder", saved));
//   LATHE_ASSIGN_OR_RETURN(auto module, lathe::models::export_module(saved));
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/compile/compile.h"
#include "lathe/formats/weight_data.h"
#include "lathe/nn/training/states.h"
#include "lathe/nn/training/training.h"

namespace lathe::models {

struct SavedModel {
  nn::Model model;
  // Every weight, and the states of the optimizer where the model can train. Modules and ONNX
  // files initialize missing ones from the seed; folders require every weight.
  nn::States states = {};
  nn::TrainingOptions training = {};  // without a loss: the model only predicts
  // Information lost on reading: unsupported options and training configurations.
  std::vector<std::string> warnings = {};
};

struct LoadOptions {
  // For axes of inputs that have any size (null), in their order.
  std::vector<int64_t> sizes;
  // Whether weights that are missing, left over or NaN are errors.
  bool strict = true;
};

// The content of a file next to model.json, or an error that names it.
using ReadFile = std::function<Result<std::vector<std::byte>>(std::string_view path)>;

// model.json or its folder. Weights come from the files that it names, which must be
// in its folder, or, where it names none, from NAME.safetensors or model.safetensors next to it;
// else they are initialized from the seed. Errors name the file and the location in it.
Result<SavedModel> load_model(const std::string& path, const LoadOptions& options = {});
// The same from the text of model.json, which errors call `name`.
Result<SavedModel> read_model(std::string_view json, const std::string& name,
                              const ReadFile& read_file, const LoadOptions& options = {});

struct SaveOptions {
  formats::Bits bits = formats::Bits::All;  // of weights
  bool includes_optimizer = false;
};

// Writes model.json and its weight files, each file the old one or all of the new one, and removes
// those that the model.json before named, if they are named as ours. Errors: a
// layer that cannot be stored (see write_topology.h); a weight that is missing or of another shape;
// a state that the model does not have; errors of the system.
Status save_model(const std::string& folder, const SavedModel& saved,
                  const SaveOptions& options = {});

// The program of a standalone module, and what its states start with.
Result<graph::Program> program_of(const SavedModel& saved,
                                  std::vector<graph::StateContent>& contents);
// A module that predicts, and trains where there is a loss and an optimizer; its initial states are
// the states (nn/training/training.h: standalone).
Result<std::vector<uint8_t>> export_module(const SavedModel& saved,
                                           const compile::Options& options = {});
// The same with metadata of the module; `options.contents` must be empty.
Result<compile::Executable> compile_module(const SavedModel& saved, compile::Options options);

// Replaces the weights by those of a safetensors file, which errors call `name`. Errors: as
// assign_weights.
Status replace_weights(std::span<const std::byte> file, const std::string& name, SavedModel& saved);

// The content of a model.json, before a model is built from it.
struct Description {
  Json network;                       // for network::parse_model
  std::vector<std::string> problems;  // what cannot be read, and where
  std::vector<std::string> warnings;
};
// Errors: the string is no model.json.
Result<Description> describe_model(std::string_view json, const std::string& name);

}  // namespace lathe::models
