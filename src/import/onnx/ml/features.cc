// What prepares tables for models: scales, categories, missing values, labels, maps.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "lathe/base/text.h"
#include "lathe/import/onnx/ml/ml.h"
#include "lathe/import/onnx/operators/movement.h"
#include "lathe/import/onnx/strings/strings.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

namespace {

// One number, or one for each feature of x, as a tensor of its type that broadcasts with it.
template <class T>
Result<Tensor> per_feature(Call& call, Tensor x, const std::vector<T>& values, DType dtype) {
  const auto count = static_cast<int64_t>(values.size());
  if (count != 1 && (x.rank() == 0 || count != x.shape().back())) {
    return call.reject(concat(count, " values do not fit the features of ", bracketed(x.shape())));
  }
  const Content table = numbers_content(type_of(dtype), {count}, {values.begin(), values.end()});
  return call.builder().constant(dtype, table.shape, table.data);
}

Tensor is_nan(Tensor x) { return x.builder->map(Op::Ne, std::array{x, x}); }

}  // namespace

Result<Values> scaler(Call& call) {
  const Tensor x = call.builder().cast(call.tensor(0), DType::F32);
  const std::vector<float> offsets = call.floats_of("offset"), scales = call.floats_of("scale");
  Tensor y = x;
  if (!offsets.empty()) {
    LATHE_ASSIGN_OR_RETURN(const Tensor offset, per_feature(call, x, offsets, DType::F32));
    y = y - offset;
  }
  if (!scales.empty()) {
    LATHE_ASSIGN_OR_RETURN(const Tensor scale, per_feature(call, x, scales, DType::F32));
    y = y * scale;
  }
  return Values{y};
}

Result<Values> normalizer(Call& call) {
  const Tensor x = call.builder().cast(call.tensor(0), DType::F32);
  if (x.rank() < 1 || x.rank() > 2) {
    return call.reject(
        concat("input ", bracketed(x.shape()), " is neither [features] nor [n, features]"));
  }
  const std::string norm = call.string_of("norm", "MAX");
  Tensor size;
  if (norm == "MAX") {
    size = max(x, {-1}, true);
  } else if (norm == "L1") {
    size = sum(absolute(x), {-1}, true);
  } else if (norm == "L2") {
    size = graph::sqrt(sum(x * x, {-1}, true));
  } else {
    return call.reject(concat("knows no norm '", norm, '\''));
  }
  return Values{select(size == zero(size), x, x / size)};
}

Result<Values> binarizer(Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor limit = call.builder().full({}, scalar::Number::of(call.float_of("threshold", 0)));
  const DType dtype = scalar::is_float(x.dtype()) ? x.dtype() : DType::F32;
  const Tensor is_above = call.builder().convert(x, dtype) > call.builder().convert(limit, dtype);
  return Values{call.builder().convert(is_above, x.dtype())};
}

Result<Values> imputer(Call& call) {
  const Tensor x = call.tensor(0);
  Builder& builder = call.builder();
  if (scalar::is_float(x.dtype())) {
    LATHE_ASSIGN_OR_RETURN(const Tensor value,
                           per_feature(call, x, call.floats_of("imputed_value_floats"), x.dtype()));
    const float replaced = call.float_of("replaced_value_float", 0);
    const Tensor old = builder.full({}, scalar::Number::from(x.dtype(), replaced));
    return Values{select(std::isnan(replaced) ? is_nan(x) : x == old, value, x)};
  }
  LATHE_ASSIGN_OR_RETURN(const Tensor value,
                         per_feature(call, x, call.ints_of("imputed_value_int64s"), x.dtype()));
  const Tensor old =
      builder.full({}, scalar::Number::integer(x.dtype(), call.int_of("replaced_value_int64", 0)));
  return Values{select(x == old, value, x)};
}

