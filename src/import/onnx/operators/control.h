// What branches and loops share.
#pragma once

#include <string_view>

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx::rows {

// The graph of an attribute. Error: there is none.
Result<const GraphProto*> graph_of(Call& call, std::string_view name);
// Whether both are tensors of one type and shape.
bool same_types(const Value& a, const Value& b);
// Whether all are numeric tensors, which graph nodes support.
bool all_tensors(const Values& values);
// Values of steps, along a new axis.
Value stacked(Tracer& tracer, const Values& steps, int axis);

}  // namespace lathe::onnx::rows
