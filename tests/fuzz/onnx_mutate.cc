#include "fuzz/onnx_mutate.h"

#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "lathe/formats/protobuf.h"
#include "lathe/import/onnx/trace/operators.h"

namespace lathe::onnx {

namespace {

using formats::ProtobufReader;
using formats::ProtobufWriter;
using formats::WireType;

enum class Of : uint8_t {
  Leaf,
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  Sparse,
  ValueInfo,
  Type,
  TensorType,
  Shape,
  Size,
  Elements,
  Map,
  Function,
  Entry,
  Set
};

// Which fields of a message are messages (onnx.proto).
Of inner(Of message, uint32_t field) {
  static constexpr struct {
    Of message;
    uint32_t field;
    Of inner;
  } kFields[] = {
      {Of::Model, 7, Of::Graph},       {Of::Model, 8, Of::Set},
      {Of::Model, 14, Of::Entry},      {Of::Model, 25, Of::Function},
      {Of::Graph, 1, Of::Node},        {Of::Graph, 5, Of::Tensor},
      {Of::Graph, 11, Of::ValueInfo},  {Of::Graph, 12, Of::ValueInfo},
      {Of::Graph, 15, Of::Sparse},     {Of::Node, 5, Of::Attribute},
      {Of::Attribute, 5, Of::Tensor},  {Of::Attribute, 6, Of::Graph},
      {Of::Attribute, 10, Of::Tensor}, {Of::Attribute, 11, Of::Graph},
      {Of::Attribute, 14, Of::Type},   {Of::Attribute, 22, Of::Sparse},
      {Of::Tensor, 13, Of::Entry},     {Of::Sparse, 1, Of::Tensor},
      {Of::Sparse, 2, Of::Tensor},     {Of::ValueInfo, 2, Of::Type},
      {Of::Type, 1, Of::TensorType},   {Of::Type, 4, Of::Elements},
      {Of::Type, 5, Of::Map},          {Of::Type, 8, Of::TensorType},
      {Of::Type, 9, Of::Elements},     {Of::TensorType, 2, Of::Shape},
      {Of::Shape, 1, Of::Size},        {Of::Elements, 1, Of::Type},
      {Of::Map, 2, Of::Type},          {Of::Function, 7, Of::Node},
      {Of::Function, 9, Of::Set},      {Of::Function, 11, Of::Attribute},
  };
  for (const auto& each : kFields) {
    if (each.message == message && each.field == field) return each.inner;
  }
  return Of::Leaf;
}

struct Field;
struct Message {
  Of of = Of::Leaf;
  std::vector<Field> fields;
};
struct Field {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t bits = 0;
  double fixed = 0;
  std::vector<std::byte> bytes = {};
  Message message = {};  // of what is one; its kind is Leaf else
};

bool read(ProtobufReader in, Of of, Message& message) {
  message.of = of;
  while (in.next()) {
    Field field{.number = in.number(), .type = in.type()};
    const Of kind = inner(of, field.number);
    if (field.type == WireType::Varint) {
      field.bits = in.uint64();
    } else if (field.type != WireType::Bytes) {
      field.fixed =
          field.type == WireType::Fixed32 ? static_cast<double>(in.float32()) : in.float64();
    } else if (kind == Of::Leaf) {
      const auto bytes = in.bytes();
      field.bytes.assign(bytes.begin(), bytes.end());
    } else if (!read(in.message(), kind, field.message)) {
      return false;
    }
    message.fields.push_back(std::move(field));
  }
  return in.ok();
}

std::string_view text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ProtobufWriter encoded(const Message& message) {
  ProtobufWriter out;
  for (const Field& each : message.fields) {
    if (each.type == WireType::Varint) {
      out.varint(each.number, each.bits);
    } else if (each.type == WireType::Fixed32) {
      out.float32(each.number, static_cast<float>(each.fixed));
    } else if (each.type == WireType::Fixed64) {
      out.float64(each.number, each.fixed);
    } else if (each.message.of == Of::Leaf) {
      out.string(each.number, text(each.bytes));
    } else {
      out.message(each.number, encoded(each.message));
    }
  }
  return out;
}

class Mutator {
 public:
  Mutator(Message& model, uint64_t seed) : model_(model), state_(seed) {}

  void run() {
    for (uint64_t left = 1 + draw(3); left > 0; --left) mutate();
  }