Result<Values> feature_vectorizer(Call& call) {
  const std::vector<int64_t> sizes = call.ints_of("inputdimensions");
  std::vector<Tensor> parts;
  for (size_t k = 0; k < call.operands(); ++k) {
    Tensor x = call.builder().cast(call.tensor(k), DType::F32);
    if (x.rank() == 1) x = ops::expand_dims(x, 0);
    if (x.rank() != 2) {
      return call.reject(concat("input ", k, ' ', bracketed(x.shape()),
                                " is neither [features] nor [n, features]"));
    }
    const int64_t more = k < sizes.size() ? sizes[k] - x.shape()[1] : 0;
    parts.push_back(ops::pad(x, {{0, 0}, {0, more}}, 0));
  }
  if (parts.empty()) return call.reject("has no inputs");
  return Values{ops::concatenate(parts, 1)};
}

namespace {

Result<Values> extracted(Call& call) {
  Tensor x = call.tensor(0);
  if (x.rank() == 0) return call.reject("input 0 is a single number");
  if (x.rank() == 1) x = ops::expand_dims(x, 0);
  const Tensor indices = ops::wrap_negative_indices(ops::flatten(call.tensor(1)), x.shape().back());
  return like_operand(call, ops::gather(x, indices, -1));
}

}  // namespace

Result<Values> array_feature_extractor(Call& call) { return with_strings(call, extracted); }

Result<Values> one_hot_encoder(Call& call) {
  Builder& builder = call.builder();
  const bool must_hit = call.int_of("zeros", 1) == 0;
  if (call.type(0) == Type::String) {
    LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
    const std::vector<std::string> categories = call.strings_of("cats_strings");
    std::vector<double> hot;
    for (const std::string& each : x->strings) {
      if (must_hit && std::ranges::count(categories, each) == 0) {
        return call.reject(concat("there is no category '", each, '\''));
      }
      for (const std::string& category : categories) hot.push_back(category == each ? 1 : 0);
    }
    Shape shape = x->shape;
    shape.push_back(static_cast<int64_t>(categories.size()));
    return Values{numbers_content(Type::Float32, std::move(shape), hot)};
  }
  const std::vector<int64_t> categories = call.ints_of("cats_int64s");
  const Content table =
      integers_content(Type::Int64, {static_cast<int64_t>(categories.size())}, categories);
  const Tensor all = builder.constant(DType::I64, table.shape, table.data);
  const Tensor hits = ops::expand_dims(builder.cast(call.tensor(0), DType::I64), -1) == all;
  if (must_hit) {
    const Tensor is_hit = ops::reduce_all(ops::reduce_any(hits, std::vector{-1}, false), {}, false);
    LATHE_ASSIGN_OR_RETURN(const Content content, call.tracer().content(Value(is_hit)));
    if (content.integer(0) == 0) return call.reject("a number is of no category");
  }
  return Values{builder.cast(hits, DType::F32)};
}

