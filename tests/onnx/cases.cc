// onnx_cases FOLDER [--only TEXT] [--category NAME] [--quiet]: runs ONNX's own test cases by the
// meaning of their graphs. FOLDER holds cases.json. Prints what fails and why, then how many.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "data.h"
#include "lathe/base/json.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/trace.h"

namespace {

using namespace lathe;

// Those whose values are free: types and shapes must be right.
bool is_random(const Json& operators) {
  for (const std::string& name : operators.keys()) {
    for (const char* each : {"RandomUniform", "RandomNormal", "RandomUniformLike",
                             "RandomNormalLike", "Bernoulli", "Multinomial"}) {
      if (name == each) return true;
    }
  }
  return false;
}

Result<std::vector<onnx::Data>> read_set(const std::string& folder, std::string_view what,
                                         const std::vector<onnx::ValueInfo>& ports) {
  std::vector<onnx::Data> all;
  for (size_t k = 0; k < ports.size(); ++k) {
    const std::string path = concat(folder, '/', what, '_', k, ".pb");
    if (!std::filesystem::exists(path)) {
      all.emplace_back();
      continue;
    }
    LATHE_ASSIGN_OR_RETURN(const SharedBytes file, onnx::read_file(path));
    LATHE_ASSIGN_OR_RETURN(onnx::Data data, onnx::read_data(file, ports[k].type));
    all.push_back(std::move(data));
  }
  return all;
}

Status run_set(const onnx::ModelProto& model, const std::string& folder, bool any_values) {
  LATHE_ASSIGN_OR_RETURN(const auto inputs, read_set(folder, "input", model.graph.inputs));
  LATHE_ASSIGN_OR_RETURN(const auto expected, read_set(folder, "output", model.graph.outputs));
  LATHE_ASSIGN_OR_RETURN(const auto got, onnx::run(model, inputs));
  for (size_t k = 0; k < expected.size(); ++k) {
    const double tolerance = any_values ? 1e30 : 1e-3;
    const std::string why =
        onnx::difference(expected[k], got[k], tolerance, any_values ? 1e30 : 1e-6);
    if (!why.empty()) return fail(concat("output ", k, ' ', why));
  }
  return {};
}

Status run_case(const std::string& path, const std::string& folder, bool any_values) {
  LATHE_ASSIGN_OR_RETURN(const SharedBytes file, onnx::read_file(path));
  LATHE_ASSIGN_OR_RETURN(const onnx::ModelProto model, onnx::read_model(file));
  LATHE_TRY(onnx::check_operators(model));
  for (int set = 0;; ++set) {
    const std::string data = concat(folder, "/test_data_set_", set);
    if (!std::filesystem::exists(data)) return {};
    LATHE_TRY(run_set(model, data, any_values));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 2)
    return std::fputs("onnx_cases FOLDER [--only TEXT] [--category NAME]\n", stderr), 2;
  const std::string folder = words[1];
  std::string only, category;
  bool is_quiet = false;
  for (int k = 2; k < count; ++k) {
    if (std::strcmp(words[k], "--quiet") == 0) is_quiet = true;
    if (k + 1 < count && std::strcmp(words[k], "--only") == 0) only = words[k + 1];
    if (k + 1 < count && std::strcmp(words[k], "--category") == 0) category = words[k + 1];
  }
  const auto file = onnx::read_file(folder + "/cases.json");
  if (!file) return std::fprintf(stderr, "%s\n", file.error().message.c_str()), 2;
  const auto cases = Json::parse({reinterpret_cast<const char*>(file->data()), file->size()});
  if (!cases) return std::fprintf(stderr, "%s\n", cases.error().message.c_str()), 2;
  std::map<std::string, std::pair<int, int>> totals;
  for (const Json& each : cases->values()) {
    const std::string& name = each.at("path").string();
    if (name.find(only) == std::string::npos) continue;
    if (!category.empty() && each.at("category").string() != category) continue;
    const Status done = run_case(concat(folder, '/', each.at("model").string()),
                                 concat(folder, '/', name), is_random(each.at("ops")));
    auto& [passed, all] = totals[each.at("category").string()];
    ++all;
    if (done) {
      ++passed;
    } else if (!is_quiet) {
      std::printf("FAIL %s: %s\n", name.c_str(), done.error().message.c_str());
      std::fflush(stdout);
    }
  }
  for (const auto& [name, total] : totals) {
    std::printf("%s: %d of %d\n", name.c_str(), total.first, total.second);
  }
}
