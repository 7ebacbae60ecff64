#include "lathe/import/onnx/tensor_proto.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx {

using formats::ProtobufReader;

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;

// How many elements; nothing where a size is negative or there are too many.
std::optional<int64_t> count_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || (size > 0 && count > kMaxElements / size)) return std::nullopt;
    count *= size;
  }
  return count;
}

// Unpacks elements of less than a byte to one byte each; signed ones are sign-extended.
SharedBytes unpacked(Type type, int64_t count, std::span<const std::byte> data) {
  const int bits = bits_of(type);
  const bool is_signed = scalar::kind_of(dtype_of(type)) == scalar::DTypeKind::Signed;
  std::vector<std::byte> elements(count);
  for (size_t k = 0; k < elements.size(); ++k) {
    const size_t bit = k * static_cast<size_t>(bits);
    int value = static_cast<int>(data[bit / 8] >> (bit % 8)) & ((1 << bits) - 1);
    if (is_signed && value >= 1 << (bits - 1)) value -= 1 << bits;
    elements[k] = static_cast<std::byte>(value);
  }
  return elements;
}

struct Fields {
  std::vector<float> floats;
  std::vector<int32_t> ints;
  std::vector<int64_t> longs;
  std::vector<double> doubles;
  std::vector<uint64_t> unsigned_longs;
  std::vector<std::string> strings;
};

// Bytes of the lists of numbers, each as long as an element: of integers the lowest bytes.
SharedBytes listed(const Fields& fields, Type type) {
  const auto size = bits_of(type) < 8 ? size_t{1} : static_cast<size_t>(bits_of(type)) / 8;
  std::vector<std::byte> data;
  const auto add = [&](const auto& values) {
    for (const auto& value : values) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      data.insert(data.end(), bytes, bytes + std::min(size, sizeof value));
    }
  };
  add(fields.floats);
  add(fields.ints);
  add(fields.longs);
  add(fields.doubles);
  add(fields.unsigned_longs);
  return data;
}

ExternalData with_entry(ExternalData external, ProtobufReader in) {
  std::string key, value;
  while (in.next()) {
    if (in.number() == 1) key = in.string();
    if (in.number() == 2) value = in.string();
  }
  if (key == "location") external.location = value;
  if (key != "offset" && key != "length") return external;
  int64_t& number = key == "offset" ? external.offset : external.length;
  // Decimal digits, spaces around them.
  const size_t first = std::min(value.find_first_not_of(' '), value.size());
  const char* begin = value.data() + first;
  const char* end = value.data() + std::max(value.find_last_not_of(' ') + 1, first);
  const auto read = std::from_chars(begin, end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 0) {
    external.wrong = concat(key, " '", value, '\'');
  }
  return external;
}

// None where there is no such shape.
std::optional<int64_t> bytes_of(Type type, const Shape& shape) {
  const auto count = count_of(shape);
  if (!count) return std::nullopt;
  return (*count * bits_of(type) + 7) / 8;
}

Result<Content> content_of(const std::string& name, Type type, Shape shape, SharedBytes data) {
  const auto bytes = bytes_of(type, shape);
  if (!bytes) {
    return fail(concat("tensor '", name, "': the shape ", bracketed(shape), " is none"));
  }
  if (static_cast<int64_t>(data.size()) != *bytes) {
    return fail(concat("tensor '", name, "': ", text(type), bracketed(shape), " has ", *bytes,
                       " bytes, the file has ", data.size()));
  }
  if (bits_of(type) < 8) data = unpacked(type, *count_of(shape), {data.data(), data.size()});
  return Content{.type = type, .shape = std::move(shape), .data = std::move(data)};
}

}  // namespace

