// The table of operators.
#pragma once

#include <span>
#include <string_view>

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx {

constexpr int kLatest = 1 << 20;

struct Operator {
  std::string_view domain, name;
  int since, last;
  Types types;
  std::string_view moved;
  Result<Values> (*function)(Call& call);  // null: `op` on every element
  graph::Op op;
  bool supports_padding;  // of padded axes, see padded_axes.h
};

std::span<const Operator> operators();
// The row for this version, or null.
const Operator* find_operator(std::string_view domain, std::string_view name, int version);

// Each row's function.
namespace rows {
#define ONNX_OPERATOR(domain, name, since, last, types, moved, function) \
  Result<Values> function(Call& call);
#include "lathe/import/onnx/trace/operators.def"
}  // namespace rows

}  // namespace lathe::onnx
