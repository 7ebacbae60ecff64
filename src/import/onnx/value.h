// A value of an ONNX graph during tracing.
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
  // Element `index` of a numeric or boolean tensor.
  double number(int64_t index) const;
  int64_t integer(int64_t index) const;
};

// Integers that are linear in the length (the row count of a cache or padded input): their values
// at full capacity, and their increments per row.
struct LinearIntegers {
  std::vector<int64_t> values, steps;
};

Content integers_content(Type type, Shape shape, const std::vector<int64_t>& values);
Content numbers_content(Type type, Shape shape, const std::vector<double>& values);
Content strings_content(Shape shape, std::vector<std::string> strings);

// What a value of a model with caches depends on (bits): elements of the attention mask, sizes that
// include the cache's capacity, the cached rows themselves.
inline constexpr uint8_t kMaskElements = 1, kCapacitySizes = 2, kCachedRows = 4;

// A tensor of the graph or a constant one; a sequence; a map; nothing, as an absent optional.
struct Value {
  enum class Kind : uint8_t { None, Tensor, Sequence, Map };

  Value() = default;
  Value(Tensor x) : Value(x, type_of(x.dtype())) {}
  // Of an ONNX type that x stores as another: see types.def.
  Value(Tensor x, Type of) : kind(Kind::Tensor), type(of), tensor(x) {}
  Value(Content content);
  Value(std::shared_ptr<const Content> content)
      : kind(Kind::Tensor), type(content->type), constant(std::move(content)) {}

  Kind kind = Kind::None;
  Type type = Type::Float32;                // of the elements, of a sequence too
  Tensor tensor = {};                       // invalid if there is only a constant
  std::shared_ptr<const Content> constant;  // always for strings; for numbers without a node
  std::vector<Value> elements;              // of a sequence; of a map its keys and its values
  uint8_t cache_dependence = 0;             // kMaskElements | …

  bool is_tensor() const { return kind == Kind::Tensor; }
  bool is_none() const { return kind == Kind::None; }
  // By value: that of a tensor moves when its graph grows.
  Shape shape() const { return constant ? constant->shape : tensor.shape(); }
  int rank() const { return constant ? static_cast<int>(constant->shape.size()) : tensor.rank(); }
};

using Values = std::vector<Value>;

}  // namespace lathe::onnx