 private:
  struct FieldRef {
    Message* message;
    size_t at;
  };

  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t draw(uint64_t end) {
    uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return (mixed ^ (mixed >> 31)) % end;
  }

  void collect(Message& message, std::vector<FieldRef>& refs) {
    for (size_t k = 0; k < message.fields.size(); ++k) {
      refs.push_back({&message, k});
      collect(message.fields[k].message, refs);
    }
  }

  void mutate() {
    std::vector<FieldRef> refs;
    collect(model_, refs);
    if (refs.empty()) return;
    const auto [message, at] = refs[draw(refs.size())];
    auto& fields = message->fields;
    const auto position = fields.begin() + static_cast<int64_t>(at);
    switch (draw(8)) {
      case 0:
        fields.erase(position);
        break;
      case 1: {
        Field copy = *position;
        fields.insert(position, std::move(copy));
        break;
      }
      case 2:
        std::swap(fields[at], fields[draw(fields.size())]);
        break;
      case 3:
        exchange(refs, message->of, fields[at]);
        break;
      default:
        change(message->of, fields[at]);
        break;
    }
  }

  // Replaces the value by that of another field of such a message.
  void exchange(const std::vector<FieldRef>& refs, Of of, Field& field) {
    std::vector<const Field*> others;
    for (const auto& [message, at] : refs) {
      const Field& each = message->fields[at];
      if (message->of == of && each.type == field.type && each.message.of == field.message.of) {
        others.push_back(&each);
      }
    }
    Field other = *others[draw(others.size())];
    other.number = field.number;
    field = std::move(other);
  }

  void change(Of of, Field& field) {
    if (field.type == WireType::Varint) {
      field.bits = number(field.bits);
    } else if (field.type != WireType::Bytes) {
      static constexpr double kValues[] = {0,   1,     -1,   0.5, 1e30, -1e30, 1e-30,
                                           2.5, 1e-10, -0.0, 3,   1e5,  -7};
      field.fixed = draw(8) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : kValues[draw(std::size(kValues))];
    } else if (field.message.of == Of::Leaf) {
      change_bytes(of, field);
    } else if (!field.message.fields.empty()) {
      auto& fields = field.message.fields;
      change(field.message.of, fields[draw(fields.size())]);
    }
  }

  uint64_t number(uint64_t before) {
    static constexpr int64_t kValues[] = {0,
                                          1,
                                          2,
                                          3,
                                          4,
                                          5,
                                          6,
                                          7,
                                          8,
                                          9,
                                          10,
                                          11,
                                          12,
                                          13,
                                          16,
                                          17,
                                          21,
                                          22,
                                          25,
                                          33,
                                          64,
                                          -1,
                                          -2,
                                          -3,
                                          -7,
                                          1 << 20,
                                          1 << 30,
                                          1LL << 31,
                                          1LL << 32,
                                          1LL << 40,
                                          1LL << 62,
                                          std::numeric_limits<int64_t>::max(),
                                          std::numeric_limits<int64_t>::min()};
    switch (draw(4)) {
      case 0:
        return before + 1;
      case 1:
        return before - 1;
      default:
        return static_cast<uint64_t>(kValues[draw(draw(2) == 0 ? 16 : std::size(kValues))]);
    }
  }

  void change_bytes(Of of, Field& field) {
    auto& bytes = field.bytes;
    if (of == Of::Node && field.number == 4 && draw(3) != 0) {
      const std::string_view name = operators()[draw(operators().size())].name;
      const auto* start = reinterpret_cast<const std::byte*>(name.data());
      bytes.assign(start, start + name.size());
      return;
    }
    if (of == Of::Tensor && bytes.size() >= 8 && draw(4) != 0) {
      const uint64_t value = number(0);
      std::memcpy(bytes.data() + 8 * draw(bytes.size() / 8), &value, 8);
      return;
    }
    if (bytes.empty() || draw(4) == 0) {
      bytes.resize(draw(9));
    } else {
      bytes[draw(bytes.size())] ^= std::byte{1} << static_cast<int>(draw(8));
    }
  }

  Message& model_;
  uint64_t state_;
};

}  // namespace

std::vector<std::byte> mutated(std::span<const std::byte> model, uint64_t seed) {
  Message message;
  if (!read(ProtobufReader(model), Of::Model, message)) return {model.begin(), model.end()};
  Mutator(message, seed).run();
  return encoded(message).bytes();
}

}  // namespace lathe::onnx
