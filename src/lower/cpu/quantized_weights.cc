#include "lathe/lower/cpu/quantized_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/loop/rebuild.h"
#include "lathe/lower/cpu/lanes.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::DType;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::Number;
using loop::Op;
using loop::VarId;

namespace {

constexpr int64_t kChunk = 8;          // numbers of four pairs
constexpr int64_t kLongestPart = 256;  // its sums of products with 16 bits fit 32

int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

using Values = std::vector<int64_t>;  // of loop variables

int64_t at(const Affine& affine, const Values& values) {
  int64_t sum = affine.offset;
  for (const loop::Term& term : affine.terms) {
    sum += term.coefficient * values[term.var];
  }
  return sum;
}

// Evaluates the expression, of constants only, for these values.
Number evaluated(Contraction& contraction, ExprId id, const Values& values) {
  const Expr& expr = contraction.exprs()[id];
  switch (expr.kind) {
    case ExprKind::Constant:
      return expr.constant;
    case ExprKind::Index:
      return Number::of(static_cast<int32_t>(at(expr.address, values)));
    case ExprKind::Load: {
      const auto& buffers = contraction.context().module.buffers;
      const std::byte* data = buffers[expr.buffer.id].data.data();
      return scalar::load_element(expr.dtype,
                                  data + at(expr.address, values) * scalar::size_of(expr.dtype));
    }
    case ExprKind::Apply: {
      Number operands[scalar::kMaxArity];
      for (int i = 0; i < expr.operand_count(); ++i) {
        const auto k = static_cast<size_t>(i);
        operands[k] = evaluated(contraction, expr.operands[k], values);
      }
      return scalar::evaluate(expr.op, operands);
    }
    case ExprKind::Cast:
      return scalar::cast(evaluated(contraction, expr.operands[0], values), expr.dtype);
    case ExprKind::Reduce:
      break;
  }
  return {};
}

VarId variable(const Contraction& contraction, int d) {
  return contraction.index()[d].terms[0].var;
}

}  // namespace

std::optional<QuantizedWeights> QuantizedWeights::find(Contraction& contraction) {
  if (contraction.dtype() != DType::F32) return std::nullopt;
  for (const int operand : {1, 0}) {
    QuantizedWeights found(contraction);
    found.operand = operand;
    if (!found.find_dimensions()) continue;
    const ExprId weight = contraction.operand_at(operand, contraction.index());
    if (!found.is_constant(weight) || !found.decompose(weight) || !found.find_bits() ||
        !found.find_blocks()) {
      continue;
    }
    found.find_zero();
    found.tiles = {{0, (found.columns() + kTile - 1) / kTile, kTile}};
    return found;
  }
  return std::nullopt;
}

bool QuantizedWeights::is_computed_from_constants(Contraction& contraction, int operand) {
  const ExprId weight = contraction.operand_at(operand, contraction.index());
  return contraction.exprs()[weight].kind != ExprKind::Load &&
         QuantizedWeights(contraction).is_constant(weight);
}

bool QuantizedWeights::moves(ExprId id, int dimension) const {
  return id >= 0 && loop::mentions(contraction_->kernel(), id, variable(*contraction_, dimension));
}

bool QuantizedWeights::find_dimensions() {
  if (contraction_->reduced().empty()) return false;
  for (const int d : contraction_->spatial()) {
    const bool with_weights = contraction_->stride(operand, d) != Stride::None;
    const bool write_rows = contraction_->stride(1 - operand, d) != Stride::None;
    int& dimension = with_weights ? column : row;
    if (with_weights == write_rows || dimension >= 0) return false;
    dimension = d;
  }
  return column >= 0;
}

bool QuantizedWeights::is_constant(ExprId id) const {
  const Expr& expr = contraction_->exprs()[id];
  if (expr.kind == ExprKind::Load) {
    if (expr.buffer.space != loop::Space::Global || expr.lookup || !expr.guards.empty()) {
      return false;
    }
    const loop::Buffer& buffer = buffer_of(expr);
    return buffer.role == loop::BufferRole::Constant && buffer.data.size() > 0;
  }
  const auto operands = std::span(expr.operands).first(expr.operand_count());
  return std::ranges::all_of(operands, [this](ExprId each) { return is_constant(each); });
}

// (number - zero) * scale, where only the number moves with the innermost dimension.
bool QuantizedWeights::decompose(ExprId weight) {
  const loop::ExprBuilder& exprs = contraction_->exprs();
  const int innermost = contraction_->reduced().back();
  if (exprs[weight].kind == ExprKind::Apply && exprs[weight].op == Op::Mul) {
    const ExprId x = exprs[weight].operands[0], y = exprs[weight].operands[1];
    if (moves(x, innermost) == moves(y, innermost)) return false;
    scale_ = moves(x, innermost) ? y : x;
    weight = moves(x, innermost) ? x : y;
  }
  if (exprs[weight].kind == ExprKind::Apply && exprs[weight].op == Op::Sub) {
    zero_ = exprs[weight].operands[1];
    weight = exprs[weight].operands[0];
    if (moves(zero_, innermost)) return false;
  }
  const Expr& cast = exprs[weight];
  return cast.kind == ExprKind::Cast && cast.dtype == DType::F32 && find_reading(cast.operands[0]);
}

