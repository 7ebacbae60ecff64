// The verbs of the compiler: compile, convert, passes, describe.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>

#include "lathe.h"
#include "lathe/api/model_json.h"
#include "lathe/api/schedule_cache.h"
#include "lathe/base/text.h"
#include "lathe/compile/compile.h"
#include "lathe/models/onnx_file.h"
#include "lathe/models/saved_model.h"
#include "lathe_onnx.h"
#include "lathe_webgpu.h"

namespace lathe::tool {
namespace {

// What `tl.tune` remembered of the one target that fits; a damaged file is left out with a warning.
Outcome<void> add_schedules(const Arguments& arguments, compile::Options& options) {
  const std::string path = arguments.value("--schedules");
  const bool is_chosen = arguments.has("--tuned-for");
  if (path.empty()) {
    if (is_chosen) return wrong_use("--tuned-for is a target of --schedules, which is missing");
    return {};
  }
  LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
  auto cache = api::parse_schedule_cache(text_of(bytes));
  if (!cache) {
    warn(concat("the schedules of ", path, " are ignored: ", cache.error().message));
    return {};
  }
  const auto target = api::find_target(*cache, options.features, arguments.value("--tuned-for"));
  if (!target) {
    return std::unexpected(Failure(concat(path, ": ", target.error().message), is_chosen));
  }
  options.schedules.merge((*cache)[*target]);
  return {};
}

// 0 where it is not specified.
Outcome<int64_t> batch_of(const Arguments& arguments) {
  if (!arguments.has("--batch")) return 0;
  const std::string text = arguments.value("--batch");
  constexpr size_t kMaxDigits = 9;
  const bool is_count = !text.empty() && text.size() <= kMaxDigits &&
                        text.find_first_not_of("0123456789") == text.npos;
  const int64_t rows = is_count ? std::stoll(text) : 0;
  if (rows < 1) return wrong_use(concat("--batch must be a positive integer, got ", text));
  return rows;
}

Outcome<void> convert_to_onnx(const Arguments& arguments, const std::string& path) {
  for (const std::string_view flag : {"--quantize", "--training"}) {
    if (arguments.has(flag)) return wrong_use(concat(flag, " is not for ONNX models"));
  }
  models::LoadOptions load;
  LATHE_ASSIGN_OR_RETURN(load.sizes, sizes_of(arguments));
  LATHE_ASSIGN_OR_RETURN(const int64_t rows, batch_of(arguments));
  LATHE_ASSIGN_OR_RETURN(const models::SavedModel saved, open_model(arguments.files()[0], load));
  auto file = models::to_onnx(saved, rows);
  if (!file) return fail(concat(arguments.files()[0], ": ", file.error().message));
  const auto* first = reinterpret_cast<const uint8_t*>(file->data());
  return write_file(path, {first, file->size()});
}

// Where text goes that is no module: standard output, unless the module goes there.
std::FILE* text_output(const Arguments& arguments) {
  return arguments.value("-o") == "-" ? stderr : stdout;
}

// Options of the second file, if there is one, overridden by the flags.
Outcome<api::CompileRequest> request_of(const Arguments& arguments, const compile::Target& target,
                                        const models::SavedModel& saved) {
  api::CompileRequest request;
  if (arguments.has("--training")) {
    if (saved.training.loss.values.empty()) return fail("the model has no training configuration");
    request.training = saved.training;
  }
  if (const int64_t fixed = saved.model.batch()) request.training.batch = {fixed, fixed, fixed};
  if (arguments.files().size() > 1) {
    const std::string& path = arguments.files()[1];
    LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
    auto parsed = api::parse_request(text_of(bytes));
    if (!parsed) return fail(concat(path, ": ", parsed.error().message));
    request = std::move(*parsed);
  }
  LATHE_ASSIGN_OR_RETURN(const int64_t rows, batch_of(arguments));
  if (rows > 0) request.training.batch = {rows, rows, rows};
  if (arguments.has("--loss")) {
    request.training.loss = arguments.value("--loss");
    LATHE_TRY(of_flag(nn::find_loss(request.training.loss[0])));
  }
  if (arguments.has("--labels")) {
    const std::string labels = arguments.value("--labels");
    if (labels != "dense" && labels != "sparse") {
      return wrong_use(concat("--labels must be dense or sparse, got ", labels));
    }
    request.training.labels = labels == "sparse" ? nn::Labels::Sparse : nn::Labels::Dense;
  }
  request.training.standalone = true;
  if (arguments.has("--optimizer")) {
    request.training.optimizer = arguments.value("--optimizer");
    LATHE_TRY(of_flag(nn::find_optimizer(request.training.optimizer)));
  }
  for (const char* flag : {"--labels", "--optimizer"}) {
    if (arguments.has(flag) && request.training.loss.values.empty()) {
      return wrong_use(concat(flag, " requires a loss: use --training or --loss NAME"));
    }
  }
  LATHE_TRY(read_options(arguments, target, request.options));
  return request;
}

// What is compiled stays what it is.
Outcome<void> check_output(const Arguments& arguments) {
  const std::string out = arguments.value("-o");
  std::error_code ignored;
  for (const std::string& path : arguments.files()) {
    const std::string read = is_folder(path) ? concat(path, "/model.json") : path;
    if (std::filesystem::is_regular_file(out, ignored) &&
        std::filesystem::equivalent(out, read, ignored)) {
      return wrong_use(concat("-o ", out, ": is the compiled model; use another output file"));
    }
  }
  return {};
}

}  // namespace

void print_times(const compile::Executable& executable, std::FILE* to) {
  double total = 0;
  for (const auto& [pass, milliseconds] : executable.times) {
    std::fprintf(to, "%8.3f ms  %s\n", milliseconds, pass.c_str());
    total += milliseconds;
  }
  std::fprintf(to, "%8.3f ms  in all\n", total);
}

Outcome<void> read_options(const Arguments& arguments, const compile::Target& target,
                           compile::Options& options) {
  if (arguments.has("--features")) {
    LATHE_ASSIGN_OR_RETURN(options.features,
                           of_flag(compile::parse_features(arguments.value("--features"))));
  }
  LATHE_TRY(add_schedules(arguments, options));
  if (arguments.has("--verify")) options.verify = true;
  for (const std::string& when : arguments.values("--dump")) {
    LATHE_TRY(of_flag(api::check_dump(when, target)));
    options.dumps.push_back(when);
  }
  std::FILE* const to = text_output(arguments);
  options.on_dump = [to](std::string_view when, const compile::CompilationState& state) {
    const std::string text = compile::text(state);
    print_text(concat("=== ", when, "\n", text, text.ends_with('\n') ? "" : "\n"), to);
  };
  if (arguments.has("--time-passes")) {
    options.clock = [] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration<double, std::milli>(now).count();
    };
  }
  return {};
}

