#include "data.h"

#include <cmath>
#include <fstream>
#include <iterator>

#include "lathe/base/text.h"
#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/tensor_proto.h"

namespace lathe::onnx {

using formats::ProtobufReader;

namespace {

Result<Data> read_message(ProtobufReader in, const SharedBytes& file, const TypeProto& type) {
  using Kind = TypeProto::Kind;
  if (type.kind == Kind::Tensor) {
    LATHE_ASSIGN_OR_RETURN(TensorProto tensor, read_tensor(in, file));
    return Data(std::move(tensor.content));
  }
  // Of both the fields 3 and 5 hold tensors and sequences.
  Data data;
  if (type.kind == Kind::Sequence) data.kind = Value::Kind::Sequence;
  if (data.kind == Value::Kind::Sequence) data.type = type.element->type;
  while (in.next()) {
    if (in.number() != 3 && in.number() != 5 && in.number() != 7) continue;
    LATHE_ASSIGN_OR_RETURN(Data element, read_message(in.message(), file, *type.element));
    if (type.kind == Kind::Optional) return element;
    data.elements.push_back(std::move(element));
  }
  LATHE_TRY(in.status());
  return data;
}

bool is_close(double expected, double got, double relative, double absolute) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) == std::isnan(got);
  if (expected == got) return true;
  if (std::isinf(expected) || std::isinf(got)) return false;
  return std::abs(expected - got) <= absolute + relative * std::abs(expected);
}

std::string tensor_difference(const Content& expected, const Content& got, double relative,
                              double absolute) {
  if (expected.type != got.type || expected.shape != got.shape) {
    return concat("is ", text(got.type), bracketed(got.shape), ", not ", text(expected.type),
                  bracketed(expected.shape));
  }
  for (int64_t k = 0; k < expected.count(); ++k) {
    const auto at = static_cast<size_t>(k);
    if (expected.type == Type::String) {
      if (expected.strings[at] == got.strings[at]) continue;
      return concat("element ", k, " is '", got.strings[at], "', not '", expected.strings[at],
                    '\'');
    }
    const bool is_float = scalar::is_float(dtype_of(expected.type));
    const bool is_wide = bits_of(expected.type) == 64 && !is_float;
    const bool same = is_wide ? expected.integer(k) == got.integer(k)
                              : is_close(expected.number(k), got.number(k), is_float ? relative : 0,
                                         is_float ? absolute : 0);
    if (!same) return concat("element ", k, " is ", got.number(k), ", not ", expected.number(k));
  }
  return "";
}

}  // namespace

Result<SharedBytes> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(concat(path, ": cannot be read"));
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return SharedBytes(bytes, bytes + text.size());
}

Result<Data> read_data(const SharedBytes& file, const TypeProto& type) {
  return read_message(ProtobufReader({file.data(), file.size()}), file, type);
}

std::string difference(const Data& expected, const Data& got, double relative, double absolute) {
  if (expected.kind != got.kind) return "is of another kind";
  if (expected.is_tensor())
    return tensor_difference(*expected.constant, *got.constant, relative, absolute);
  if (expected.elements.size() != got.elements.size()) {
    return concat("has ", got.elements.size(), " elements, not ", expected.elements.size());
  }
  for (size_t k = 0; k < expected.elements.size(); ++k) {
    const std::string each = difference(expected.elements[k], got.elements[k], relative, absolute);
    if (!each.empty()) return concat("element ", k, ": ", each);
  }
  return "";
}

}  // namespace lathe::onnx
