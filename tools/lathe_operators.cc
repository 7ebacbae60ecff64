// The verb operators: which operators of ONNX can be imported.
#include <algorithm>

#include "lathe.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/operators.h"

namespace lathe::tool {
namespace {

std::string types_text(onnx::Types types) {
  std::string names;
  for (int64_t number = 0; number < 32; ++number) {
    const auto type = onnx::type_of(number);
    if (!type || (types & onnx::only(*type)) == 0) continue;
    append(names, names.empty() ? "" : ",", onnx::text(*type));
  }
  return names;
}

}  // namespace

Outcome<void> operators(const Arguments&) {
  for (const onnx::Operator& each : onnx::operators()) {
    const std::string name = concat(each.domain.empty() ? "ai.onnx" : each.domain, '.', each.name);
    const std::string versions =
        each.last == onnx::kLatest ? concat(each.since, '-') : concat(each.since, '-', each.last);
    print_line(concat(padded(name, 40), ' ', padded(versions, 8), ' ', types_text(each.types)));
  }
  return {};
}

}  // namespace lathe::tool
