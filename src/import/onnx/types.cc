#include "lathe/import/onnx/types.h"

#include "lathe/base/text.h"

namespace lathe::onnx {

std::optional<Type> type_of(int64_t number) {
  switch (number) {
#define LATHE_ONNX_TYPE(name, number, ...) \
  case number:                             \
    return Type::name;
#include "lathe/import/onnx/types.def"
    default:
      return std::nullopt;
  }
}

std::string no_type(int64_t number) {
  if (number == 14) return "there is no element type complex64";
  if (number == 15) return "there is no element type complex128";
  return concat("there is no element type ", number);
}

Type type_of(DType dtype) {
  // The first row of a type is the one that is named so; of u8 strings come later.
#define LATHE_ONNX_TYPE(name, number, text, stored, bits) \
  if (dtype == DType::stored) return Type::name;
#include "lathe/import/onnx/types.def"
  return Type::Float32;
}

DType dtype_of(Type type) {
  switch (type) {
#define LATHE_ONNX_TYPE(name, number, text, stored, ...) \
  case Type::name:                                       \
    return DType::stored;
#include "lathe/import/onnx/types.def"
  }
  return DType::F32;
}

int bits_of(Type type) {
  switch (type) {
#define LATHE_ONNX_TYPE(name, number, text, stored, bits) \
  case Type::name:                                        \
    return bits;
#include "lathe/import/onnx/types.def"
  }
  return 0;
}

std::string_view text(Type type) {
  switch (type) {
#define LATHE_ONNX_TYPE(name, number, text, ...) \
  case Type::name:                               \
    return text;
#include "lathe/import/onnx/types.def"
  }
  return "";
}

std::string text(Types types) {
  std::string all;
#define LATHE_ONNX_TYPE(name, number, text, ...) \
  if ((types & only(Type::name)) != 0) append(all, all.empty() ? "" : ", ", text);
#include "lathe/import/onnx/types.def"
  return all;
}

}  // namespace lathe::onnx
