#include "lathe/models/onnx_file.h"

#include "lathe/base/text.h"
#include "lathe/export/onnx/export.h"
#include "lathe/models/saved_weights.h"

namespace lathe::models {
namespace {

constexpr int kAttempts = 3;

Result<onnx_export::Sample> sample_of(const SavedModel& saved, int64_t rows) {
  nn::TrainingOptions options;
  options.batch.predict = rows;
  LATHE_ASSIGN_OR_RETURN(graph::Program program, nn::build_program(saved.model, options));
  return onnx_export::Sample{{rows}, std::move(program.entries[0])};
}

// What the ports of the program are called in the model.
std::map<std::string, std::string> names_of(const std::vector<nn::Port>& ports, std::string stem) {
  if (ports.size() == 1) return {{stem, ports[0].name}};
  std::map<std::string, std::string> names;
  for (const nn::Port& port : ports) names[concat(stem, '/', port.name)] = port.name;
  return names;
}

}  // namespace

Result<std::vector<std::byte>> to_onnx(const SavedModel& saved, int64_t rows) {
  if (saved.model.batch() > 0) rows = saved.model.batch();
  onnx_export::Options options;
  options.name = saved.model.name();
  options.inputs = names_of(saved.model.inputs(), "x");
  options.outputs = names_of(saved.model.outputs(), "y");
  LATHE_TRY(saved.model.status());
  LATHE_TRY(check_names(saved.model, saved.states));
  LATHE_ASSIGN_OR_RETURN(const auto contents,
                         initial_contents(saved.model.weights(), saved.states, saved.model.seed()));
  for (int attempt = 0; rows == 0 && attempt < kAttempts; ++attempt) {
    std::vector<onnx_export::Sample> samples;
    for (const auto& sizes : onnx_export::sample_sizes(1, attempt)) {
      LATHE_ASSIGN_OR_RETURN(samples.emplace_back(), sample_of(saved, sizes[0]));
    }
    LATHE_ASSIGN_OR_RETURN(auto exported,
                           onnx_export::export_onnx(samples, {"batch"}, contents, options));
    if (exported.has_symbols) return std::move(exported.file);
  }
  if (rows == 0) {
    return fail("what the model computes depends on the number of rows in more than sizes; fix it");
  }
  LATHE_ASSIGN_OR_RETURN(const onnx_export::Sample sample, sample_of(saved, rows));
  LATHE_ASSIGN_OR_RETURN(auto exported, onnx_export::export_onnx(sample.graph, contents, options));
  return std::move(exported.file);
}

}  // namespace lathe::models