Outcome<void> write_module(const Arguments& arguments, const compile::Executable& executable) {
  if (!executable.times.empty()) print_times(executable, text_output(arguments));
  const std::string out = arguments.value("-o");
  const std::vector<uint8_t> module = executable.module();
  if (!out.empty()) LATHE_TRY(write_file(out, module));
  std::string entries;
  for (const auto& entry : executable.entries) append(entries, " ", entry.name);
  const std::string summary =
      concat(out.empty() ? "not written, as -o OUT.wasm is missing" : out, ": ", module.size(),
             " bytes, entries", entries, ", memory ", executable.memory_bytes, " bytes, ",
             executable.temporary_bytes, " of them temporary");
  if (out != "-") print_line(summary);
  return {};
}

Outcome<void> compile(const Arguments& arguments) {
  LATHE_TRY(check_output(arguments));
  LATHE_ASSIGN_OR_RETURN(const compile::Target* const target, target_of(arguments));
  if (is_onnx(arguments.files()[0])) return compile_onnx(arguments);
  LATHE_TRY(reject_flags(arguments, {"--shape", "--size", "--value"}, "ONNX models"));
  const std::string out = arguments.value("-o");
  std::string driver;
  if (arguments.has("--js")) {
    LATHE_ASSIGN_OR_RETURN(driver, driver_path(out));
  }
  models::LoadOptions load;
  LATHE_ASSIGN_OR_RETURN(load.sizes, sizes_of(arguments));
  LATHE_ASSIGN_OR_RETURN(models::SavedModel saved, open_model(arguments.files()[0], load));
  LATHE_ASSIGN_OR_RETURN(api::CompileRequest request, request_of(arguments, *target, saved));
  if (!driver.empty() && request.training.optimizer.empty()) {
    return wrong_use(
        "--js drives a module that trains, and this one has no entry train: use --training, or "
        "--loss NAME --optimizer NAME");
  }
  saved.training = request.training;
  if (const std::string weights = arguments.value("--weights"); !weights.empty()) {
    LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(weights));
    LATHE_TRY(models::replace_weights(std::as_bytes(std::span(bytes)), weights, saved));
  }
  if (target == &compile::webgpu_target()) {
    LATHE_ASSIGN_OR_RETURN(graph::Program program,
                           models::program_of(saved, request.options.contents));
    return compile_shaders(arguments, std::move(program), request.options);
  }
  LATHE_ASSIGN_OR_RETURN(const auto executable, models::compile_module(saved, request.options));
  if (!driver.empty() && executable.wasm().threads) {
    return wrong_use(
        "a module for threads imports its memory; omit the feature threads, or "
        "--js");
  }
  LATHE_TRY(write_module(arguments, executable));
  if (!driver.empty()) {
    LATHE_TRY(write_driver(driver, out));
    print_line(concat(driver, ": `node ", driver, " TRAIN.csv` trains it"));
  }
  return {};
}

Outcome<void> convert(const Arguments& arguments) {
  const std::string folder = arguments.value("-o");
  if (folder.empty()) return wrong_use("convert needs -o FOLDER, or -o OUT.onnx");
  if (is_onnx(arguments.files()[0])) return convert_onnx(arguments);
  LATHE_TRY(reject_flags(arguments, {"--weights"}, "ONNX models"));
  if (folder.ends_with(".onnx")) return convert_to_onnx(arguments, folder);
  if (arguments.has("--batch")) return wrong_use("--batch is for ONNX models");
  if (folder == "-") return wrong_use("a saved model is several files, so -o expects a FOLDER");
  models::SaveOptions save;
  save.includes_optimizer = arguments.has("--training");
  if (arguments.has("--quantize")) {
    const std::string text = arguments.value("--quantize");
    const auto bits = formats::bits_called(text);
    if (!bits) return wrong_use(concat("--quantize must be float16, uint16 or uint8, got ", text));
    save.bits = *bits;
  }
  models::LoadOptions load;
  LATHE_ASSIGN_OR_RETURN(load.sizes, sizes_of(arguments));
  LATHE_ASSIGN_OR_RETURN(const models::SavedModel saved, open_model(arguments.files()[0], load));
  return models::save_model(folder, saved, save);
}

Outcome<void> passes(const Arguments& arguments) {
  LATHE_ASSIGN_OR_RETURN(const compile::Target* const target, target_of(arguments));
  for (const std::string_view pass : compile::pass_names(*target)) print_line(pass);
  return {};
}

Outcome<void> describe(const Arguments&) {
  print_json_line(api::describe());
  return {};
}

}  // namespace lathe::tool