bool QuantizedWeights::find_reading(ExprId id) {
  const loop::ExprBuilder& exprs = contraction_->exprs();
  const auto strip_casts = [&] {
    while (exprs[id].kind == ExprKind::Cast && scalar::is_integer(exprs[id].dtype) &&
           scalar::is_integer(exprs[exprs[id].operands[0]].dtype) &&
           scalar::size_of(exprs[id].dtype) > scalar::size_of(exprs[exprs[id].operands[0]].dtype)) {
      id = exprs[id].operands[0];
    }
  };
  const auto applies = [&](Op op) {
    return exprs[id].kind == ExprKind::Apply && exprs[id].op == op;
  };
  const auto constant_operand = [&] {
    const Expr& second = exprs[exprs[id].operands[1]];
    return second.kind == ExprKind::Constant ? std::optional(second.constant.i) : std::nullopt;
  };
  strip_casts();
  if (applies(Op::BitAnd)) {
    const auto mask = constant_operand();
    if (!mask || *mask < 0) return false;
    reading_.mask = static_cast<int32_t>(*mask);
    id = exprs[id].operands[0];
  }
  if (applies(Op::ShiftRight)) {
    reading_.shift = exprs[id].operands[1];
    id = exprs[id].operands[0];
  }
  strip_casts();
  reading_.load = exprs[id];
  return exprs[id].kind == ExprKind::Load && scalar::is_integer(exprs[id].dtype) &&
         scalar::size_of(exprs[id].dtype) <= 4;
}

const loop::Buffer& QuantizedWeights::buffer_of(const Expr& load) const {
  return contraction_->context().module.buffers[load.buffer.id];
}

// By the stored values where no mask bounds them.
bool QuantizedWeights::find_bits() {
  int64_t range = reading_.mask;
  if (range < 0) {
    range = 255;
    if (reading_.load.dtype == DType::I8) {
      least_ = -128;
    } else if (reading_.load.dtype != DType::U8) {
      int32_t high = least_ = element(0);
      for (int64_t i = 1; i < buffer_of(reading_.load).size; ++i) {
        least_ = std::min(least_, element(i));
        high = std::max(high, element(i));
      }
      range = int64_t{high} - least_;
    }
  }
  bits = range < 4 ? 2 : range < 16 ? 4 : 8;
  return range < 256;
}

bool QuantizedWeights::find_blocks() {
  blocks = contraction_->reduced();
  while (!blocks.empty() && !moves(scale_, blocks.back()) && !moves(zero_, blocks.back())) {
    insert_at(inner, 0, blocks.back());
    depth *= contraction_->extent(blocks.back());
    blocks.pop_back();
  }
  // Words are filled from tables of the inner dimensions.
  const auto moves_shift = [this](int d) { return moves(reading_.shift, d); };
  if (depth < kChunk || std::ranges::any_of(blocks, moves_shift) || moves_shift(column)) {
    return false;
  }
  parts = (depth + kLongestPart - 1) / kLongestPart;
  part_depth = round_up((depth + parts - 1) / parts, std::max<int64_t>(kChunk, 32 / bits));
  parts = (depth + part_depth - 1) / part_depth;
  return true;
}

void QuantizedWeights::find_zero() {
  if (zero_ < 0) {
    zero = -least_;
    return;
  }
  const Expr& expr = contraction_->exprs()[zero_];
  if (expr.kind != ExprKind::Constant) return;
  const float above = expr.constant.f - static_cast<float>(least_);
  if (above >= 0 && above < 256 && above == std::floor(above)) zero = static_cast<int32_t>(above);
}

int64_t QuantizedWeights::block_count() const {
  int64_t count = 1;
  for (const int d : blocks) count *= contraction_->extent(d);
  return count;
}

Affine QuantizedWeights::block_number() const {
  Affine number(0);
  for (const int d : blocks) {
    number *= contraction_->extent(d);
    number += contraction_->index()[d];
  }
  return number;
}

int32_t QuantizedWeights::element(int64_t offset) const {
  const std::byte* data = buffer_of(reading_.load).data.data();
  switch (reading_.load.dtype) {
    case DType::U8:
      return static_cast<uint8_t>(data[offset]);
    case DType::I8:
      return static_cast<int8_t>(data[offset]);
    default:
      return static_cast<int32_t>(
          scalar::load_element(reading_.load.dtype,
                               data + offset * scalar::size_of(reading_.load.dtype))
              .i);
  }
}

