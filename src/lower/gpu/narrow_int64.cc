#include "lathe/lower/gpu/narrow_int64.h"

#include <memory>
#include <utility>
#include <vector>

#include "lathe/base/text.h"

namespace lathe::lower::gpu {

using graph::DType;
using graph::Kind;
using graph::Node;
using scalar::Number;

namespace {

bool is_long(DType dtype) { return dtype == DType::I64 || dtype == DType::U64; }

DType narrowed(DType dtype) {
  return dtype == DType::I64 ? DType::I32 : dtype == DType::U64 ? DType::U32 : dtype;
}

Result<Number> narrowed(const Number& number) {
  const DType to = narrowed(number.dtype);
  if (number.same_bits(Number::lowest(number.dtype))) return Number::lowest(to);
  if (number.same_bits(Number::highest(number.dtype))) return Number::highest(to);
  const Number result = scalar::cast(number, to);
  if (scalar::cast(result, number.dtype).same_bits(number)) return result;
  return fail(concat("the constant ", number.i, " needs ", scalar::text(number.dtype),
                     ", which shaders do not have"));
}

Result<SharedBytes> narrowed(const SharedBytes& data, DType dtype) {
  constexpr size_t kLong = 8, kShort = 4;
  std::vector<std::byte> bytes(data.size() / kLong * kShort);
  for (size_t i = 0; i < data.size() / kLong; ++i) {
    LATHE_ASSIGN_OR_RETURN(const Number number,
                           narrowed(scalar::load_element(dtype, data.data() + i * kLong)));
    scalar::store_element(bytes.data() + i * kShort, number);
  }
  return SharedBytes(std::move(bytes));
}

Status check_operation(const Node& node) {
  const bool is_map = node.kind == Kind::Map;
  const std::string_view name = is_map ? scalar::info(node.op).text : graph::text(node.kind);
  if (node.dtype == DType::F64)
    return fail(concat("shaders have no f64, the type of a ", name, "; cast it to f32"));
  if (!is_map || !is_long(node.dtype)) return {};
  if (scalar::info(node.op).signature != scalar::Signature::Shift) return {};
  return fail(concat(name, " of ", scalar::text(node.dtype),
                     ", which shaders do not have; cast it to i32"));
}

}  // namespace

Status narrow_int64(graph::Graph& graph) {
  for (Node& node : graph.nodes) {
    LATHE_TRY(check_operation(node));
    if (node.body) {
      auto body = std::make_shared<graph::Graph>(*node.body);
      LATHE_TRY(narrow_int64(*body));
      node.body = std::move(body);
    }
    if (node.kind == Kind::Constant && is_long(node.dtype)) {
      LATHE_ASSIGN_OR_RETURN(node.data, narrowed(node.data, node.dtype));
    }
    node.dtype = narrowed(node.dtype);
    if (node.kind == Kind::Cast && graph[node.operands[0]].dtype == node.dtype) {
      node.kind = Kind::Reshape;  // to the same shape
      node.loose = false;
    }
  }
  return {};
}

}  // namespace lathe::lower::gpu
