// The verb run: has Node run a model with the package. What Node does is lathe_run.mjs.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lathe/base/json.h"
#include "lathe/base/text.h"
#include "lathe_onnx.h"

extern char** environ;

namespace lathe::tool {
namespace {

constexpr std::string_view kScript =
#include "lathe_run.inc"
    ;

// NAME=FILE, or only a file.
Json file_of(const std::string& word) {
  const size_t at = word.find('=');
  Json json = Json::object();
  json.add("name", Json::string(at == word.npos ? "" : word.substr(0, at)));
  json.add("file", Json::string(at == word.npos ? word : word.substr(at + 1)));
  return json;
}

Outcome<Json> numbers_of(const Arguments& arguments, const char* flag) {
  Json numbers = Json::array();
  const std::string text = arguments.value(flag);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string each = text.substr(at, end - at);
    char* rest = nullptr;
    const double number = std::strtod(each.c_str(), &rest);
    if (each.empty() || *rest != 0 || !std::isfinite(number)) {
      return wrong_use(concat(flag, " expects numbers like 0.5,0.5,0.5, got ", text));
    }
    if (number == 0 && std::string_view(flag) == "--std") {
      return wrong_use(concat("--std divides, so none may be 0, got ", text));
    }
    numbers.add(Json::number(number));
    at = end + 1;
  }
  return numbers;
}

Outcome<Json> shapes_of(const Arguments& arguments) {
  LATHE_ASSIGN_OR_RETURN(const onnx::InputBindings bindings, sizes_of_flags(arguments));
  Json shapes = Json::object();
  for (const auto& [name, sizes] : bindings.shapes) {
    Json shape = Json::array();
    for (const int64_t each : sizes) shape.add(Json::number(static_cast<double>(each)));
    shapes.add(name, std::move(shape));
  }
  return shapes;
}

// Where npm packages are resolved from. Their code is executed, so unless --package is another
// folder it is only where this program is, in node_modules of a folder above or as `npm install -g`
// has it: never the working directory, where downloaded files may bring a node_modules along.
std::vector<std::string> package_folders(const Arguments& arguments) {
  if (arguments.has("--package")) return {arguments.value("--package")};
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const auto folder = program.parent_path();
  return {folder.string(), (folder.parent_path() / "lib").string()};
}

// The job description for lathe_run.mjs.
Outcome<Json> job_of(const Arguments& arguments) {
  Json job = Json::object();
  job.add("model", Json::string(arguments.files()[0]));
  if (arguments.files().size() > 1) job.add("labels", Json::string(arguments.files()[1]));
  for (const auto& [flag, key] : {std::pair{"--input", "inputs"}, {"--output", "outputs"}}) {
    Json files = Json::array();
    for (const std::string& each : arguments.values(flag)) files.add(file_of(each));
    job.add(key, std::move(files));
  }
  LATHE_ASSIGN_OR_RETURN(Json shapes, shapes_of(arguments));
  job.add("shapes", std::move(shapes));
  for (const auto& [flag, key] : {std::pair{"--mean", "mean"}, {"--std", "std"}}) {
    if (!arguments.has(flag)) continue;
    LATHE_ASSIGN_OR_RETURN(Json numbers, numbers_of(arguments, flag));
    job.add(key, std::move(numbers));
  }
  if (arguments.has("--layout")) {
    const std::string layout = arguments.value("--layout");
    if (layout != "nchw" && layout != "nhwc") {
      return wrong_use(concat("--layout must be nchw or nhwc, got ", layout));
    }
    job.add("layout", Json::string(layout));
  }
  if (arguments.has("--top")) {
    const std::string text = arguments.value("--top");
    const bool is_count = !text.empty() && text.size() < 7 && text[0] != '0' &&
                          text.find_first_not_of("0123456789") == text.npos;
    if (!is_count) return wrong_use(concat("--top must be a positive integer, got ", text));
    job.add("top", Json::number(std::atoi(text.c_str())));
  } else if (arguments.files().size() > 1) {
    return wrong_use(
        concat("LABELS.txt is for --top N; an input is --input ", arguments.files()[1]));
  }
  Json folders = Json::array();
  for (std::string& each : package_folders(arguments)) folders.add(Json::string(std::move(each)));
  job.add("packages", std::move(folders));
  return job;
}

// Exit codes of a shell for a program that is not there.
constexpr int kNotFound = 127;

// Runs a program of the PATH with these arguments; its exit code.
Result<int> execute(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return fail(concat(words[0], ": ", std::strerror(errno)));
  if (child == 0) {
    execvp(arguments[0], arguments.data());
    _exit(kNotFound);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return fail(concat(words[0], " was ended by signal ", WTERMSIG(status)));
  }
  return WEXITSTATUS(status);
}

}  // namespace

Outcome<void> run_model(const Arguments& arguments) {
  const std::string& path = arguments.files()[0];
  LATHE_ASSIGN_OR_RETURN(const Json job, job_of(arguments));
  if (is_folder(path)) {
    const std::string model = onnx_in_folder(path);
    return fail(concat(path, ": is a folder; ",
                       model.empty() ? "`lathe run` needs an ONNX model" : concat("run ", model)));
  }
  // Standard input and pipes are left for Node to read.
  std::error_code ignored;
  const bool is_left = path == "-" || std::filesystem::is_fifo(path, ignored);
  if (!is_left && !is_onnx(path)) {
    LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
    LATHE_TRY(reject_other_formats(path, bytes));
    return fail(concat(path, ": is no ONNX model; models of layers are run by the package"));
  }
  const char* chosen = std::getenv("LATHE_NODE");
  const std::string node = chosen == nullptr ? "node" : chosen;
  LATHE_ASSIGN_OR_RETURN(const int code, execute({node, "--input-type=module", "--eval",
                                                  std::string(kScript), "--", job.dump()}));
  if (code == 0) return {};
  if (code == kNotFound) {
    return fail(concat("cannot start ", node,
                       ": `lathe run` drives Node 20 or later until there is "
                       "a native engine; put node on the PATH or set LATHE_NODE to its path"));
  }
  return std::unexpected(Failure(Error("")));
}

}  // namespace lathe::tool
