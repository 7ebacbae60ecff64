#include "lathe/import/onnx/value.h"

#include "lathe/graph/elements.h"

namespace lathe::onnx {

namespace {

scalar::Number element(const Content& content, int64_t index) {
  const std::span<const std::byte> data(content.data.data(), content.data.size());
  return graph::load(dtype_of(content.type), data, index);
}

template <class T>
Content content_of(Type type, Shape shape, const std::vector<T>& values) {
  const DType dtype = dtype_of(type);
  std::vector<std::byte> data(values.size() * scalar::size_of(dtype));
  for (size_t k = 0; k < values.size(); ++k) {
    graph::store(data, static_cast<int64_t>(k), scalar::cast(scalar::Number::of(values[k]), dtype));
  }
  return {.type = type, .shape = std::move(shape), .data = std::move(data)};
}

}  // namespace

double Content::number(int64_t index) const { return element(*this, index).as_double(); }

int64_t Content::integer(int64_t index) const {
  return scalar::cast(element(*this, index), DType::I64).i;
}

Content integers_content(Type type, Shape shape, const std::vector<int64_t>& values) {
  return content_of(type, std::move(shape), values);
}

Content numbers_content(Type type, Shape shape, const std::vector<double>& values) {
  return content_of(type, std::move(shape), values);
}

Content strings_content(Shape shape, std::vector<std::string> strings) {
  return {.type = Type::String, .shape = std::move(shape), .strings = std::move(strings)};
}

Value::Value(Content content) : Value(std::make_shared<const Content>(std::move(content))) {}

}  // namespace lathe::onnx