namespace {

// Keys or values of a LabelEncoder: one list of several.
Content list_of(const Call& call, const std::string& what) {
  if (const AttributeProto* tensor = call.attribute(concat(what, "_tensor"))) {
    if (!tensor->tensors.empty()) return tensor->tensors[0].content;
  }
  const auto integers = call.ints_of(concat(what, "_int64s"));
  if (!integers.empty()) {
    return integers_content(Type::Int64, {static_cast<int64_t>(integers.size())}, integers);
  }
  const auto floats = call.floats_of(concat(what, "_floats"));
  if (!floats.empty()) {
    return numbers_content(Type::Float32, {static_cast<int64_t>(floats.size())},
                           {floats.begin(), floats.end()});
  }
  auto strings = call.strings_of(concat(what, "_strings"));
  const auto count = static_cast<int64_t>(strings.size());
  return strings_content({count}, std::move(strings));
}

// The default value of a missing key.
Content default_of(const Call& call, Type type) {
  if (const AttributeProto* tensor = call.attribute("default_tensor")) {
    if (!tensor->tensors.empty()) return tensor->tensors[0].content;
  }
  if (type == Type::String)
    return strings_content({}, {call.string_of("default_string", "_Unused")});
  if (scalar::is_float(dtype_of(type))) {
    return numbers_content(type, {}, {call.float_of("default_float", -0.0f)});
  }
  return integers_content(type, {}, {call.int_of("default_int64", -1)});
}

// The index of each key of x, the last of equal ones; the number of keys if there is none.
Result<Value> indices_of(Call& call, const Content& keys) {
  const auto count = static_cast<int32_t>(keys.count());
  if (call.type(0) == Type::String || keys.type == Type::String) {
    LATHE_ASSIGN_OR_RETURN(const Content* x, strings_operand(call, 0));
    std::map<std::string_view, int64_t> found;
    for (size_t k = 0; k < keys.strings.size(); ++k)
      found[keys.strings[k]] = static_cast<int64_t>(k);
    std::vector<int64_t> indices;
    for (const std::string& each : x->strings) {
      const auto at = found.find(each);
      indices.push_back(at == found.end() ? count : at->second);
    }
    return Value(integers_content(Type::Int32, x->shape, indices));
  }
  Builder& builder = call.builder();
  const Tensor x = ops::expand_dims(call.tensor(0), -1);
  const Tensor all =
      builder.convert(builder.constant(dtype_of(keys.type), {count}, keys.data), x.dtype());
  Tensor hits = x == all;
  if (scalar::is_float(x.dtype())) {
    const Tensor both = builder.map(Op::And, std::array{is_nan(x), is_nan(all)});
    hits = builder.map(Op::Or, std::array{hits, both});
  }
  const Tensor position = builder.iota({count}, 0), none = builder.full({}, scalar::Number::of(-1));
  const Tensor last = builder.reduce(Op::Max, select(hits, position, none), {-1});
  return Value(select(last < zero(last), builder.full({}, scalar::Number::of(count)), last));
}

// The value at each index, or the default at the index past the end.
Result<Values> looked_up(Call& call, const Value& indices, const Content& values) {
  const Content standard = default_of(call, values.type);
  if ((standard.type == Type::String) != (values.type == Type::String) || standard.count() != 1) {
    return call.reject("its default is not one value of the type of the others");
  }
  if (values.type == Type::String) {
    LATHE_ASSIGN_OR_RETURN(const Content content, call.tracer().content(indices));
    std::vector<std::string> chosen;
    for (int64_t k = 0; k < content.count(); ++k) {
      const auto at = static_cast<size_t>(content.integer(k));
      chosen.push_back(at < values.strings.size() ? values.strings[at] : standard.strings.at(0));
    }
    return Values{strings_content(content.shape, std::move(chosen))};
  }
  Builder& builder = call.builder();
  const DType dtype = dtype_of(values.type);
  const Tensor table = builder.constant(dtype, {values.count()}, values.data);
  const Tensor other =
      builder.convert(builder.constant(dtype_of(standard.type), {1}, standard.data), dtype);
  const Tensor all = ops::concatenate({table, other}, 0);
  return Values{Value(ops::gather(all, call.tracer().tensor(indices), 0), values.type)};
}

}  // namespace

Result<Values> label_encoder(Call& call) {
  Content keys = list_of(call, "keys"), values = list_of(call, "values");
  if (call.version() == 1) {
    auto classes = call.strings_of("classes_strings");
    std::vector<int64_t> numbers;
    for (size_t k = 0; k < classes.size(); ++k) numbers.push_back(static_cast<int64_t>(k));
    const auto count = static_cast<int64_t>(classes.size());
    keys = strings_content({count}, std::move(classes));
    values = integers_content(Type::Int64, {count}, numbers);
    if (call.type(0) != Type::String) std::swap(keys, values);
  }
  if (keys.count() == 0 || keys.count() != values.count()) {
    return call.reject(concat("has ", keys.count(), " keys and ", values.count(), " values"));
  }
  LATHE_ASSIGN_OR_RETURN(const Value indices, indices_of(call, keys));
  return looked_up(call, indices, values);
}

Result<Values> category_mapper(Call& call) {
  auto names = call.strings_of("cats_strings");
  const auto numbers = call.ints_of("cats_int64s");
  const auto count = static_cast<int64_t>(names.size());
  if (names.empty() || names.size() != numbers.size()) {
    return call.reject(concat("has ", names.size(), " texts and ", numbers.size(), " numbers"));
  }
  Content keys = strings_content({count}, std::move(names));
  Content values = integers_content(Type::Int64, {count}, numbers);
  if (call.type(0) != Type::String) std::swap(keys, values);
  LATHE_ASSIGN_OR_RETURN(const Value indices, indices_of(call, keys));
  return looked_up(call, indices, values);
}

}  // namespace lathe::onnx::rows