Result<TensorProto> read_tensor(ProtobufReader in, const SharedBytes& file,
                                std::vector<std::string>* unknown_types) {
  TensorProto tensor;
  Shape shape;
  Fields fields;
  std::optional<std::span<const std::byte>> raw;
  int64_t number = 0;
  ExternalData external;
  bool is_external = false;
  while (in.next()) {
    switch (in.number()) {
      case 1:
        in.append_to(shape);
        break;
      case 2:
        number = in.int64();
        break;
      case 4:
        in.append_to(fields.floats);
        break;
      case 5:
        in.append_to(fields.ints);
        break;
      case 6:
        fields.strings.emplace_back(in.string());
        break;
      case 7:
        in.append_to(fields.longs);
        break;
      case 8:
        tensor.name = in.string();
        break;
      case 9:
        raw = in.bytes();
        break;
      case 10:
        in.append_to(fields.doubles);
        break;
      case 11:
        in.append_to(fields.unsigned_longs);
        break;
      case 13:
        external = with_entry(std::move(external), in.message());
        break;
      case 14:
        is_external = in.int64() == 1;
        break;
      default:
        break;
    }
  }
  LATHE_TRY(in.status());
  const auto type = type_of(number);
  if (!type) {
    std::string why = concat("tensor '", tensor.name, "': ", no_type(number));
    if (unknown_types == nullptr) return fail(std::move(why));
    unknown_types->push_back(std::move(why));
    tensor.content.shape = {0};
    return tensor;
  }
  if (is_external) {
    if (!count_of(shape)) {
      return fail(concat("tensor '", tensor.name, "': the shape ", bracketed(shape), " is none"));
    }
    tensor.content = {.type = *type, .shape = std::move(shape)};
    tensor.external = std::make_shared<const ExternalData>(std::move(external));
    return tensor;
  }
  if (*type == Type::String) {
    if (count_of(shape) != static_cast<int64_t>(fields.strings.size())) {
      return fail(concat("tensor '", tensor.name, "': the shape ", bracketed(shape),
                         " does not have the ", fields.strings.size(), " strings of the file"));
    }
    tensor.content = strings_content(std::move(shape), std::move(fields.strings));
    return tensor;
  }
  SharedBytes data = raw ? file.part(raw->data(), raw->size()) : listed(fields, *type);
  LATHE_ASSIGN_OR_RETURN(tensor.content, content_of(tensor.name, *type, std::move(shape), data));
  return tensor;
}

Result<TensorProto> read_sparse_tensor(ProtobufReader in, const SharedBytes& file,
                                       int64_t& budget) {
  TensorProto values, indices;
  Shape shape;
  while (in.next()) {
    if (in.number() == 1) {
      LATHE_ASSIGN_OR_RETURN(values, read_tensor(in.message(), file));
    } else if (in.number() == 2) {
      LATHE_ASSIGN_OR_RETURN(indices, read_tensor(in.message(), file));
    } else if (in.number() == 3) {
      in.append_to(shape);
    }
  }
  LATHE_TRY(in.status());
  const std::string what = concat("sparse tensor '", values.name, "': ");
  const auto count = count_of(shape);
  if (!count || *count > budget) {
    return fail(concat(what, "the shape ", bracketed(shape), " is none, or too large: all sparse ",
                       "tensors of a model may have ", kMaxSparseElements, " elements"));
  }
  budget -= *count;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t count_of_values = values.content.count();
  const bool is_flat = indices.content.shape.size() == 1;
  if (values.external || indices.external || values.content.type == Type::String ||
      indices.content.type != Type::Int64 ||
      indices.content.count() != (is_flat ? count_of_values : count_of_values * rank)) {
    return fail(concat(what, "its indices must be int64[count] or int64[count, rank]"));
  }
  const DType dtype = dtype_of(values.content.type);
  std::vector<std::byte> data(static_cast<size_t>(*count) * scalar::size_of(dtype));
  const std::span<const std::byte> from(values.content.data.data(), values.content.data.size());
  for (int64_t k = 0; k < count_of_values; ++k) {
    int64_t at = 0;
    for (int64_t axis = 0; axis < (is_flat ? 1 : rank); ++axis) {
      const int64_t index = indices.content.integer(is_flat ? k : k * rank + axis);
      const int64_t size = is_flat ? *count : shape[axis];
      if (index < 0 || index >= size) return fail(concat(what, "index ", index, " is outside"));
      at = at * size + index;
    }
    graph::store(data, at, graph::load(dtype, from, k));
  }
  values.content.shape = std::move(shape);
  values.content.data = std::move(data);
  return values;
}

Result<Content> external_content(const TensorProto& tensor, const SharedBytes& file) {
  const ExternalData& external = *tensor.external;
  if (!external.wrong.empty()) {
    return fail(concat("tensor '", tensor.name, "': the ", external.wrong, " of its data in '",
                       external.location, "' is no number of bytes"));
  }
  const auto size = static_cast<int64_t>(file.size());
  const int64_t available = size - std::clamp<int64_t>(external.offset, 0, size);
  const int64_t length =
      external.length < 0
          ? std::min(available,
                     bytes_of(tensor.content.type, tensor.content.shape).value_or(available))
          : external.length;
  if (external.offset < 0 || external.offset > size || length > available) {
    const uint64_t end = static_cast<uint64_t>(external.offset) + static_cast<uint64_t>(length);
    return fail(concat("tensor '", tensor.name, "': bytes ", external.offset, " to ", end, " of '",
                       external.location, "', which has ", size));
  }
  const Content& declared = tensor.content;
  return content_of(tensor.name, declared.type, declared.shape,
                    file.part(file.data() + external.offset, static_cast<size_t>(length)));
}

}  // namespace lathe::onnx
