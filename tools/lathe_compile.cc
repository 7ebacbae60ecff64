// The verbs of the compiler: compile, passes, describe.
#include <chrono>
#include <cstdio>
#include <span>

#include "lathe.h"
#include "lathe/api/model_json.h"
#include "lathe/api/network_json.h"
#include "lathe/api/schedule_cache.h"
#include "lathe/base/text.h"
#include "lathe/compile/compile.h"
#include "lathe/nn/states.h"

namespace lathe::tool {
namespace {

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// What `tl.tune` remembered of the one target that fits; a damaged file is left out with a warning.
Status add_schedules(const Arguments& arguments, compile::Options& options) {
  const std::string path = arguments.value("--schedules");
  if (path.empty()) return {};
  LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
  auto cache = api::parse_schedule_cache(text_of(bytes));
  if (!cache) {
    std::fprintf(stderr, "lathe: the schedules of %s are ignored: %s\n", path.c_str(),
                 cache.error().message.c_str());
    return {};
  }
  const auto target = api::find_target(*cache, options.features, arguments.value("--target"));
  if (!target) return fail(concat(path, ": ", target.error().message));
  options.schedules.merge((*cache)[*target]);
  return {};
}

// Options of the second file, if there is one, then what the flags say.
Result<api::CompileRequest> request_of(const Arguments& arguments) {
  api::CompileRequest request;
  if (arguments.files().size() > 1) {
    const std::string& path = arguments.files()[1];
    LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
    auto parsed = api::parse_request(text_of(bytes));
    if (!parsed) return fail(concat(path, ": ", parsed.error().message));
    request = std::move(*parsed);
  }
  if (arguments.has("--loss")) request.training.loss = arguments.value("--loss");
  if (arguments.has("--labels")) {
    const std::string labels = arguments.value("--labels");
    if (labels != "dense" && labels != "sparse") return fail("--labels must be dense or sparse");
    request.training.labels = labels == "sparse" ? nn::Labels::Sparse : nn::Labels::Dense;
  }
  request.training.stand_alone = true;
  if (arguments.has("--optimizer")) request.training.optimizer = arguments.value("--optimizer");
  if (arguments.has("--features")) {
    LATHE_ASSIGN_OR_RETURN(request.options.features,
                           compile::parse_features(arguments.value("--features")));
  }
  LATHE_TRY(add_schedules(arguments, request.options));
  if (arguments.has("--verify")) request.options.verify = true;
  for (const std::string& when : arguments.values("--dump")) {
    LATHE_TRY(api::check_dump(when));
    request.options.dumps.push_back(when);
  }
  request.options.on_dump = [](std::string_view when, std::string_view text) {
    print(concat("=== ", when, "\n", text, text.ends_with('\n') ? "" : "\n"));
  };
  if (arguments.has("--time-passes")) {
    request.options.clock = [] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration<double, std::milli>(now).count();
    };
  }
  return request;
}

// Those of the model's seed, the weights replaced by those of a file if one is given.
Result<std::vector<compile::StateContent>> contents_of(const nn::Model& model,
                                                       const nn::TrainingOptions& training,
                                                       const std::string& weights) {
  LATHE_ASSIGN_OR_RETURN(const auto variables, nn::variables(model, training));
  nn::States states = nn::initial_states(variables, model.seed());
  if (!weights.empty()) {
    LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(weights));
    const Status read = nn::read_weights(model, std::as_bytes(std::span(bytes)), states);
    if (!read) return fail(concat(weights, ": ", read.error().message));
  }
  return nn::contents_of(states);
}

void print_times(const compile::Executable& executable) {
  double total = 0;
  for (const auto& [pass, milliseconds] : executable.times) {
    std::printf("%8.3f ms  %s\n", milliseconds, pass.c_str());
    total += milliseconds;
  }
  std::printf("%8.3f ms  in all\n", total);
}

}  // namespace

Status compile(const Arguments& arguments) {
  const std::string& path = arguments.files()[0];
  LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
  auto model = api::parse_model(text_of(bytes));
  if (!model) return fail(concat(path, ": ", model.error().message));
  LATHE_ASSIGN_OR_RETURN(api::CompileRequest request, request_of(arguments));
  LATHE_ASSIGN_OR_RETURN(const auto program, nn::build_program(*model, request.training));
  LATHE_ASSIGN_OR_RETURN(request.options.contents,
                         contents_of(*model, request.training, arguments.value("--weights")));
  LATHE_ASSIGN_OR_RETURN(const auto executable, compile::compile(program, request.options));
  if (!executable.times.empty()) print_times(executable);

  const std::string out = arguments.value("-o");
  const std::vector<uint8_t> module = executable.module();
  if (!out.empty()) LATHE_TRY(write_file(out, module));
  std::string entries;
  for (const auto& entry : executable.entries) append(entries, " ", entry.name);
  print(concat(out.empty() ? "not written (no -o)" : out, ": ", module.size(), " bytes, entries",
               entries, ", memory ", executable.memory_bytes, " bytes, ",
               executable.temporary_bytes, " of them temporary\n"));
  return {};
}

Status passes(const Arguments&) {
  for (const std::string_view pass : compile::pass_names()) print(concat(pass, "\n"));
  return {};
}

Status describe(const Arguments&) {
  print(concat(api::describe(), "\n"));
  return {};
}

}  // namespace lathe::tool
