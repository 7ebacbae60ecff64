// What a name of an ONNX graph stands for while it is written down.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lathe/base/shared_bytes.h"
#include "lathe/graph/builder.h"
#include "lathe/import/onnx/types.h"

namespace lathe::onnx {

using graph::Tensor;

// The elements of a tensor, in row-major order: `data` little-endian as dtype_of(type) is stored,
// or `strings`.
struct Content {
  Type type = Type::Float32;
  Shape shape = {};
  SharedBytes data = {};
  std::vector<std::string> strings = {};

  int64_t count() const { return graph::element_count(shape); }
  // Element number `index` of numbers and truths.
  double number(int64_t index) const;
  int64_t integer(int64_t index) const;
};

// Integers that follow from how many rows a decoder keeps: what they are for full states, and by
// how much each grows with every row.
struct Counted {
  std::vector<int64_t> values, steps;
};

Content integers_content(Type type, Shape shape, const std::vector<int64_t>& values);
Content numbers_content(Type type, Shape shape, const std::vector<double>& values);
Content strings_content(Shape shape, std::vector<std::string> strings);

// What a value of a model that keeps rows follows from: elements of the mask that says which count,
// sizes in which their room does, or they themselves.
inline constexpr uint8_t kMaskElements = 1, kRoomSizes = 2, kKeptRows = 4;

// A tensor of the graph, or one whose elements are known; a sequence; a map; nothing, as what is
// optional may be.
struct Value {
  enum class Kind : uint8_t { None, Tensor, Sequence, Map };

  Value() = default;
  Value(Tensor x) : Value(x, type_of(x.dtype())) {}
  // Of a type that x only holds: see types.def.
  Value(Tensor x, Type of) : kind(Kind::Tensor), type(of), tensor(x) {}
  Value(Content content) : Value(std::make_shared<const Content>(std::move(content))) {}
  Value(std::shared_ptr<const Content> content)
      : kind(Kind::Tensor), type(content->type), known(std::move(content)) {}

  Kind kind = Kind::None;
  Type type = Type::Float32;             // of the elements, of a sequence too
  Tensor tensor = {};                    // invalid where only the content stands
  std::shared_ptr<const Content> known;  // strings always; others where nobody had to compute
  std::vector<Value> elements;           // of a sequence; of a map its keys and its values
  uint8_t follows = 0;                   // of these

  bool is_tensor() const { return kind == Kind::Tensor; }
  bool is_none() const { return kind == Kind::None; }
  // A copy: that of a tensor moves while its graph grows.
  Shape shape() const { return known ? known->shape : tensor.shape(); }
  int rank() const { return known ? static_cast<int>(known->shape.size()) : tensor.rank(); }
};

using Values = std::vector<Value>;

}  // namespace lathe::onnx
