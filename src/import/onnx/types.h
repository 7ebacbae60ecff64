// The element types of ONNX.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lathe/graph/graph.h"

namespace lathe::onnx {

using graph::DType;
using graph::Shape;

// Numbered as TensorProto.DataType.
enum class Type : uint8_t {
#define LATHE_ONNX_TYPE(name, number, ...) name = number,
#include "lathe/import/onnx/types.def"
};

std::optional<Type> type_of(int64_t number);
// "there is no element type complex64": the error for an unsupported number.
std::string no_type(int64_t number);
Type type_of(DType dtype);  // the ONNX type of the same name
DType dtype_of(Type type);  // of the tensor that stores it
int bits_of(Type type);     // of one element in raw data; 0: strings
std::string_view text(Type type);

// The set of types that an operator supports as its first operand.
using Types = uint32_t;
std::string text(Types types);  // "float32, int64"
constexpr Types only(Type type) { return Types{1} << static_cast<int>(type); }
template <class... Each>
constexpr Types any_of(Each... each) {
  return (only(each) | ...);
}
constexpr Types kFloats = any_of(Type::Float16, Type::BFloat16, Type::Float32, Type::Float64);
constexpr Types kSigned = any_of(Type::Int8, Type::Int16, Type::Int32, Type::Int64);
constexpr Types kUnsigned = any_of(Type::UInt8, Type::UInt16, Type::UInt32, Type::UInt64);
constexpr Types kIntegers = kSigned | kUnsigned;
constexpr Types kNumbers = kFloats | kIntegers;
constexpr Types kBool = only(Type::Bool);
constexpr Types kStrings = only(Type::String);
constexpr Types kFloat8 = any_of(Type::Float8E4M3FN, Type::Float8E4M3FNUZ, Type::Float8E5M2,
                                 Type::Float8E5M2FNUZ, Type::Float8E8M0);
constexpr Types kPacked =
    any_of(Type::UInt4, Type::Int4, Type::UInt2, Type::Int2, Type::Float4E2M1);
constexpr Types kTensors = kNumbers | kBool | kStrings;  // supported by operators that move data
constexpr Types kAll = kTensors | kFloat8 | kPacked;

}  // namespace lathe::onnx
