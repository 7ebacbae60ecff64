#include "lathe/lower/cpu/shorten_constants.h"

#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lathe/graph/rewriter.h"
#include "lathe/lower/narrow_loads.h"

namespace lathe::lower::cpu {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;
using scalar::DType;
using scalar::Number;
using scalar::Op;

namespace {

constexpr int64_t kFewest = 1 << 16;  // elements: fewer stay in a cache as they are
constexpr int32_t kSign = INT32_MIN;
constexpr int32_t kShift = 13;  // between the fractions of a half and of a float
// The bits of a float16 as a float, after that shift: sign, exponent and fraction.
constexpr int32_t kHalfBits = kSign | 0x0fffe000;
constexpr float kBias = 0x1p112f;  // between their exponents
// The factor is applied to the other operand, instead of each float16; the rest to the sums.
// Numbers from 1e-24 to 1e19 stay what they are.
constexpr float kBiasOfOther = 0x1p64f;

uint32_t bits_at(const Node& constant, size_t at) {
  uint32_t bits = 0;
  std::memcpy(&bits, constant.data.data() + at * sizeof bits, sizeof bits);
  return bits;
}

// The bits of the finite float16 that equals the float, if there is one. (With the highest exponent
// they would be infinite; here they go on.)
std::optional<uint16_t> half_of(uint32_t bits) {
  float restored = 0;
  std::memcpy(&restored, &bits, sizeof restored);
  const float scaled = restored / kBias;
  uint32_t small = 0;
  std::memcpy(&small, &scaled, sizeof small);
  if ((small & static_cast<uint32_t>(~kHalfBits)) != 0 || scaled * kBias != restored) {
    return std::nullopt;
  }
  return static_cast<uint16_t>((small >> 16 & 0x8000) | (small >> kShift & 0x7fff));
}

std::optional<uint16_t> upper_half_of(uint32_t bits) {
  if ((bits & 0xffff) != 0) return std::nullopt;
  return static_cast<uint16_t>(bits >> 16);
}

class Shortener final : public graph::Rewriter {
  Value replace(Node node) override {
    if (node.kind != Kind::Contract || node.dtype != DType::F32) return add(std::move(node));
    for (const size_t at : {0, 1}) {
      Value& operand = node.operands[at];
      const Node& constant = graph_[operand];
      if (constant.kind != Kind::Constant || graph::is_splat(constant) ||
          graph::element_count(constant.shape) < kFewest ||
          !is_read_rarely(graph_, node, operand)) {
        continue;
      }
      operand = shortened(operand);
      if (!is_small(operand)) continue;
      Value& other = node.operands[1 - at];
      other = apply(Op::Mul, other, Number::of(kBiasOfOther));
      return apply(Op::Mul, add(std::move(node)), Number::of(kBias / kBiasOfOther));
    }
    return add(std::move(node));
  }

  // Smaller by kBias than the constant.
  bool is_small(Value value) const {
    const Node& node = graph_[value];
    return node.op == Op::FromBits && graph_[node.operands[0]].op == Op::BitAnd;
  }

  Value shortened(Value constant) {
    const auto [entry, fresh] = shortened_.try_emplace(constant, constant);
    if (fresh) {
      if (auto upper = all(constant, upper_half_of)) {
        entry->second = from_upper_half(stored(constant, DType::U16, *std::move(upper)));
      } else if (auto float16s = all(constant, half_of)) {
        entry->second = small_of_half(stored(constant, DType::I16, *std::move(float16s)));
      }
    }
    return entry->second;
  }

  template <class Short>
  std::optional<std::vector<std::byte>> all(Value value, const Short& short_of) const {
    const Node& constant = graph_[value];
    const auto count = static_cast<size_t>(graph::element_count(constant.shape));
    std::vector<std::byte> data;
    for (size_t i = 0; i < count; ++i) {
      const auto bits = short_of(bits_at(constant, i));
      if (!bits) return std::nullopt;
      if (i == 0) data.resize(count * sizeof *bits);
      std::memcpy(data.data() + i * sizeof *bits, &*bits, sizeof *bits);
    }
    return data;
  }

  // As integers of the width of floats.
  Value stored(Value like, DType dtype, std::vector<std::byte> data) {
    const Value constant = add({.kind = Kind::Constant,
                                .dtype = dtype,
                                .shape = graph_[like].shape,
                                .data = std::move(data)});
    return add({.kind = Kind::Cast,
                .dtype = DType::I32,
                .shape = graph_[like].shape,
                .operands = {constant}});
  }

  Value apply(Op op, Value x, const Number& number) {
    const Value operand = splat(number, graph_[x].shape);
    return map(op, {x, operand});
  }

  Value from_bits(Value bits) {
    const Value value = map(Op::FromBits, {bits});
    graph_.nodes.back().dtype = DType::F32;
    return value;
  }

  Value from_upper_half(Value bits) {
    return from_bits(apply(Op::ShiftLeft, bits, Number::of(16)));
  }

  Value small_of_half(Value bits) {
    const Value moved = apply(Op::ShiftLeft, bits, Number::of(kShift));
    return from_bits(apply(Op::BitAnd, moved, Number::of(kHalfBits)));
  }

  std::map<Value, Value> shortened_;
};

}  // namespace

Graph shorten_constants(Graph graph) { return Shortener().run(std::move(graph)); }

}  // namespace lathe::lower::cpu
