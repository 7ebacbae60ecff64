// Graphs as ONNX files, of graphs in text form.
#include "lathe/api/onnx_export/onnx_export.h"

#include "lathe/api/error.h"
#include "lathe/base/json.h"
#include "lathe/base/text.h"
#include "lathe/export/onnx/export.h"
#include "lathe/graph/parse.h"

namespace {

using lathe::Json;
using lathe::Result;
using lathe::onnx_export::Exported;

// The last file, and the array that lathe_onnx_export returns.
struct LastExport {
  Exported exported;
  size_t result[3] = {};
};

LastExport& last_export() {
  static LastExport last;
  return last;
}

std::map<std::string, std::string> names_in(const Json& json) {
  std::map<std::string, std::string> names;
  for (size_t k = 0; k < json.keys().size(); ++k) names[json.keys()[k]] = json.values()[k].string();
  return names;
}

Result<Exported> exported(std::string_view text, const lathe::SharedBytes& weights) {
  LATHE_ASSIGN_OR_RETURN(const Json request, Json::parse(text));
  std::vector<lathe::onnx_export::Sample> samples;
  for (const Json& each : request.at("samples").values()) {
    lathe::onnx_export::Sample& sample = samples.emplace_back();
    LATHE_ASSIGN_OR_RETURN(sample.graph, lathe::graph::parse(each.at("graph").string()));
    for (const Json& size : each.at("sizes").values()) {
      sample.sizes.push_back(static_cast<int64_t>(size.number()));
    }
  }
  if (samples.empty()) return lathe::fail("there is no graph");
  std::vector<std::string> symbols;
  for (const Json& each : request.at("symbols").values()) symbols.push_back(each.string());
  std::vector<lathe::graph::StateContent> contents;
  for (const Json& each : request.at("states").values()) {
    const auto offset = static_cast<size_t>(each.at("offset").number());
    const auto size = static_cast<size_t>(each.at("size").number());
    if (offset > weights.size() || size > weights.size() - offset) {
      return lathe::fail("a state is outside of the data");
    }
    contents.push_back({each.at("name").string(), weights.part(weights.data() + offset, size)});
  }
  const lathe::onnx_export::Options options{.name = request.at("name").string(),
                                            .producer_version = request.at("version").string(),
                                            .inputs = names_in(request.at("inputs")),
                                            .outputs = names_in(request.at("outputs"))};
  return lathe::onnx_export::export_onnx(samples, symbols, contents, options);
}

}  // namespace

const char* lathe_onnx_samples(size_t symbols, int32_t attempt) {
  static std::string text;
  text = "[";
  for (const auto& sizes : lathe::onnx_export::sample_sizes(symbols, attempt)) {
    lathe::append(text, text.size() > 1 ? "," : "", lathe::bracketed(sizes));
  }
  return (text += ']').c_str();
}

const size_t* lathe_onnx_export(const char* json, size_t length, void* weights, size_t size) {
  auto result = exported({json, length}, lathe::api::adopt_bytes(weights, size));
  last_export().exported = {};
  if (!result) {
    lathe::api::last_error() = result.error().message;
    return nullptr;
  }
  Exported& file = last_export().exported = std::move(*result);
  last_export().result[0] = reinterpret_cast<size_t>(file.file.data());
  last_export().result[1] = file.file.size();
  last_export().result[2] = file.has_symbols ? 1 : 0;
  return last_export().result;
}

void lathe_onnx_export_free() { last_export().exported = {}; }