std::vector<QuantizedWeights::Slot> QuantizedWeights::slots() const {
  const Affine& address = reading_.load.address;
  std::vector<Slot> numbers;
  std::vector<int64_t> extents;
  for (const int d : inner) extents.push_back(contraction_->extent(d));
  Values values(contraction_->kernel().vars.size());
  const int64_t origin = at(address, values);
  for (graph::Odometer odometer(extents); odometer.inside(); odometer.next()) {
    for (size_t i = 0; i < inner.size(); ++i) {
      values[variable(*contraction_, inner[i])] = odometer.index()[i];
    }
    const int64_t shift =
        reading_.shift < 0 ? 0 : evaluated(*contraction_, reading_.shift, values).i;
    numbers.push_back({at(address, values) - origin, static_cast<int32_t>(shift)});
  }
  std::vector<Slot> slots;
  for (int64_t pair = 0; pair < parts * part_depth / 2; ++pair) {
    for (const int64_t half : {0, 1}) {
      const int64_t k = pair / kLanes * kChunk + pair % kLanes + half * kLanes;
      slots.push_back(k < depth ? numbers[k] : Slot{});
    }
  }
  return slots;
}

loop::BufferRef QuantizedWeights::constant(const char* name, DType dtype, int64_t per_column,
                                           int64_t pieces, const Fill& fill) {
  EntryContext& context = contraction_->context();
  const graph::Value value = contraction_->node().operands[operand];
  std::string key = concat(name, value.id, ' ', pieces);
  for (int d = 0; d < static_cast<int>(contraction_->index().size()); ++d) {
    lathe::append(key, ' ', contraction_->extent(d), ' ', contraction_->access(operand, d));
  }
  int64_t size = 0;
  for (const Segment& tile : tiles) {
    lathe::append(key, ' ', tile.begin, ' ', tile.width);
    size += tile.count * tile.width;
  }
  const auto [buffer, fresh] = context.panels.try_emplace(std::move(key), -1);
  const loop::BufferRef made{loop::Space::Global, buffer->second};
  if (!fresh) return made;
  size *= block_count() * per_column;
  buffer->second = context.add_buffer(concat(context.graph.name, '.', name, context.panels.size()),
                                      dtype, size, loop::BufferRole::Constant);
  std::vector<std::byte> data(static_cast<size_t>(size) * sizeof(uint32_t));
  std::vector<int64_t> extents;
  for (const int d : blocks) extents.push_back(contraction_->extent(d));
  Values values(contraction_->kernel().vars.size());
  std::byte* to = data.data();
  for (const Segment& tile : tiles) {
    const int64_t width = tile.width / pieces;
    Values here(width);
    for (int64_t k = 0; k < tile.count * pieces; ++k) {
      const int64_t first = tile.begin + k % tile.count * tile.width + k / tile.count * width;
      for (int64_t c = 0; c < width; ++c) {
        const int64_t shift = c < tile.width - kLanes ? 0 : tile.shift;
        const int64_t each = first + c - shift;
        here[c] = each < columns() ? each : -1;
      }
      for (graph::Odometer odometer(extents); odometer.inside(); odometer.next()) {
        for (size_t i = 0; i < blocks.size(); ++i) {
          values[variable(*contraction_, blocks[i])] = odometer.index()[i];
        }
        fill(values, here, to);
        to += width * per_column * static_cast<int64_t>(sizeof(uint32_t));
      }
    }
  }
  context.module.buffers[buffer->second].data = std::move(data);
  return {loop::Space::Global, buffer->second};
}

loop::BufferRef QuantizedWeights::pack_words() {
  const std::vector<Slot> all = slots();
  const size_t in_word = static_cast<size_t>(2 * pairs_in_word());
  const int64_t step = reading_.load.address.coefficient(variable(*contraction_, column));
  return constant("words", DType::I32, parts * words(), streams,
                  [&](const Values& values, const Values& here, std::byte* to) {
                    const int64_t origin = at(reading_.load.address, values);
                    for (auto slot = all.begin(); slot != all.end();
                         slot += static_cast<int64_t>(in_word)) {
                      for (const int64_t c : here) {
                        uint32_t word = 0;
                        for (size_t i = 0; i < in_word; ++i) {
                          const auto& [offset, shift] = slot[static_cast<int64_t>(i)];
                          if (offset < 0 || c < 0) continue;
                          const int32_t element = this->element(origin + c * step + offset);
                          const auto number =
                              static_cast<uint32_t>(((element >> shift) & reading_.mask) - least_);
                          word |= number << (i / 2 * static_cast<size_t>(bits) + i % 2 * 16);
                        }
                        std::memcpy(to, &word, sizeof word);
                        to += sizeof word;
                      }
                    }
                  });
}

loop::BufferRef QuantizedWeights::pack_by_block(const char* name, ExprId expr, float offset) {
  const auto along = static_cast<size_t>(variable(*contraction_, column));
  return constant(name, DType::F32, 1, 1, [&](Values& values, const Values& here, std::byte* to) {
    for (const int64_t c : here) {
      values[along] = std::max<int64_t>(c, 0);
      const float number = (expr < 0 ? 1 : evaluated(*contraction_, expr, values).f) + offset;
      std::memcpy(to, &number, sizeof number);
      to += sizeof number;
    }
  });
}

loop::BufferRef QuantizedWeights::pack_scales() { return pack_by_block("scales", scale_, 0); }

loop::BufferRef QuantizedWeights::pack_zeros() {
  return pack_by_block("zeros", zero_, -static_cast<float>(least_));
}

}  // namespace lathe::lower::cpu
