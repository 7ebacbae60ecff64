// Maps from numbers or strings to values. A map is constant keys and a tensor of as many values.
#include <algorithm>
#include <array>

#include "lathe/base/sort.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/movement.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

namespace {

// The keys and values of the map that is operand 0.
struct Entries {
  Content keys;
  Value values;
};
Result<Entries> entries_of(Call& call) {
  const Value& map = call.operand(0);
  if (map.kind != Value::Kind::Map || map.elements.size() != 2) {
    return call.reject("input 0 is no map");
  }
  LATHE_ASSIGN_OR_RETURN(Content keys, call.tracer().content(map.elements[0]));
  return Entries{std::move(keys), map.elements[1]};
}

// The values of the map at these indices, with a zero or an empty string for -1.
Result<Values> picked(Call& call, const Value& values, const std::vector<int64_t>& indices) {
  const auto count = static_cast<int64_t>(indices.size());
  if (values.type == Type::String) {
    std::vector<std::string> chosen;
    for (const int64_t at : indices) {
      const auto index = static_cast<size_t>(at);
      const bool is_there = at >= 0 && values.constant && index < values.constant->strings.size();
      chosen.push_back(is_there ? values.constant->strings[index] : std::string{});
    }
    return Values{strings_content({count}, std::move(chosen))};
  }
  const Tensor x = ops::flatten(call.tracer().tensor(values));
  std::vector<Tensor> parts;
  for (const int64_t at : indices) {
    parts.push_back(at < 0 ? call.builder().full({1}, scalar::Number::from(x.dtype(), 0))
                           : ops::slice(x, {at}, Shape{1}));
  }
  if (parts.empty()) return Values{ops::slice(x, {0}, Shape{0})};
  return Values{Value(ops::concatenate(parts, 0), values.type)};
}

}  // namespace

// A sequence of maps, one for each row.
Result<Values> zip_map(Call& call) {
  Tensor x = call.tensor(0);
  if (x.rank() == 1) x = ops::expand_dims(x, 0);
  auto names = call.strings_of("classlabels_strings");
  const auto numbers = call.ints_of("classlabels_int64s");
  const auto count = static_cast<int64_t>(std::max(names.size(), numbers.size()));
  if (x.rank() != 2 || x.shape()[1] != count) {
    return call.reject(concat(count, " keys do not fit the columns of ", bracketed(x.shape())));
  }
  const Value keys(names.empty() ? integers_content(Type::Int64, {count}, numbers)
                                 : strings_content({count}, std::move(names)));
  Value sequence;
  sequence.kind = Value::Kind::Sequence;
  for (int64_t row = 0; row < x.shape()[0]; ++row) {
    Value map;
    map.kind = Value::Kind::Map;
    map.type = keys.type;
    const Tensor values = ops::reshape(ops::slice(x, {row, 0}, Shape{1, count}), {count});
    map.elements = {keys, Value(values)};
    sequence.elements.push_back(std::move(map));
  }
  return Values{std::move(sequence)};
}

Result<Values> dict_vectorizer(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Entries map, entries_of(call));
  const auto names = call.strings_of("string_vocabulary");
  const auto numbers = call.ints_of("int64_vocabulary");
  std::vector<int64_t> indices;
  if (map.keys.type == Type::String) {
    for (const std::string& each : names) {
      const auto found = std::ranges::find(map.keys.strings, each);
      indices.push_back(found == map.keys.strings.end() ? -1 : found - map.keys.strings.begin());
    }
  } else {
    for (const int64_t each : numbers) {
      int64_t index = -1;
      for (int64_t k = 0; k < map.keys.count(); ++k) {
        if (map.keys.integer(k) == each) index = k;
      }
      indices.push_back(index);
    }
  }
  return picked(call, map.values, indices);
}

// The values of a map with integer keys in ascending order of the keys, or indexed by them.
Result<Values> cast_map(Call& call) {
  constexpr int64_t kMaxMap = int64_t{1} << 24;
  LATHE_ASSIGN_OR_RETURN(const Entries map, entries_of(call));
  if (map.keys.type == Type::String) return call.reject("its keys must be integers");
  std::vector<std::pair<int64_t, int64_t>> order;
  for (int64_t k = 0; k < map.keys.count(); ++k) order.emplace_back(map.keys.integer(k), k);
  sort_ascending(order);
  std::vector<int64_t> indices;
  LATHE_ASSIGN_OR_RETURN(const auto form, call.choice_of("map_form", {"DENSE", "SPARSE"}));
  if (form == "SPARSE") {
    const int64_t size = call.int_of("max_map", 1);
    if (size < 0 || size > kMaxMap) return call.reject(concat("max_map ", size, " is no size"));
    indices.assign(size, -1);
    for (const auto& [key, at] : order) {
      if (key < 0 || key >= size) return call.reject(concat("key ", key, " is not below ", size));
      indices[key] = at;
    }
  } else {
    for (const auto& [key, at] : order) indices.push_back(at);
  }
  LATHE_ASSIGN_OR_RETURN(Values values, picked(call, map.values, indices));
  LATHE_ASSIGN_OR_RETURN(const auto to,
                         call.choice_of("cast_to", {"TO_FLOAT", "TO_STRING", "TO_INT64"}));
  if (values[0].type == Type::String) {
    return to == "TO_STRING" ? Result<Values>(std::move(values))
                             : call.reject("does not convert strings to numbers");
  }
  if (to == "TO_STRING") return call.reject("does not convert numbers to strings");
  const DType dtype = to == "TO_INT64" ? DType::I64 : DType::F32;
  return Values{call.builder().convert(call.tracer().tensor(values[0]), dtype)};
}

}  // namespace lathe::onnx::rows
