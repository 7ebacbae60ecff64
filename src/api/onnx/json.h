// Models, ports and contents as JSON.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

std::string describe(const ModelProto& model, std::span<const std::string> external_files);
std::string describe(const Trace& trace, bool has_dependencies);

struct TraceRequest {
  std::vector<Port> inputs;
  std::vector<Content> break_values;
  std::vector<CachePair> cache;
  int64_t new_rows = 0;
  std::optional<size_t> mask;
  WeightInputs weights = WeightInputs::None;
  std::vector<std::string> results;
  bool has_dependencies = false;  // whether the reply has `result_dependencies`
};

// Contents are ranges of `data`. Errors name what is missing or wrong.
Result<TraceRequest> read_request(std::string_view json, std::span<const std::byte> data);

}  // namespace lathe::onnx
